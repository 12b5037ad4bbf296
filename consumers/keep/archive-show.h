/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace archive info, ls and check. */
#ifndef EVSPACE_ARCHIVE_SHOW_H
#define EVSPACE_ARCHIVE_SHOW_H

#include <stdbool.h>

/** Each shows the archive in @folder on stdout, and returns the exit code. */
int archive_info(const char *folder, bool json);
int archive_ls(const char *folder, bool json);
int archive_check(const char *folder, bool json);

#endif
