/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes scopes of evspace.h into the text of a source, where its regions begin and end. */
#include "consumers/code/code-instrument.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/code/code-piece.h"
#include "consumers/code/fortran-instrument.h"
#include "pathmap/base/memory.h"

struct code_writing {
	const struct code_text *code;
	enum code_language language;
	struct code_pieces pieces;
};

/* ---- where declarations may be ---- */

/* Behind the comment, literal or preprocessor's line that begins there; @at: none does. */
static size_t lexeme_skip(const char *text, size_t at, bool first)
{
	const char *from = text + at, *end = from;

	if (strncmp(from, "/*", 2) == 0) {
		end = strstr(from + 2, "*/");
		return end ? at + (size_t)(end - from) + 2 : at + strlen(from);
	}
	if (*from == '"' || *from == '\'') {
		/* one that does not end in its line is none: an apostrophe in what is left out */
		for (end = from + 1; *end && *end != *from && *end != '\n'; end++)
			end += *end == '\\' && end[1];
		return at + (size_t)(end - from) + (*end == *from);
	}
	if (strncmp(from, "//", 2) != 0 && !(first && *from == '#'))
		return at;
	/* lines that end with a backslash go on */
	for (; *end && *end != '\n'; end++) {
		const char *closed =
			*from == '#' && strncmp(end, "/*", 2) == 0 ? strstr(end, "*/") : NULL;

		end = closed ? closed + 1 : end + (*end == '\\' && end[1]);
	}
	return at + (size_t)(end - from);
}

/* The last place before @at that is between declarations, if @at is at file scope. */
static size_t declaration_before(const char *text, size_t at)
{
	size_t found = 0;
	bool first = true; /* nothing but blanks came before, in the line */

	for (size_t i = 0; i < at;) {
		size_t next = lexeme_skip(text, i, first);

		if (next > at)
			break;
		if (next > i) {
			if (text[i] == '#')
				found = next;
			i = next;
			continue;
		}
		if (text[i] == ';' || text[i] == '}')
			found = i + 1;
		first = text[i] == '\n' || (first && strchr(" \t\r\f\v", text[i]));
		i++;
	}
	return found;
}

static unsigned line_of(const char *text, size_t at)
{
	unsigned line = 1;

	for (size_t i = 0; i < at; i++)
		line += text[i] == '\n';
	return line;
}

/*
 * evspace.h includes headers of the system: in C, what a program defines for these has to come
 * first. In C++ it has no such choice, and what comes first is not in a class.
 */
static void head_add(struct code_writing *w, size_t first, size_t n)
{
	const struct code_text *code = w->code;
	size_t at = w->language == CODE_CXX ? 0 : declaration_before(code->text, first);
	char *path = code_path_quote(code->path);

	code_piece_add(&w->pieces, 0, -(long)code->n_regions - 2,
		       memory_format(CODE_INSTRUMENTED "\n#line 1 \"%s\"\n", path));
	if (n > 0)
		code_piece_add(&w->pieces, at, -(long)code->n_regions - 1,
			       memory_format("\n#include <evspace.h>\n#line %u \"%s\"\n",
					     line_of(code->text, at), path));
	free(path);
}

/* ---- regions ---- */

/* Does it return a second time, to where the block is left, or need its caller's frame? */
static bool is_call_of_place(const char *name)
{
	static const char *const names[] = {"setjmp", "_setjmp",    "sigsetjmp", "__sigsetjmp",
					    "vfork",  "getcontext", "alloca"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return strncmp(name, "__builtin_", strlen("__builtin_")) == 0;
}

/* Is it in a function whose body is there, so that statements may be? */
static bool is_in_function(const struct code_region *r)
{
	const struct code_region *outer = r;

	while (outer->depth > 0)
		outer--;
	if (r->kind == CODE_SUBPROGRAM)
		return r->enter > 0;
	return outer->kind == CODE_SUBPROGRAM && outer->enter > 0 && r->begin >= outer->enter;
}

static int region_check(const struct code_writing *w, const struct code_region *r, const char *id,
			struct error *e)
{
	const char *path = w->code->path;

	if (!r)
		return errorf(e, "%.300s has no region %.60s; take one of its SIR", path, id);
	if (r->kind == CODE_USER)
		return errorf(e, "%.60s is one already, without being written: user:%.80s", id,
			      r->name);
	if (r->kind == CODE_CALL && (w->language == CODE_CXX || is_call_of_place(r->name)))
		return errorf(e,
			      "nothing is written around calls %s; take the loop or function that "
			      "%.60s is in",
			      w->language == CODE_CXX ? "in C++" : "that return twice, as this one",
			      id);
	if (r->closed || !is_in_function(r))
		return errorf(
			e,
			"nothing can be written around %.60s (%.80s): a macro makes it, it is "
			"the loop of a directive, or somebody jumps into it; take the "
			"function that it is in",
			id, r->name);
	return 0;
}

static void region_write(struct code_writing *w, const struct code_region *r, const char *id)
{
	const long rank = (long)(r - w->code->regions) + 1;
	const char *end = " }";
	char *begin;

	switch (r->kind) {
	case CODE_SUBPROGRAM:
		code_piece_add(&w->pieces, r->enter, rank,
			       memory_format(" EVSPACE_SCOPE(\"%s\");", id));
		return;
	case CODE_CALL:
		begin = memory_format("(__extension__({ EVSPACE_SCOPE(\"%s\"); ", id);
		end = "; }))";
		break;
	case CODE_OPENMP:
		/* a directive begins its line */
		begin = memory_format("{ EVSPACE_SCOPE(\"%s\");\n#line %u\n", id,
				      line_of(w->code->text, r->begin));
		break;
	default:
		begin = memory_format("{ EVSPACE_SCOPE(\"%s\"); ", id);
		break;
	}
	code_piece_add(&w->pieces, r->begin, rank, begin);
	code_piece_add(&w->pieces, r->end, -rank, memory_copy(end));
}

char *code_instrument(const struct code_text *code, enum code_language language,
		      const char *const *ids, size_t n, struct error *e)
{
	struct code_writing w = {.code = code, .language = language};
	size_t first = code->n;
	char *text = NULL;
	int rc = 0;

	if (strlen(code->text) != code->n) {
		errorf(e, "%.300s has a byte 0, and is not written back", code->path);
		return NULL;
	}
	if (language == CODE_FIXED || language == CODE_FREE)
		return fortran_instrument(code, language == CODE_FIXED, ids, n, e);
	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct code_region *r = code_region_find(code, ids[i]);

		rc = region_check(&w, r, ids[i], e);
		if (rc == 0)
			region_write(&w, r, ids[i]);
		if (rc == 0 && r->begin < first)
			first = r->begin;
	}
	if (rc == 0) {
		const struct code_region *outer = code->regions;

		/* the function that the first one is in */
		for (size_t i = 0; i < code->n_regions; i++)
			if (code->regions[i].depth == 0 && code->regions[i].begin <= first)
				outer = &code->regions[i];
		head_add(&w, n > 0 ? outer->begin : 0, n);
		text = code_pieces_join(&w.pieces, code);
	}
	code_pieces_fini(&w.pieces);
	return text;
}
