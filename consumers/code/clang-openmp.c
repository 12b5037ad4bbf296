/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP regions: directives in the text, and the statements behind them. */
#include "consumers/code/clang-walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"

/* The name of a directive is made of these; what else follows are its clauses. */
static const char *const words[] = {
	"parallel", "for",	"sections",  "section",	    "single", "master",	  "masked",
	"critical", "atomic",	"ordered",   "task",	    "simd",   "taskloop", "taskgroup",
	"barrier",  "taskwait", "taskyield", "flush",	    "teams",  "target",	  "distribute",
	"loop",	    "scope",	"cancel",    "workshare",   "data",   "enter",	  "exit",
	"update",   "interop",	"error",     "cancellation"};
/* These have no statement behind them, or the last word says that they have none. */
static const char *const alone[] = {"barrier", "taskwait", "taskyield",	   "flush",
				    "cancel",  "update",   "cancellation", "interop",
				    "error",   "enter",	   "exit"};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* A directive: from the begin of its line to behind the last one. */
struct clang_directive {
	struct code_span span;
	char name[64];
	bool alone, of_loop, of_many; /* of one loop, of several in each other */
};

static bool is_one_of(const char *word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(word, list[i]) == 0)
			return true;
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Behind the end of the line, which a "\" goes on with. */
static size_t line_end(const struct code_text *code, size_t at)
{
	for (; at < code->n && code->text[at] != '\n'; at++)
		if (code->text[at] == '\\' && at + 1 < code->n)
			at += 1 + strncmp(code->text + at + 1, "\r\n", 2) == 0;
	return at < code->n ? at + 1 : at;
}

/* The words from @text on that belong to the name. */
static void name_take(struct clang_directive *d, const char *text)
{
	size_t n = 0;

	for (;;) {
		char word[32];
		size_t length;

		text += strspn(text, " \t");
		length = strspn(text, "abcdefghijklmnopqrstuvwxyz");
		if (length == 0 || length >= sizeof(word))
			return;
		memcpy(word, text, length);
		word[length] = '\0';
		if (!is_one_of(word, words, COUNT(words)) || n + length + 2 > sizeof(d->name))
			return;
		n += (size_t)snprintf(d->name + n, sizeof(d->name) - n, "%s%s", n ? " " : "", word);
		d->alone |= is_one_of(word, alone, COUNT(alone));
		d->of_loop |= strcmp(word, "for") == 0 || strcmp(word, "simd") == 0 ||
			      strcmp(word, "loop") == 0 || strcmp(word, "taskloop") == 0 ||
			      strcmp(word, "distribute") == 0;
		text += length;
	}
}

/* Is it "# pragma omp NAME" that begins with the "#" at @at? */
static bool directive_take(const struct code_text *code, size_t at, struct clang_directive *d)
{
	static const char *const heads[] = {"#", "pragma", "omp"};
	const char *text = code->text + at;
	char *clauses;

	*d = (struct clang_directive){.span = {at, line_end(code, at)}};
	for (size_t i = 0; i < COUNT(heads); i++) {
		size_t n = strlen(heads[i]);

		if (strncmp(text, heads[i], n) != 0)
			return false;
		text += n + strspn(text + n, " \t");
	}
	name_take(d, text);
	while (d->span.begin > 0 && is_blank(code->text[d->span.begin - 1]))
		d->span.begin--;
	clauses = memory_copy_bytes(code->text + at, d->span.end - at);
	d->of_many = strstr(clauses, "collapse") || strstr(clauses, "ordered");
	free(clauses);
	return d->name[0];
}

/* The first statement behind the directive; if several begin there, all of them. */
static struct code_span statement_behind(const struct clang_walk *w, size_t at)
{
	struct code_span best = {SIZE_MAX, 0};

	for (size_t i = 0; i < w->n_statements; i++) {
		const struct code_span *s = &w->statements[i];

		if (s->begin >= at &&
		    (s->begin < best.begin || (s->begin == best.begin && s->end > best.end)))
			best = *s;
	}
	return best;
}

/* Loops that a directive needs where they are. */
static void loops_close(struct clang_walk *w, const struct clang_directive *d,
			const struct code_span *statement)
{
	for (size_t i = 0; d->of_loop && i < w->code->n_regions; i++) {
		struct code_region *r = &w->code->regions[i];

		if (r->kind == CODE_LOOP &&
		    (r->begin == statement->begin ||
		     (d->of_many && r->begin > statement->begin && r->end <= statement->end)))
			r->closed = true;
	}
}

static void directive_note(struct clang_walk *w, const struct clang_directive *d)
{
	struct code_region region = {.kind = CODE_OPENMP,
				     .name = (char *)d->name,
				     .begin = d->span.begin,
				     .end = d->span.end,
				     .line = clang_line(w, d->span.begin),
				     .closed = strcmp(d->name, "section") == 0};
	struct code_span statement;

	if (!d->alone) {
		statement = statement_behind(w, d->span.end);
		if (statement.begin == SIZE_MAX)
			return;
		region.end = statement.end;
		region.closed |= !strchr(";}", w->code->text[region.end - 1]);
		loops_close(w, d, &statement);
	}
	region.last = clang_line(w, region.end - 1);
	code_add(w->code, &region);
}

/* Is it left out of what is compiled? */
static bool is_skipped(const CXSourceRangeList *skipped, size_t at)
{
	for (unsigned i = 0; skipped && i < skipped->count; i++) {
		unsigned begin, end;

		clang_getFileLocation(clang_getRangeStart(skipped->ranges[i]), NULL, NULL, NULL,
				      &begin);
		clang_getFileLocation(clang_getRangeEnd(skipped->ranges[i]), NULL, NULL, NULL,
				      &end);
		if (at >= begin && at < end)
			return true;
	}
	return false;
}

void clang_openmp(struct clang_walk *walk)
{
	CXSourceRangeList *skipped = clang_getSkippedRanges(walk->unit, walk->file);
	CXSourceRange whole = clang_getRange(
		clang_getLocationForOffset(walk->unit, walk->file, 0),
		clang_getLocationForOffset(walk->unit, walk->file, (unsigned)walk->code->n));
	struct clang_directive directive;
	CXToken *tokens;
	unsigned n, at;

	clang_tokenize(walk->unit, whole, &tokens, &n);
	for (unsigned i = 0; i < n; i++) {
		if (clang_getTokenKind(tokens[i]) != CXToken_Punctuation)
			continue;
		clang_getFileLocation(clang_getTokenLocation(walk->unit, tokens[i]), NULL, NULL,
				      NULL, &at);
		if (at < walk->code->n && walk->code->text[at] == '#' &&
		    directive_take(walk->code, at, &directive) && !is_skipped(skipped, at))
			directive_note(walk, &directive);
	}
	clang_disposeTokens(walk->unit, tokens, n);
	clang_disposeSourceRangeList(skipped);
}
