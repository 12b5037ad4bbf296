/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace-clang: writes the regions of a source in C or C++, a line each, by libclang: what may
 * break over a source, or take what it likes, is no part of evspace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "consumers/code/clang-flags.h"
#include "consumers/code/clang-overlay.h"
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

/* ---- what it includes ---- */

struct clang_inclusions {
	const struct clang_flags *flags;
	char *folder;
	bool beyond; /* one is none that it may include */
};

static void on_inclusion(CXFile file, CXSourceLocation *from, unsigned depth, CXClientData arg)
{
	struct clang_inclusions *all = arg;
	CXString name = clang_getFileName(file);

	(void)from;
	/* the first one is the source itself */
	if (depth > 0)
		all->beyond |= !clang_flags_have(all->flags, all->folder, clang_getCString(name));
	clang_disposeString(name);
}

/* Does it include what is no matter of whoever has written it? */
static bool includes_beyond(const struct clang_walk *w, const struct clang_flags *flags)
{
	const char *path = w->code->path, *slash = strrchr(path, '/');
	struct clang_inclusions all = {
		flags, slash ? memory_copy_bytes(path, (size_t)(slash - path)) : memory_copy("."),
		false};

	clang_getInclusions(w->unit, on_inclusion, &all);
	free(all.folder);
	return all.beyond;
}

/* ---- all ---- */

static int walk_all(struct code_text *code, const char *said, bool apart)
{
	struct CXUnsavedFile text = {code->path, code->text, code->n};
	struct clang_walk walk = {.code = code};
	CXIndex index = clang_createIndex(0, 0);
	struct clang_flags flags;
	enum CXErrorCode error;
	bool wrong;

	clang_flags_take(&flags, code->path, said, apart);
	if (apart && clang_overlay_add(&flags, code->path) < 0) {
		perror(code->path);
		return 1;
	}
	lines_find(&walk);
	error = clang_parseTranslationUnit2(
		index, code->path, (const char *const *)flags.words, (int)flags.n, &text, 1,
		CXTranslationUnit_DetailedPreprocessingRecord, &walk.unit);
	if (error != CXError_Success) {
		fprintf(stderr, "%s: libclang has failed (%d)\n", code->path, error);
		return 1;
	}
	wrong = doubts_take(&walk);
	/* which files there are is no matter of his either */
	if (apart &&
	    (includes_beyond(&walk, &flags) || (wrong && strstr(code->doubt, "file not found")))) {
		fprintf(stderr,
			"%s includes what is neither with it, nor in /usr, nor in a folder of "
			"--flags; leave it out\n",
			code->path);
		return 1;
	}
	if (wrong) {
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
	bool apart = argc > 1 && strcmp(argv[1], "--apart") == 0;
	int rc;

	if (argc < 3 || argc > 4 || (!apart && strcmp(argv[1], "--") != 0)) {
		fputs("usage: evspace-clang --|--apart FILE [FLAGS]: evspace mir calls it\n",
		      stderr);
		return 2;
	}
	setrlimit(RLIMIT_AS, &limit);
	if (code_load(&code, argv[2], &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	rc = walk_all(&code, argv[3], apart);
	code_fini(&code);
	return rc;
}
