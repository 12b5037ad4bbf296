/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads sources by their language. */
#ifndef EVSPACE_CODE_READ_H
#define EVSPACE_CODE_READ_H

#include "consumers/code/code.h"

/** What a source is written in. */
enum code_language { CODE_NONE, CODE_C, CODE_CXX, CODE_FIXED, CODE_FREE };

/** By the end of its name; CODE_NONE: it is no source. */
enum code_language code_language_of(const char *path);

/** The same, but what the compiler's flags say of Fortran's form counts. NULL: they say nothing. */
enum code_language code_language_by(const char *path, const char *flags);

/**
 * Read a source and its regions, settled. @flags: those of the compiler, between blanks; NULL:
 * those of compile_commands.json, if there is one. @apart: it is not of this host, and what it
 * includes has to be in its folder, in those of the flags, or in /usr; no compile_commands.json is
 * looked for. Returns 0, or -1 with @e. It takes as long as compiling does.
 */
int code_read(struct code_text *code, const char *path, const char *flags, bool apart,
	      struct error *e);

#endif
