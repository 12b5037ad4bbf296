/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that there are for libclang, where whoever has written a source is to learn nothing of
 * others. */
#ifndef EVSPACE_CLANG_OVERLAY_H
#define EVSPACE_CLANG_OVERLAY_H

#include "consumers/code/clang-flags.h"

/** Add the flag by which there are those of the folder of @path, of the folders that the flags have
 * for headers, those that the flags include and what is beside these, and those of /usr alone.
 * Returns 0, or -1 with errno. */
int clang_overlay_add(struct clang_flags *flags, const char *path);

#endif
