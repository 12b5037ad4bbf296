/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of Fortran become statements. */
#include "consumers/code/fortran-text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/code/fortran-macros.h"
#include "pathmap/base/memory.h"

/* Fixed form: where a statement begins, and how long a line is. */
#define STATEMENT 6
#define LENGTH	  72

/* How deep `#if` may be. */
#define DEPTH_MAX 64

/* A line, without its end. */
struct fortran_line {
	const char *text;
	size_t n;
	size_t end; /* behind it, in the source */
};

struct fortran_splitting {
	struct fortran_text *to;
	const struct code_text *code;
	bool fixed;
	/* the statement that lines may go on with */
	struct fortran_statement now;
	bool open;
	size_t n, used; /* its letters, and those of all before it */
	char quote;	/* what ends the text in quotes that is open; 0: none */
	bool goes_on;	/* free form: the line ended with "&" */
	/* `#if` */
	struct fortran_macros *macros;
	unsigned depth;
	bool left_out[DEPTH_MAX + 1], taken[DEPTH_MAX + 1];
};

/* ---- the statement ---- */

/* There is room: a letter is one of the source, and the end of a line or ";" is none. */
static void letter_add(struct fortran_splitting *s, char c, const char *from)
{
	s->to->from[s->used + s->n] = (uint32_t)(from - s->code->text);
	s->to->letters[s->used + s->n++] = c;
}

static void statement_close(struct fortran_splitting *s)
{
	if (s->open && s->n > 0) {
		s->now.text = &s->to->letters[s->used];
		s->now.from = &s->to->from[s->used];
		s->now.typed = fortran_macros_type(s->macros, s->code->text + s->now.from[0]);
		s->used += s->n + 1;
		s->to->statements = memory_room(s->to->statements, s->to->n, sizeof(s->now));
		s->to->statements[s->to->n++] = s->now;
	}
	s->now = (struct fortran_statement){.text = NULL};
	s->open = s->goes_on = false;
	s->n = 0;
	s->quote = 0;
}

static void statement_open(struct fortran_splitting *s, size_t begin, unsigned line)
{
	statement_close(s);
	s->open = true;
	s->now.begin = begin;
	s->now.line = line;
}

/* Another one in the same line. */
static void statement_next(struct fortran_splitting *s)
{
	const struct fortran_statement same = {.begin = s->now.begin,
					       .end = s->now.end,
					       .line = s->now.last,
					       .last = s->now.last,
					       .shares = true};

	s->now.shares = true;
	statement_close(s);
	s->open = true;
	s->now = same;
}

/* The @n letters of a line that belong to statements. */
static void letters_take(struct fortran_splitting *s, const char *text, size_t n)
{
	size_t last = n;

	while (last > 0 && isspace((unsigned char)text[last - 1]))
		last--;
	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		if (s->quote) {
			if (!s->fixed && c == '&' && i + 1 == last) {
				s->goes_on = true;
				return;
			}
			letter_add(s, c, text + i);
			if (c == s->quote)
				s->quote = 0;
		} else if (c == '!') {
			return;
		} else if (c == '&' && !s->fixed) {
			s->goes_on = true;
		} else if (c == ';' && !s->now.directive) {
			statement_next(s);
		} else if (!isspace((unsigned char)c)) {
			if (c == '"' || c == '\'')
				s->quote = c;
			letter_add(s, (char)tolower((unsigned char)c), text + i);
		}
	}
}

/* ---- lines ---- */

static bool is_blank(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isspace((unsigned char)text[i]))
			return text[i] == '!';
	return true;
}

/* Behind the sentinel of a directive of OpenMP; 0: it is none. */
static size_t directive_of(const struct fortran_line *line, bool fixed)
{
	size_t at = 0;

	while (!fixed && at < line->n && isspace((unsigned char)line->text[at]))
		at++;
	if (line->n - at < 5 || strncasecmp(line->text + at + 1, "$omp", 4) != 0 ||
	    !strchr(fixed ? "!cC*" : "!", line->text[at]))
		return 0;
	return at + 5;
}

static void label_take(struct fortran_splitting *s, const char **text, size_t *n)
{
	unsigned label = 0;

	while (*n > 0 && (isdigit((unsigned char)**text) || isspace((unsigned char)**text))) {
		if (isdigit((unsigned char)**text))
			label = label * 10 + (unsigned)(**text - '0');
		if (label > 99999)
			break;
		++*text;
		--*n;
	}
	s->now.label = label;
}

static void free_take(struct fortran_splitting *s, const struct fortran_line *line, size_t begin,
		      unsigned number)
{
	size_t directive = directive_of(line, false);
	const char *text = line->text + directive;
	size_t n = line->n - directive;

	if (!directive && is_blank(text, n))
		return;
	if (!s->open || !s->goes_on || s->now.directive != (directive > 0)) {
		statement_open(s, begin, number);
		s->now.directive = directive > 0;
		if (!directive)
			label_take(s, &text, &n);
	} else {
		while (n > 0 && isspace((unsigned char)*text) && !s->quote)
			text++, n--;
		/* in quotes, it goes on behind the "&" */
		for (size_t i = 0; i < n && (isspace((unsigned char)text[i]) || text[i] == '&');
		     i++)
			if (text[i] == '&') {
				text += i + 1;
				n -= i + 1;
				break;
			}
	}
	s->goes_on = false;
	s->now.last = number;
	s->now.end = line->end;
	letters_take(s, text, n);
}

/* Where the statement's letters begin; whether the line goes on with the one before. */
static size_t fixed_begin(const struct fortran_line *line, bool *goes_on)
{
	const char *tab = memchr(line->text, '\t', line->n < STATEMENT ? line->n : STATEMENT);
	size_t at = tab ? (size_t)(tab - line->text) + 1 : STATEMENT;

	if (!tab) {
		*goes_on = line->n >= STATEMENT && line->text[STATEMENT - 1] != ' ' &&
			   line->text[STATEMENT - 1] != '0';
		return at < line->n ? at : line->n;
	}
	*goes_on = at < line->n && line->text[at] >= '1' && line->text[at] <= '9';
	return *goes_on ? at + 1 : at;
}

static void fixed_take(struct fortran_splitting *s, const struct fortran_line *line, size_t begin,
		       unsigned number)
{
	size_t directive = directive_of(line, true), at, n = line->n;
	const char *label = line->text;
	bool goes_on;

	if (n == 0 || (!directive && (strchr("cC*!dD", line->text[0]) || is_blank(label, n))))
		return;
	at = fixed_begin(line, &goes_on);
	if (n > LENGTH && !memchr(line->text, '\t', STATEMENT))
		n = LENGTH;
	if (!s->open || !goes_on || s->now.directive != (directive > 0)) {
		size_t of_label = at < STATEMENT ? at : STATEMENT - 1;

		statement_open(s, begin, number);
		s->now.directive = directive > 0;
		if (!directive && of_label > 0)
			label_take(s, &label, &of_label);
	}
	s->now.last = number;
	s->now.end = line->end;
	if (at < n)
		letters_take(s, line->text + at, n - at);
}

/* ---- `#if` ---- */

static bool is_left_out(const struct fortran_splitting *s)
{
	return s->depth > 0 && s->left_out[s->depth];
}

/* The next of `#if`, which is left out with what it is in. */
static void condition_begin(struct fortran_splitting *s, const char *text)
{
	bool out = is_left_out(s);
	unsigned d = s->depth < DEPTH_MAX ? ++s->depth : s->depth;

	s->taken[d] = out || fortran_macros_hold(s->macros, text);
	s->left_out[d] = out || !s->taken[d];
}

static void condition_else(struct fortran_splitting *s, const char *text)
{
	bool holds = !s->taken[s->depth] && fortran_macros_hold(s->macros, text);

	s->left_out[s->depth] = !holds;
	s->taken[s->depth] |= holds;
}

/* @text: behind the "#". */
static void preprocessor_take(struct fortran_splitting *s, const char *text)
{
	char word[16] = "";

	text += strspn(text, " \t");
	(void)sscanf(text, "%15[a-z]", word);
	if (strcmp(word, "if") == 0 || strcmp(word, "ifdef") == 0 || strcmp(word, "ifndef") == 0)
		condition_begin(s, text);
	else if (s->depth > 0 && (strcmp(word, "else") == 0 || strcmp(word, "elif") == 0))
		condition_else(s, text);
	else if (s->depth > 0 && strcmp(word, "endif") == 0)
		s->depth--;
	else if (!is_left_out(s))
		fortran_macros_take(s->macros, text);
}

/* Does it end with a backslash? */
static bool line_goes_on(const struct fortran_line *line)
{
	size_t n = line->n;

	n -= n > 0 && line->text[n - 1] == '\r';
	return n > 0 && line->text[n - 1] == '\\';
}

/* A line of a preprocessor, with those that it goes on with. Returns how many these are. */
static unsigned preprocessor_line(struct fortran_splitting *s, struct fortran_line *line)
{
	const char *source = s->code->text, *begin = line->text;
	unsigned more = 0;
	char *text;

	while (line_goes_on(line) && line->end < s->code->n) {
		const char *next = source + line->end;
		const char *end = memchr(next, '\n', s->code->n - line->end);

		line->text = next;
		line->n = (size_t)((end ? end : source + s->code->n) - next);
		line->end = (size_t)(next - source) + line->n + (end != NULL);
		more++;
	}
	text = memory_copy_bytes(begin + 1, (size_t)(line->text + line->n - begin - 1));
	for (char *at = text; (at = strpbrk(at, "\\\r\n")); at++)
		*at = ' ';
	preprocessor_take(s, text);
	free(text);
	return more;
}

/* ---- all ---- */

void fortran_text_split(struct fortran_text *text, const struct code_text *code, bool fixed)
{
	struct fortran_splitting s = {.to = text,
				      .code = code,
				      .fixed = fixed,
				      .macros = fortran_macros_new(code->flags)};
	unsigned number = 1;
	size_t next;

	/* what is not used takes none */
	text->letters = memory_new(code->n + 2, sizeof(*text->letters));
	text->from = memory_new(code->n + 2, sizeof(*text->from));
	for (size_t at = 0; at < code->n; at = next, number++) {
		const char *end = memchr(code->text + at, '\n', code->n - at);
		struct fortran_line line = {.text = code->text + at};

		next = end ? (size_t)(end - code->text) + 1 : code->n;
		line.n = (end ? next - 1 : next) - at;
		line.end = next;
		if (line.n > 0 && line.text[line.n - 1] == '\r')
			line.n--;
		if (line.n > 0 && line.text[0] == '#') {
			number += preprocessor_line(&s, &line);
			next = line.end;
		} else if (!is_left_out(&s) && fixed)
			fixed_take(&s, &line, at, number);
		else if (!is_left_out(&s))
			free_take(&s, &line, at, number);
	}
	statement_close(&s);
	fortran_macros_free(s.macros);
}

void fortran_text_fini(struct fortran_text *text)
{
	free(text->statements);
	free(text->letters);
	free(text->from);
	*text = (struct fortran_text){.n = 0};
}

size_t fortran_statement_begin(const struct fortran_statement *s)
{
	return s->shares && s->from ? s->from[0] : s->begin;
}

size_t fortran_statement_end(const struct fortran_statement *s)
{
	return s->shares && s->from ? s->from[strlen(s->text) - 1] + (size_t)1 : s->end;
}

const char *fortran_closing(const char *at)
{
	unsigned depth = 0;
	char quote = 0;

	for (; *at; at++) {
		if (quote)
			quote = *at == quote ? 0 : quote;
		else if (*at == '"' || *at == '\'')
			quote = *at;
		else if (*at == '(')
			depth++;
		else if (*at == ')' && --depth == 0)
			return at + 1;
	}
	return NULL;
}
