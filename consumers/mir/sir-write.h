/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of SIR as text, and what is made of them. */
#ifndef EVSPACE_SIR_WRITE_H
#define EVSPACE_SIR_WRITE_H

#include <stdio.h>

#include "consumers/code/code.h"

/** Begin and end the unit of the source @path. */
void sir_unit_begin(FILE *out, const char *path);
void sir_unit_end(FILE *out);

/** Begin and end a region, which others may be written into. @file: the source that it is of, if
 * that is not the unit's; else NULL. */
void sir_region_begin(FILE *out, const char *id, const char *type, const char *name, unsigned first,
		      unsigned last, const char *file);
void sir_region_end(FILE *out);

/** Write the unit of a source. */
void sir_code_write(FILE *out, const struct code_text *code);

/** Write the units of an executable or library that is open as @fd. Returns how many functions they
 * have; 0: it has no debugging information. */
size_t sir_dwarf_write(FILE *out, int fd);

#endif
