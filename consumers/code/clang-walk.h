/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks the syntax tree of a source in C or C++ and notes its regions. */
#ifndef EVSPACE_CLANG_WALK_H
#define EVSPACE_CLANG_WALK_H

#include <clang-c/Index.h>

#include "consumers/code/code.h"

/** Bytes of the text, from `begin` to behind the last. */
struct code_span {
	size_t begin, end;
};

/** A source as libclang has it. */
struct clang_walk {
	CXTranslationUnit unit;
	CXFile file;
	struct code_text *code;
	struct code_span *statements; /* all of them, for directives before them */
	size_t n_statements;
	size_t *lines; /* where each begins */
	size_t n_lines;
};

/** Note functions, loops, calls and the program's own regions. */
void clang_walk(struct clang_walk *walk);

/** Note the OpenMP regions, by the directives and the statements behind them. libclang has no
 * statements in them, so they are read as if nobody knew OpenMP. */
void clang_openmp(struct clang_walk *walk);

/** In which line of the text is that? From 1. */
unsigned clang_line(const struct clang_walk *walk, size_t at);

#endif
