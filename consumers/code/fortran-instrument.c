/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes calls of evspace.f90 into the text of a source, as lines between its statements. */
#include "consumers/code/fortran-instrument.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "consumers/code/code-instrument.h"
#include "consumers/code/code-piece.h"
#include "consumers/code/fortran-body.h"
#include "consumers/code/fortran-leave.h"
#include "pathmap/base/memory.h"

/* Where statements begin in both forms. */
#define MARGIN "      "

/* What stays of a statement with a label, and how far lines go in fixed form. */
#define CONTINUE "continue"
#define COLUMNS	 72

/* A region that is to be recorded. */
struct fortran_wanted {
	const struct code_region *region;
	const char *id;
	const struct fortran_body *body; /* that it is in, or is */
	struct fortran_range range;	 /* what is done in it */
};

struct fortran_writing {
	const struct code_text *code;
	struct fortran_text text;
	struct fortran_bodies bodies;
	struct fortran_wanted *wanted; /* outer ones first */
	size_t n;
	struct code_pieces pieces;
	char *path;
};

/* ---- where it is ---- */

/* The first statement whose letters begin at @at or behind it. */
static size_t statement_at(const struct fortran_text *text, size_t at)
{
	size_t low = 0, high = text->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (text->statements[middle].from[0] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns whether it is in a procedure. */
static bool wanted_find(const struct fortran_writing *w, struct fortran_wanted *wanted)
{
	size_t first = statement_at(&w->text, wanted->region->begin);
	size_t behind = statement_at(&w->text, wanted->region->end);

	wanted->body = fortran_body_of(&w->bodies, first);
	if (!wanted->body || behind <= first)
		return false;
	wanted->range = (struct fortran_range){first, behind - 1};
	if (wanted->region->kind == CODE_SUBPROGRAM) {
		if (wanted->body->head != first)
			return false;
		wanted->range = (struct fortran_range){wanted->body->begin, wanted->body->end};
	}
	return true;
}

static bool is_in(const struct fortran_wanted *wanted, size_t at)
{
	/* where a procedure ends, it is left */
	size_t behind = wanted->range.last + (wanted->region->kind != CODE_SUBPROGRAM);

	return at >= wanted->range.first && at < behind;
}

/* ---- what cannot be ---- */

/* Is some of it left out, or not, by a preprocessor? */
static bool has_conditions(const char *text, size_t begin, size_t end)
{
	for (size_t at = begin; at < end;) {
		const char *line = text + at, *next = memchr(line, '\n', end - at);

		if (*line == '#') {
			line += 1 + strspn(line + 1, " \t");
			if (strncmp(line, "if", 2) == 0 || strncmp(line, "el", 2) == 0 ||
			    strncmp(line, "endif", 5) == 0)
				return true;
		}
		if (!next)
			break;
		at = (size_t)(next - text) + 1;
	}
	return false;
}

/* Is the line at @line a directive of a compiler, as "!dir$ ivdep", but none of OpenMP, which are
 * known? */
static bool is_directive(const char *line, size_t n)
{
	size_t at = 0, word;

	while (at < n && isblank((unsigned char)line[at]))
		at++;
	if (at == n || (line[at] != '!' && (at > 0 || !strchr("cC*", line[0]))))
		return false;
	for (word = ++at; at < n && isalpha((unsigned char)line[at]); at++)
		;
	if (at >= n || line[at] != '$')
		return false;
	if (at > word)
		return true;
	return at + 1 < n && isalpha((unsigned char)line[at + 1]) &&
	       strncasecmp(line + at, "$omp", 4) != 0;
}

/* Is there one before what begins at @at, with nothing but comments between? */
static bool is_directed(const char *text, size_t at)
{
	while (at > 0) {
		size_t end = --at, word;

		while (at > 0 && text[at - 1] != '\n')
			at--;
		if (is_directive(text + at, end - at))
			return true;
		word = strspn(text + at, " \t\r");
		if (word < end - at && text[at + word] != '!' && !strchr("cC*", text[at]))
			return false;
	}
	return false;
}

/* In what it is, that lets nothing be called; NULL: it may. */
static const char *outer_trouble(const struct fortran_wanted *wanted)
{
	static const char *const names[] = {"do concurrent", "workshare", "target", "teams",
					    "distribute",    "simd",	  "atomic"};
	const struct code_region *r = wanted->region, *outer = r;

	for (unsigned depth = r->depth; depth > 0; depth--) {
		while (outer->depth >= depth)
			outer--;
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (outer->kind != CODE_SUBPROGRAM && strstr(outer->name, names[i]))
				return names[i];
	}
	return r->kind == CODE_OPENMP && (strncmp(r->name, "teams", 5) == 0 ||
					  strncmp(r->name, "distribute", 10) == 0)
		       ? r->name
		       : NULL;
}

/* Two loops may end with one statement. */
static bool shares_end(const struct fortran_writing *w, const struct fortran_wanted *wanted)
{
	const struct code_region *r = wanted->region;

	for (const struct code_region *o = w->code->regions; r->kind == CODE_LOOP && o < r; o++)
		if (o->kind == CODE_LOOP && o->end == r->end)
			return true;
	return false;
}

/* Can more be done where this statement leaves? */
static bool can_leave(const struct fortran_writing *w, size_t at)
{
	const struct fortran_statement *s = &w->text.statements[at];
	const char *action = fortran_action(s);
	size_t first = s->from[action - s->text], last = s->from[strlen(s->text) - 1];

	size_t column = 1;

	while (column <= first && w->code->text[first - column] != '\n')
		column++;
	if (action == s->text && s->label > 0 && column + strlen(CONTINUE) > COLUMNS + 1)
		return false;
	if (s->shares || memchr(w->code->text + first, '\n', last - first))
		return false;
	if (action == s->text || s->label == 0)
		return true;
	/* what ends a loop stays one statement */
	for (size_t i = 0; i < w->code->n_regions; i++)
		if (w->code->regions[i].kind == CODE_LOOP && w->code->regions[i].end == s->end)
			return false;
	return true;
}

/* The line of a statement by which it is left, or entered, so that nothing can be done about it;
 * 0: there is none. */
static unsigned jump_find(const struct fortran_writing *w, const struct fortran_wanted *wanted)
{
	bool whole = wanted->region->kind == CODE_SUBPROGRAM;

	for (size_t i = wanted->body->head; i < wanted->body->end; i++) {
		enum fortran_leaving how = FORTRAN_STAYS;

		if (is_in(wanted, i))
			how = fortran_leave(&w->text, i, &wanted->range);
		else if (!whole && fortran_enters(&w->text, i, &wanted->range))
			how = FORTRAN_LEAVES_EITHER;
		if (how == FORTRAN_LEAVES_EITHER || (how == FORTRAN_LEAVES && !can_leave(w, i)))
			return w->text.statements[i].line;
	}
	return 0;
}

static int wanted_check(const struct fortran_writing *w, const struct fortran_wanted *wanted,
			struct error *e)
{
	const struct code_region *r = wanted->region;
	const struct fortran_statement *first = &w->text.statements[wanted->range.first];
	const size_t head = w->text.statements[wanted->body->head].begin;
	const char *outer = outer_trouble(wanted), *why = wanted->body->why;
	unsigned line;

	if (!why && wanted->range.first >= wanted->range.last + (r->kind != CODE_SUBPROGRAM))
		why = "it does nothing";
	else if (!why && r->closed && r->kind != CODE_SUBPROGRAM)
		why = "it is behind IF (...), has a label, shares its lines with others, or is the "
		      "loop of a directive; take what it is in";
	else if (!why && r->kind == CODE_SUBPROGRAM && wanted->body->entries)
		why = "ENTRY enters it elsewhere";
	else if (!why && has_conditions(w->code->text, head, r->end))
		why = "the preprocessor may leave out some of it (#if)";
	else if (!why && r->kind != CODE_SUBPROGRAM && first->label > 0)
		why = "it has a label";
	else if (!why && shares_end(w, wanted))
		why = "another loop ends with the same statement; take that";
	else if (!why && r->kind != CODE_SUBPROGRAM && is_directed(w->code->text, r->begin))
		why = "a directive is before it";
	if (why)
		return errorf(e, "nothing is written around %.60s (%.80s): %s", wanted->id, r->name,
			      why);
	if (outer)
		return errorf(e, "nothing is written around %.60s (%.80s), as it is in \"%s\"",
			      wanted->id, r->name, outer);
	line = jump_find(w, wanted);
	if (line > 0)
		return errorf(e,
			      "nothing is written around %.60s (%.80s): line %u goes out of it or "
			      "into it, in a way of its own; take what both are in",
			      wanted->id, r->name, line);
	return 0;
}

/* ---- written ---- */

/* Whole lines before the byte @at, where line @line begins. */
static void lines_add(struct fortran_writing *w, size_t at, unsigned line, long rank, char *lines)
{
	code_piece_add(&w->pieces, at, rank,
		       memory_format("%s# %u \"%s\"\n", lines, line, w->path));
	free(lines);
}

static char *call_make(const char *id, bool begin)
{
	return memory_format(MARGIN "call evspace_region('%s', %d)\n", id, begin);
}

static void wanted_write(struct fortran_writing *w, const struct fortran_wanted *wanted)
{
	const struct fortran_statement *first = &w->text.statements[wanted->range.first];
	const struct fortran_statement *last = &w->text.statements[wanted->range.last];
	const long rank = (long)(wanted->region - w->code->regions) + 1;

	lines_add(w, first->begin, first->line, rank, call_make(wanted->id, true));
	if (wanted->region->kind == CODE_SUBPROGRAM)
		lines_add(w, last->begin, last->line, -rank, call_make(wanted->id, false));
	else
		lines_add(w, last->end, last->last + 1, -rank, call_make(wanted->id, false));
}

/* Once in each procedure; what is in it sees that, too, but may mean something else. */
static void use_write(struct fortran_writing *w, size_t nth)
{
	const struct fortran_body *body = w->wanted[nth].body;
	const struct fortran_statement *head = &w->text.statements[body->head];
	const long rank = -(long)w->code->n_regions - 2;

	for (size_t i = 0; i < nth; i++)
		if (w->wanted[i].body == body)
			return;
	lines_add(w, body->named ? head->end : head->begin,
		  body->named ? head->last + 1 : head->line, rank,
		  memory_copy(MARGIN "use evspace, only: evspace_region\n"));
}

/* Where a statement leaves regions, they end: inner ones first. */
static void leave_write(struct fortran_writing *w, size_t at)
{
	const struct fortran_statement *s = &w->text.statements[at];
	const char *action = fortran_action(s);
	size_t first, last;
	char *lines = NULL, *more;
	bool is_if = action != s->text;

	for (size_t i = w->n; i-- > 0;) {
		if (!is_in(&w->wanted[i], at) ||
		    fortran_leave(&w->text, at, &w->wanted[i].range) != FORTRAN_LEAVES)
			continue;
		more = memory_format("%s" MARGIN "call evspace_region('%s', 0)\n",
				     lines ? lines : "", w->wanted[i].id);
		free(lines);
		lines = more;
	}
	if (!lines)
		return;
	first = s->from[action - s->text];
	last = s->from[strlen(s->text) - 1] + 1u;
	more = memory_format("%s" MARGIN "%.*s\n%s", lines, (int)(last - first),
			     w->code->text + first, is_if ? MARGIN "end if\n" : "");
	free(lines);
	/* what is behind it stays in its columns; what has a label stays a statement */
	code_piece_replace(&w->pieces, first, last - first,
			   memory_format("%-*s", (int)(last - first),
					 is_if	    ? "then"
					 : s->label ? CONTINUE
						    : ""));
	lines_add(w, s->end, s->last + 1, -(long)w->code->n_regions - 1, more);
}

static int wanted_compare(const void *a, const void *b)
{
	const struct fortran_wanted *x = a, *y = b;

	return (x->region > y->region) - (x->region < y->region);
}

static int wanted_take(struct fortran_writing *w, const char *id, struct error *e)
{
	struct fortran_wanted *wanted = &w->wanted[w->n];

	*wanted = (struct fortran_wanted){.region = code_region_find(w->code, id), .id = id};
	if (!wanted->region)
		return errorf(e, "%.300s has no region %.60s; take one of its SIR", w->code->path,
			      id);
	if (wanted->region->kind == CODE_USER)
		return errorf(e, "%.60s is one already, without being written: user:%.80s", id,
			      wanted->region->name);
	if (!wanted_find(w, wanted))
		return errorf(e, "nothing is written around %.60s (%.80s): it is in no procedure",
			      id, wanted->region->name);
	w->n++;
	return wanted_check(w, wanted, e);
}

static char *all_write(struct fortran_writing *w)
{
	if (w->n > 0)
		qsort(w->wanted, w->n, sizeof(*w->wanted), wanted_compare);
	lines_add(w, 0, 1, -(long)w->code->n_regions - 3, memory_copy(FORTRAN_INSTRUMENTED "\n"));
	for (size_t i = 0; i < w->n; i++) {
		use_write(w, i);
		wanted_write(w, &w->wanted[i]);
	}
	for (size_t i = 0; i < w->text.n && w->n > 0; i++)
		leave_write(w, i);
	return code_pieces_join(&w->pieces, w->code);
}

char *fortran_instrument(const struct code_text *code, bool fixed, const char *const *ids, size_t n,
			 struct error *e)
{
	struct fortran_writing w = {.code = code, .path = code_path_quote(code->path)};
	char *text = NULL;
	int rc = 0;

	fortran_text_split(&w.text, code, fixed);
	fortran_bodies_find(&w.bodies, &w.text);
	w.wanted = memory_new(n + 1, sizeof(*w.wanted));
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = wanted_take(&w, ids[i], e);
	if (rc == 0)
		text = all_write(&w);
	code_pieces_fini(&w.pieces);
	fortran_bodies_fini(&w.bodies);
	fortran_text_fini(&w.text);
	free(w.wanted);
	free(w.path);
	return text;
}
