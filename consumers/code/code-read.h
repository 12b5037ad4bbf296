/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads sources by their language. */
#ifndef EVSPACE_CODE_READ_H
#define EVSPACE_CODE_READ_H

#include "consumers/code/code.h"

/** Is it a source, by the end of its name? */
bool code_is_source(const char *path);

/**
 * Read a source and its regions, settled. @flags: those of the compiler, between blanks; NULL:
 * those of compile_commands.json, if there is one. Returns 0, or -1 with @e. It takes as long as
 * compiling does.
 */
int code_read(struct code_text *code, const char *path, const char *flags, struct error *e);

#endif
