/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements of Fortran, one after the other, become regions. */
#include "consumers/code/code-fortran.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/code/fortran-openmp.h"
#include "consumers/code/fortran-word.h"
#include "pathmap/base/memory.h"

/* How deep procedures and loops may be in each other. */
#define DEPTH_MAX 64

struct fortran_loop {
	size_t region;
	unsigned label; /* of the statement that ends it; 0: END DO */
};

/* A begin of a region of evspace.f90. */
struct fortran_mark {
	char label[64];
	size_t begin;
	unsigned line;
};

/* A procedure, or what contains some. */
struct fortran_unit {
	size_t region;	       /* from 1; 0: it is none */
	unsigned loops, marks; /* how many were open when it began */
};

struct fortran_reading {
	struct code_text *code;
	struct fortran_unit units[DEPTH_MAX];
	struct fortran_loop loops[DEPTH_MAX];
	struct fortran_mark marks[DEPTH_MAX];
	unsigned n_units, n_loops, n_marks;
	bool interface;
	struct fortran_openmp openmp;
};

static size_t region_add(struct fortran_reading *f, enum code_kind kind, const char *name,
			 const struct fortran_statement *s)
{
	code_add(f->code, &(struct code_region){.kind = kind,
						.name = (char *)name,
						.line = s->line,
						.last = s->last,
						.begin = fortran_statement_begin(s),
						.end = fortran_statement_end(s),
						.closed = s->shares});
	return f->code->n_regions - 1;
}

/* In which line its name is, where the statement goes over several. */
static unsigned named_line(const struct code_text *code, const struct fortran_statement *s,
			   const char *name)
{
	size_t n = strlen(name);
	unsigned line = s->line;

	for (size_t at = s->begin; at + n <= s->end; at++) {
		if (code->text[at] == '\n')
			line++;
		else if (strncasecmp(code->text + at, name, n) == 0)
			return line;
	}
	return s->line;
}

static void region_end(struct fortran_reading *f, size_t region, const struct fortran_statement *s)
{
	struct code_region *r = &f->code->regions[region];

	r->last = s->last;
	r->end = fortran_statement_end(s);
	r->closed |= s->shares;
}

/* ---- procedures ---- */

static void unit_begin(struct fortran_reading *f, const struct fortran_statement *s,
		       const char *name)
{
	size_t region = 0;

	if (f->n_units == DEPTH_MAX)
		return;
	if (name) {
		region = region_add(f, CODE_SUBPROGRAM, name, s) + 1;
		f->code->regions[region - 1].line = named_line(f->code, s, name);
	}
	f->units[f->n_units++] = (struct fortran_unit){region, f->n_loops, f->n_marks};
}

static void unit_end(struct fortran_reading *f, const struct fortran_statement *s)
{
	const struct fortran_unit *u;

	if (f->n_units == 0)
		return;
	u = &f->units[--f->n_units];
	if (u->region > 0)
		region_end(f, u->region - 1, s);
	f->n_loops = u->loops;
	f->n_marks = u->marks;
	fortran_openmp_settle(&f->openmp);
}

/* ---- loops ---- */

static void loop_end(struct fortran_reading *f, const struct fortran_statement *s)
{
	size_t region = f->loops[--f->n_loops].region;

	region_end(f, region, s);
	fortran_openmp_loop_end(&f->openmp, f->code, region);
}

static unsigned loops_here(const struct fortran_reading *f)
{
	return f->n_loops - (f->n_units > 0 ? f->units[f->n_units - 1].loops : 0);
}

static void loop_begin(struct fortran_reading *f, const struct fortran_statement *s,
		       const struct fortran_word *w)
{
	size_t region = region_add(f, CODE_LOOP, w->name, s);

	fortran_openmp_loop(&f->openmp, f->code, region);
	if (f->n_loops < DEPTH_MAX)
		f->loops[f->n_loops++] = (struct fortran_loop){region, w->label};
}

/* The loops that this statement is the last one of. */
static void label_take(struct fortran_reading *f, const struct fortran_statement *s)
{
	while (s->label > 0 && loops_here(f) > 0 && f->loops[f->n_loops - 1].label == s->label)
		loop_end(f, s);
}

/* ---- calls ---- */

/* ('label', EVSPACE_BEGIN): of the label, without its blanks at the end. Returns whether it is
 * this. */
static bool mark_read(const char *detail, char label[64], bool *begins)
{
	const char *end = detail[0] == '(' && detail[1] && strchr("'\"", detail[1])
				  ? strchr(detail + 2, detail[1])
				  : NULL;
	size_t n = end ? (size_t)(end - detail) - 2 : 0;

	while (n > 0 && detail[1 + n] == ' ')
		n--;
	if (!end || end[1] != ',' || n >= 64)
		return false;
	memcpy(label, detail + 2, n);
	label[n] = '\0';
	*begins = strcmp(end + 2, "evspace_begin)") == 0 || strcmp(end + 2, "1)") == 0;
	return *begins || strcmp(end + 2, "evspace_end)") == 0 || strcmp(end + 2, "0)") == 0;
}

static void mark_take(struct fortran_reading *f, const struct fortran_statement *s,
		      const struct fortran_word *w)
{
	unsigned first = f->n_units > 0 ? f->units[f->n_units - 1].marks : 0;
	char label[64];
	bool begins;
	size_t region;

	if (!mark_read(w->detail, label, &begins))
		return;
	if (begins && f->n_marks < DEPTH_MAX) {
		f->marks[f->n_marks] =
			(struct fortran_mark){.begin = fortran_statement_begin(s), .line = s->line};
		memcpy(f->marks[f->n_marks++].label, label, sizeof(label));
		return;
	}
	for (unsigned i = f->n_marks; !begins && i-- > first;) {
		if (strcmp(f->marks[i].label, label) != 0)
			continue;
		region = region_add(f, CODE_USER, label, s);
		f->code->regions[region].begin = f->marks[i].begin;
		f->code->regions[region].line = f->marks[i].line;
		f->code->regions[region].closed = true;
		/* those in it that were left open end with it */
		f->n_marks = i;
		return;
	}
}

static void call_take(struct fortran_reading *f, const struct fortran_statement *s,
		      const struct fortran_word *w)
{
	size_t region;

	if (strcmp(w->name, "evspace_region") == 0) {
		mark_take(f, s, w);
		return;
	}
	region = region_add(f, CODE_CALL, w->name, s);
	f->code->regions[region].closed |= w->conditional || s->label > 0;
}

/* ---- statements ---- */

static void word_take(struct fortran_reading *f, const struct fortran_statement *s,
		      const struct fortran_word *w)
{
	/* outside of all units there are no separate procedures */
	bool is_module = f->n_units == 0 && strncmp(s->text, "module", 6) == 0;

	switch (w->kind) {
	case FORTRAN_PROCEDURE:
		unit_begin(f, s, is_module ? NULL : w->name);
		return;
	case FORTRAN_CONTAINER:
		unit_begin(f, s, NULL);
		return;
	case FORTRAN_END:
		unit_end(f, s);
		return;
	default:
		break;
	}
	/* a main program needs no name */
	if (f->n_units == 0)
		unit_begin(f, s, "MAIN__");
	if (w->kind == FORTRAN_DO)
		loop_begin(f, s, w);
	else if (w->kind == FORTRAN_DO_END && loops_here(f) > 0 &&
		 f->loops[f->n_loops - 1].label == 0)
		loop_end(f, s);
	else if (w->kind == FORTRAN_CALL)
		call_take(f, s, w);
	label_take(f, s);
}

void code_fortran(struct code_text *code, bool fixed, bool openmp)
{
	struct fortran_reading f = {.code = code};
	struct fortran_text text = {.n = 0};
	struct fortran_statement end = {.end = code->n, .shares = true};

	fortran_text_split(&text, code, fixed);
	for (size_t i = 0; i < text.n; i++) {
		const struct fortran_statement *s = &text.statements[i];
		struct fortran_word w;

		end.last = s->last;
		if (s->directive) {
			if (openmp)
				fortran_openmp_take(&f.openmp, code, s);
			continue;
		}
		w = fortran_word_of(s);
		if (w.kind == FORTRAN_INTERFACE || w.kind == FORTRAN_INTERFACE_END)
			f.interface = w.kind == FORTRAN_INTERFACE;
		else if (!f.interface) {
			fortran_openmp_statement(&f.openmp, code, s, w.kind == FORTRAN_DO);
			word_take(&f, s, &w);
		}
	}
	while (f.n_units > 0)
		unit_end(&f, &end);
	fortran_text_fini(&text);
}
