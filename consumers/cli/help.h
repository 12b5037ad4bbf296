/* SPDX-License-Identifier: BSD-3-Clause */
/* Help texts: what --help prints, at most 80 columns wide. */
#ifndef EVSPACE_HELP_H
#define EVSPACE_HELP_H

/**
 * Print @text. Lines that are too wide go on in the next one, below where their words begin.
 */
void help_print(const char *text);

#endif
