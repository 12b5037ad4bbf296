/* SPDX-License-Identifier: BSD-3-Clause */
/* The structure of a source: which regions of code are where in its text. */
#ifndef EVSPACE_CODE_H
#define EVSPACE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"

/** Largest source that is read. */
#define CODE_MAX ((size_t)16 << 20)

enum code_kind { CODE_SUBPROGRAM, CODE_LOOP, CODE_CALL, CODE_USER, CODE_OPENMP, CODE_KINDS };

struct code_region {
	enum code_kind kind;
	char *name;	   /* function; keyword; who is called; label (evspace.h); directive */
	unsigned line;	   /* where it is named, as debugging information says it; from 1 */
	unsigned last;	   /* its last line */
	size_t begin, end; /* in the text */
	size_t enter;	   /* where it is entered: in C, behind the "{" of a function */
	bool closed;	   /* nothing can be written around it, as a macro makes it */
	/* by code_settle() */
	unsigned depth; /* in how many others it is */
	unsigned nth;	/* how many begin in its line before it */
};

/** A source and its regions. Zeroed, it is empty. */
struct code_text {
	char *path;
	char *text; /* with a final 0 */
	size_t n;
	struct code_region *regions;
	size_t n_regions;
	const char *flags; /* of its compiler; NULL: not known. Borrowed */
	char *doubt;	   /* what could not be made out of it first; NULL: nothing */
};

/** Read the text of the file @path. Returns 0, or -1 with @e. */
int code_load(struct code_text *code, const char *path, struct error *e);

/** Add a region, whose name is copied. */
struct code_region *code_add(struct code_text *code, const struct code_region *region);

/** Put the regions into the order of their begins, outer ones first, and say how they nest. */
void code_settle(struct code_text *code);

/** The name @path, which is a whole one, without what it could be written without ("/a/../b" is
 * "/b"), as builds elsewhere than in the sources' folder (VPATH) write it. For the caller to
 * free(). */
char *code_path(const char *path);

/** The number that stands for the source @path in ids: the same everywhere (FNV-1a). */
uint32_t code_source_id(const char *path);

/** Bytes of an id, with the final 0. */
#define CODE_ID 40

/** Write the region's id: of the source and the line, and if others begin there, which of them it
 * is. */
void code_id(const struct code_text *code, const struct code_region *region, char id[CODE_ID]);

/** The region with that id; NULL: there is none. */
const struct code_region *code_region_find(const struct code_text *code, const char *id);

void code_fini(struct code_text *code);

#endif
