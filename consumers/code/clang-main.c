/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace-clang: writes the regions of a source in C or C++, a line each, by libclang: what may
 * break over a source, or take what it likes, is no part of evspace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "consumers/code/clang-flags.h"
#include "consumers/code/clang-walk.h"
#include "pathmap/base/memory.h"

#define MEMORY_MAX ((rlim_t)4 << 30)

static void lines_find(struct clang_walk *w)
{
	w->lines = memory_room(NULL, 0, sizeof(*w->lines));
	w->lines[w->n_lines++] = 0;
	for (size_t i = 0; i < w->code->n; i++) {
		if (w->code->text[i] != '\n')
			continue;
		w->lines = memory_room(w->lines, w->n_lines, sizeof(*w->lines));
		w->lines[w->n_lines++] = i + 1;
	}
}

/* What libclang could not read. Returns whether the rest cannot be believed. */
static bool doubts_take(struct clang_walk *w)
{
	unsigned n = clang_getNumDiagnostics(w->unit);
	bool fatal = false;

	for (unsigned i = 0; i < n && !fatal; i++) {
		CXDiagnostic d = clang_getDiagnostic(w->unit, i);
		enum CXDiagnosticSeverity severity = clang_getDiagnosticSeverity(d);

		fatal = severity == CXDiagnostic_Fatal;
		if (fatal || (severity == CXDiagnostic_Error && !w->code->doubt)) {
			CXString text =
				clang_formatDiagnostic(d, CXDiagnostic_DisplaySourceLocation);

			free(w->code->doubt);
			w->code->doubt = memory_copy(clang_getCString(text));
			clang_disposeString(text);
		}
		clang_disposeDiagnostic(d);
	}
	return fatal;
}

/* A line of its own, whatever is in it. */
static void text_write(const char *text)
{
	for (; *text; text++)
		putchar((unsigned char)*text < ' ' ? '?' : *text);
	putchar('\n');
}

static void code_write(const struct code_text *code)
{
	for (size_t i = 0; i < code->n_regions; i++) {
		const struct code_region *r = &code->regions[i];

		printf("%d %u %u %zu %zu %zu %d ", r->kind, r->line, r->last, r->begin, r->end,
		       r->enter, r->closed);
		text_write(r->name);
	}
	if (code->doubt) {
		fputs("? ", stdout);
		text_write(code->doubt);
	}
}

static int walk_all(struct code_text *code, const char *said)
{
	struct CXUnsavedFile text = {code->path, code->text, code->n};
	struct clang_walk walk = {.code = code};
	CXIndex index = clang_createIndex(0, 0);
	struct clang_flags flags;
	enum CXErrorCode error;

	clang_flags_take(&flags, code->path, said);
	lines_find(&walk);
	error = clang_parseTranslationUnit2(
		index, code->path, (const char *const *)flags.words, (int)flags.n, &text, 1,
		CXTranslationUnit_DetailedPreprocessingRecord, &walk.unit);
	if (error != CXError_Success) {
		fprintf(stderr, "%s: libclang has failed (%d)\n", code->path, error);
		return 1;
	}
	if (doubts_take(&walk)) {
		fprintf(stderr, "%s; say flags (--flags, or compile_commands.json)\n", code->doubt);
		return 1;
	}
	walk.file = clang_getFile(walk.unit, code->path);
	clang_walk(&walk);
	if (flags.openmp)
		clang_openmp(&walk);
	code_write(code);
	clang_disposeTranslationUnit(walk.unit);
	clang_disposeIndex(index);
	clang_flags_fini(&flags);
	free(walk.statements);
	free(walk.lines);
	return fflush(stdout) != 0;
}

int main(int argc, char **argv)
{
	struct rlimit limit = {MEMORY_MAX, MEMORY_MAX};
	struct code_text code = {.n = 0};
	struct error e = {""};
	int rc;

	if (argc < 2 || argc > 3) {
		fputs("usage: evspace-clang FILE [FLAGS]: evspace mir calls it\n", stderr);
		return 2;
	}
	setrlimit(RLIMIT_AS, &limit);
	if (code_load(&code, argv[1], &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	rc = walk_all(&code, argv[2]);
	code_fini(&code);
	return rc;
}
