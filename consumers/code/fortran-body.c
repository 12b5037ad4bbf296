/* SPDX-License-Identifier: BSD-3-Clause */
/* Procedures of Fortran: what declares, and what does something. */
#include "consumers/code/fortran-body.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/code/fortran-word.h"
#include "pathmap/base/memory.h"

/* How deep procedures may be in each other. */
#define DEPTH_MAX 64

struct fortran_finding {
	struct fortran_bodies *to;
	const struct fortran_text *text;
	size_t open[DEPTH_MAX]; /* bodies, from 1; 0: a module */
	unsigned n, beyond;
	bool interface, type;
};

static bool begins(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

/* ---- what declares ---- */

/* "f(x,y)=...": may be what the program means by f, which is no array then. */
static bool is_formula(const char *text)
{
	const char *at = text + strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_$"), *end;

	if (*at != '(' || at == text || !(end = fortran_closing(at)) || *end != '=' ||
	    end[1] == '>')
		return false;
	for (const char *p = at + 1; p < end - 1; p++)
		if ((!isalnum((unsigned char)*p) && !strchr("_$,", *p)) ||
		    (isdigit((unsigned char)*p) && strchr("(,", p[-1])))
			return false;
	return true;
}

/* Is it a word for types, as "real*8", up to @end? */
static bool is_type_word(const char *text, const char *end)
{
	static const char *const words[] = {
		"integer",	 "real", "complex",   "logical",   "doubleprecision",
		"doublecomplex", "byte", "character", "dimension", "allocatable"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *behind = text + strlen(words[i]);

		if (!begins(text, words[i]))
			continue;
		if (*behind == '*')
			behind += 1 + strspn(behind + 1, "0123456789");
		if (behind == end)
			return true;
	}
	return false;
}

/* Does the declaration say that the name of @n letters is one of an array? */
static bool declares_array(const char *text, const char *name, size_t n)
{
	const char *list = strstr(text, "dimension(") ? strstr(text, "::") : NULL;

	for (const char *at = text; *at; at++) {
		char before = at > text ? at[-1] : ',', behind = at[n];

		if (strncmp(at, name, n) != 0)
			continue;
		if (behind == '(' && (strchr(",:)/", before) || is_type_word(text, at)))
			return true;
		if (list && at > list && strchr(",:", before) && (!behind || strchr(",=", behind)))
			return true;
	}
	return false;
}

/* What declarations begin with, but for types of the program's own. */
static const char *const declaring_words[] = {"abstractinterface",
					      "allocatable",
					      "asynchronous",
					      "automatic",
					      "bind(",
					      "byte",
					      "character",
					      "class(",
					      "codimension",
					      "common",
					      "complex",
					      "contiguous",
					      "data",
					      "dimension",
					      "doublecomplex",
					      "doubleprecision",
					      "endenum",
					      "endinterface",
					      "endstructure",
					      "endtype",
					      "entry",
					      "enum",
					      "equivalence(",
					      "external",
					      "format(",
					      "generic",
					      "implicit",
					      "import",
					      "include",
					      "integer",
					      "intent(",
					      "interface",
					      "intrinsic",
					      "logical",
					      "namelist",
					      "optional",
					      "parameter",
					      "pointer",
					      "private",
					      "procedure",
					      "protected",
					      "public",
					      "real",
					      "record/",
					      "save",
					      "sequence",
					      "static",
					      "structure",
					      "target",
					      "use",
					      "value",
					      "volatile"};

static bool is_declaring(const struct fortran_statement *s)
{
	const char *text = s->text;

	/* what it makes of others it names behind a comma */
	if (begins(text, "use") && strchr(text, ',') && strstr(text, "=>"))
		return true;
	if (fortran_assigning(text))
		return is_formula(text) || begins(text, "enumerator");
	if (begins(text, "type"))
		return text[4] != '*';
	if (s->typed)
		return true;
	for (size_t i = 0; i < sizeof(declaring_words) / sizeof(declaring_words[0]); i++)
		if (begins(text, declaring_words[i]))
			return true;
	return false;
}

static bool is_declaring_directive(const char *text)
{
	return begins(text, "threadprivate") || begins(text, "declare") || begins(text, "requires");
}

/* The begin of the components of a type. */
static bool is_type(const char *text)
{
	return begins(text, "type") && text[4] != '(' && text[4] != '*' && !fortran_assigning(text);
}

/* ---- procedures ---- */

/* Why nothing that counts may be called in it, by its head; NULL: it may. */
static const char *purity(const char *text)
{
	const char *end = strstr(text, "subroutine"), *pure;

	if (begins(text, "moduleprocedure"))
		return "whether this procedure is pure is said elsewhere";
	if (begins(text, "attributes("))
		return "it is of another device";
	if (!end)
		end = strstr(text, "function");
	pure = strstr(text, "pure");
	if (pure && end && pure < end && (pure - text < 2 || strncmp(pure - 2, "im", 2) != 0))
		return "it is pure";
	pure = strstr(text, "impure");
	if (!(pure && end && pure < end) && (pure = strstr(text, "elemental")) && end && pure < end)
		return "it is elemental";
	return NULL;
}

static void body_open(struct fortran_finding *f, size_t at, bool module, bool named)
{
	const struct fortran_statement *s = &f->text->statements[at];
	struct fortran_body body = {.head = at, .begin = SIZE_MAX, .named = named};

	f->beyond += f->n == DEPTH_MAX;
	if (f->n == DEPTH_MAX)
		return;
	f->open[f->n++] = module ? 0 : f->to->n + 1;
	f->type = false;
	if (module)
		return;
	body.why = named ? purity(s->text) : NULL;
	if (named && s->shares)
		body.why = "others are in the line of its first statement";
	body.end = SIZE_MAX;
	f->to->items = memory_room(f->to->items, f->to->n, sizeof(*f->to->items));
	f->to->items[f->to->n++] = body;
}

/* That which is open; NULL: none, or a module. */
static struct fortran_body *body_now(struct fortran_finding *f)
{
	return f->n > 0 && f->open[f->n - 1] > 0 ? &f->to->items[f->open[f->n - 1] - 1] : NULL;
}

static bool same_line(const struct fortran_finding *f, size_t at)
{
	const struct fortran_statement *s = &f->text->statements[at];

	return at > 0 && s[-1].begin == s->begin;
}

/* What it does ends here. */
static void body_settle(struct fortran_finding *f, struct fortran_body *b, size_t at)
{
	if (b->end != SIZE_MAX)
		return;
	b->end = at;
	if (b->begin == SIZE_MAX)
		b->begin = at;
	if (!b->why && (same_line(f, b->end) || (b->begin > b->head && same_line(f, b->begin))))
		b->why = "its statements share lines";
	if (!b->why && f->text->statements[at].label > 0)
		b->why = "its END has a label";
}

/* Does the formula say what a function is, and set no element of an array? */
static bool is_meaning(const struct fortran_finding *f, const struct fortran_body *b, size_t at)
{
	const struct fortran_statement *s = &f->text->statements[at];
	size_t n = strcspn(s->text, "(");

	/* what may be jumped to does something */
	if (s->label > 0)
		return false;
	for (size_t i = b->head + b->named; i < at; i++)
		if (declares_array(f->text->statements[i].text, s->text, n))
			return false;
	return true;
}

static void statement_take(struct fortran_finding *f, size_t at)
{
	const struct fortran_statement *s = &f->text->statements[at];
	struct fortran_body *b = body_now(f);
	bool declares;

	if (!b || b->end != SIZE_MAX)
		return;
	b->entries |= begins(s->text, "entry") && !fortran_assigning(s->text);
	if (b->begin != SIZE_MAX || (b->named && at == b->head))
		return;
	declares = s->directive ? is_declaring_directive(s->text) : f->type || is_declaring(s);
	if (declares && !(is_formula(s->text) && !is_meaning(f, b, at)))
		f->type = !s->directive && !begins(s->text, "endtype") &&
			  (f->type || is_type(s->text));
	else
		b->begin = at;
}

static void body_close(struct fortran_finding *f, size_t at)
{
	struct fortran_body *b = body_now(f);

	if (f->beyond > 0) {
		f->beyond--;
		return;
	}
	if (b)
		body_settle(f, b, at);
	if (f->n > 0)
		f->n--;
}

/* As code_fortran() has them. */
static void word_take(struct fortran_finding *f, size_t at, const struct fortran_word *w)
{
	bool module = w->kind == FORTRAN_CONTAINER ||
		      (f->n == 0 && begins(f->text->statements[at].text, "module"));

	if (w->kind == FORTRAN_PROCEDURE || w->kind == FORTRAN_CONTAINER) {
		body_open(f, at, module, true);
		return;
	}
	if (w->kind == FORTRAN_END) {
		body_close(f, at);
		return;
	}
	if (f->n == 0)
		body_open(f, at, false, false);
	if (w->kind == FORTRAN_CONTAINS && !f->type && body_now(f))
		body_settle(f, body_now(f), at);
	else
		statement_take(f, at);
}

void fortran_bodies_find(struct fortran_bodies *bodies, const struct fortran_text *text)
{
	struct fortran_finding f = {.to = bodies, .text = text};

	for (size_t i = 0; i < text->n; i++) {
		struct fortran_word w = {.kind = FORTRAN_OTHER};

		if (!text->statements[i].directive)
			w = fortran_word_of(&text->statements[i]);
		else if (f.n == 0)
			continue;
		if (w.kind == FORTRAN_INTERFACE || w.kind == FORTRAN_INTERFACE_END)
			f.interface = w.kind == FORTRAN_INTERFACE;
		else if (!f.interface)
			word_take(&f, i, &w);
	}
	while (f.n > 0 && text->n > 0) {
		struct fortran_body *b = body_now(&f);

		/* where it ends is not there */
		if (b && b->end == SIZE_MAX) {
			body_settle(&f, b, text->n - 1);
			b->why = "it has no END";
		}
		f.n--;
	}
}

const struct fortran_body *fortran_body_of(const struct fortran_bodies *bodies, size_t at)
{
	/* those that are in others begin behind their ends */
	for (size_t i = bodies->n; i-- > 0;)
		if (at >= bodies->items[i].head && at < bodies->items[i].end)
			return &bodies->items[i];
	return NULL;
}

void fortran_bodies_fini(struct fortran_bodies *bodies)
{
	free(bodies->items);
	*bodies = (struct fortran_bodies){.n = 0};
}
