/* SPDX-License-Identifier: BSD-3-Clause */
/* A source with regions of evspace.h around some of its regions. */
#ifndef EVSPACE_CODE_INSTRUMENT_H
#define EVSPACE_CODE_INSTRUMENT_H

#include "consumers/code/code-read.h"

/** The text of every such source begins with this. */
#define CODE_INSTRUMENTED    "/* Written by evspace mir, which may write it again. */"
#define FORTRAN_INSTRUMENTED "! Written by evspace mir, which may write it again."

/**
 * The text of the source with each region of @ids (code_id()) recorded under its id as name, for
 * the caller to free. Lines are counted as before (#line), so that ids are the same. Functions and
 * loops are left by whatever way ends them, and calls have the same values. Returns NULL with @e:
 * one of them is no region, or cannot be one.
 */
char *code_instrument(const struct code_text *code, enum code_language language,
		      const char *const *ids, size_t n, struct error *e);

#endif
