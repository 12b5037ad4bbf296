/* SPDX-License-Identifier: BSD-3-Clause */
/* Conditions of a preprocessor, by its macros: whole numbers, names and operators of C. */
#include "consumers/code/fortran-macros.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

/* How deep brackets, and macros in macros, may be. */
#define DEPTH_MAX 64

/* What its evaluation may take in all, as macros may double with each one. */
#define STEPS_MAX 10000

struct fortran_macro {
	UT_hash_handle hh;
	char *value;
	char name[];
};

struct fortran_macros {
	struct fortran_macro *list;
	bool known;
};

/* A condition that is being evaluated. */
struct fortran_condition {
	const struct fortran_macros *macros;
	const char *at;
	unsigned depth, *steps;
	bool idle; /* what comes does not matter */
	bool wrong;
};

/* ---- macros ---- */

static const char *blanks_skip(const char *at)
{
	for (;;) {
		const char *end;

		at += strspn(at, " \t");
		if (strncmp(at, "/*", 2) != 0)
			return at;
		end = strstr(at + 2, "*/");
		at = end ? end + 2 : at + strlen(at);
	}
}

static size_t name_length(const char *at)
{
	size_t n = 0;

	if (isdigit((unsigned char)*at))
		return 0;
	while (isalnum((unsigned char)at[n]) || at[n] == '_')
		n++;
	return n;
}

static struct fortran_macro *macro_find(const struct fortran_macros *m, const char *name, size_t n)
{
	struct fortran_macro *macro;

	HASH_FIND(hh, m->list, name, n, macro);
	return macro;
}

static void macro_undefine(struct fortran_macros *m, const char *name, size_t n)
{
	struct fortran_macro *macro = macro_find(m, name, n);

	if (!macro)
		return;
	HASH_DEL(m->list, macro);
	free(macro->value);
	free(macro);
}

static void macro_define(struct fortran_macros *m, const char *name, size_t n, const char *value)
{
	struct fortran_macro *macro;

	macro_undefine(m, name, n);
	if (n == 0)
		return;
	macro = memory_new(1, sizeof(*macro) + n + 1);
	memcpy(macro->name, name, n);
	macro->value = memory_copy(value);
	HASH_ADD_KEYPTR(hh, m->list, macro->name, n, macro);
}

/* "NAME=VALUE" of a flag. */
static void flag_take(struct fortran_macros *m, char kind, const char *text)
{
	size_t n = name_length(text);

	if (kind == 'U')
		macro_undefine(m, text, n);
	else
		macro_define(m, text, n, text[n] == '=' ? text + n + 1 : "1");
}

static void flags_take(struct fortran_macros *m, const char *flags)
{
	char *text = memory_copy(flags), *rest = text, *word;
	char kind = 0; /* of a flag whose text is the next word */

	while ((word = strsep(&rest, " \t\n"))) {
		if (!*word)
			continue;
		if (kind)
			flag_take(m, kind, word);
		else if (strcmp(word, "-fopenmp") == 0)
			flag_take(m, 'D', "_OPENMP=201511");
		else if (strncmp(word, "-D", 2) == 0 || strncmp(word, "-U", 2) == 0) {
			if (!word[2]) {
				kind = word[1];
				continue;
			}
			flag_take(m, word[1], word + 2);
		}
		kind = 0;
	}
	free(text);
}

struct fortran_macros *fortran_macros_new(const char *flags)
{
	static const char *const always = "-D__GFORTRAN__ -D__GNUC__=12 -Dlinux -D__linux__ "
					  "-Dunix -D__unix__"
#ifdef __LP64__
					  " -D_LP64 -D__LP64__"
#endif
#ifdef __x86_64__
					  " -D__x86_64__"
#endif
#ifdef __aarch64__
					  " -D__aarch64__"
#endif
		;
	struct fortran_macros *m = memory_new(1, sizeof(*m));

	m->known = flags != NULL;
	flags_take(m, always);
	if (flags)
		flags_take(m, flags);
	return m;
}

void fortran_macros_free(struct fortran_macros *macros)
{
	while (macros->list)
		macro_undefine(macros, macros->list->name, strlen(macros->list->name));
	free(macros);
}

/* Is the line this word, and more behind it? *@rest is that. */
static bool is_word(const char *line, const char *word, const char **rest)
{
	size_t n = strlen(word);

	if (name_length(line) != n || strncmp(line, word, n) != 0)
		return false;
	*rest = blanks_skip(line + n);
	return true;
}

void fortran_macros_take(struct fortran_macros *m, const char *line)
{
	const char *rest;

	if (is_word(line, "undef", &rest))
		macro_undefine(m, rest, name_length(rest));
	else if (is_word(line, "define", &rest))
		macro_define(m, rest, name_length(rest), rest + name_length(rest));
}

/* Is the whole word one of types? */
static bool is_type(const char *text)
{
	static const char *const words[] = {"integer", "real", "complex",   "logical", "double",
					    "byte",    "type", "character", "class"};
	size_t n = name_length(text);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == n && strncasecmp(text, words[i], n) == 0)
			return true;
	return false;
}

int fortran_macros_type(const struct fortran_macros *m, const char *text)
{
	const struct fortran_macro *macro;

	for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
		macro = macro_find(m, text, name_length(text));
		if (!macro)
			return depth > 0 && is_type(text);
		text = blanks_skip(macro->value);
	}
	return false;
}

/* ---- conditions ---- */

static long expression(struct fortran_condition *c, unsigned least);

/* What a macro stands for; nothing is 0. */
static long macro_value(struct fortran_condition *c, const char *name, size_t n)
{
	const struct fortran_macro *macro = macro_find(c->macros, name, n);
	struct fortran_condition of = *c;
	long value;

	if (!macro)
		return 0;
	of.at = macro->value;
	of.depth++;
	value = expression(&of, 0);
	c->wrong |= of.wrong || *blanks_skip(of.at);
	return value;
}

/* Behind "defined". */
static long is_defined(struct fortran_condition *c)
{
	bool brackets;
	size_t n;
	long value;

	c->at = blanks_skip(c->at);
	brackets = *c->at == '(';
	if (brackets)
		c->at = blanks_skip(c->at + 1);
	n = name_length(c->at);
	value = macro_find(c->macros, c->at, n) != NULL;
	c->wrong |= n == 0;
	c->at = blanks_skip(c->at + n);
	if (brackets && *c->at == ')')
		c->at++;
	else
		c->wrong |= brackets;
	return value;
}

static long bracketed(struct fortran_condition *c)
{
	long value = expression(c, 0);

	c->at = blanks_skip(c->at);
	if (*c->at == ')')
		c->at++;
	else
		c->wrong = true;
	return value;
}

static long operand(struct fortran_condition *c)
{
	char sign = *c->at;
	const char *name;
	size_t n;
	char *end;
	long value;

	if (strchr("!-+~(", sign) && sign) {
		c->at++;
		c->depth++;
		if (sign == '(') {
			value = bracketed(c);
		} else {
			c->at = blanks_skip(c->at);
			value = c->depth > DEPTH_MAX || c->wrong ? 0 : operand(c);
			value = sign == '!'   ? !value
				: sign == '-' ? (long)-(unsigned long)value
				: sign == '~' ? ~value
					      : value;
		}
		c->wrong |= c->depth > DEPTH_MAX;
		c->depth--;
		return value;
	}
	if (isdigit((unsigned char)sign)) {
		value = strtol(c->at, &end, 0);
		c->at = end + strspn(end, "uUlL");
		return value;
	}
	name = c->at;
	n = name_length(name);
	c->wrong |= n == 0;
	c->at += n;
	return n == strlen("defined") && strncmp(name, "defined", n) == 0 ? is_defined(c)
									  : macro_value(c, name, n);
}

/* By how they bind. */
static const struct {
	const char *text;
	unsigned binds;
} operators[] = {{"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7},
		 {"<<", 8}, {">>", 8}, {"<", 7},  {">", 7},  {"|", 3},	{"^", 4},
		 {"&", 5},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};

#define OPERATORS (sizeof(operators) / sizeof(operators[0]))

static long operate(struct fortran_condition *c, const char *op, long a, long b)
{
	unsigned long x = (unsigned long)a, y = (unsigned long)b;

	switch (op[0]) {
	case '|':
		return op[1] ? a || b : a | b;
	case '&':
		return op[1] ? a && b : a & b;
	case '=':
		return a == b;
	case '!':
		return a != b;
	case '<':
		return op[1] == '<' ? (long)(x << (y & 63)) : op[1] ? a <= b : a < b;
	case '>':
		return op[1] == '>' ? a >> (y & 63) : op[1] ? a >= b : a > b;
	case '^':
		return a ^ b;
	case '+':
		return (long)(x + y);
	case '-':
		return (long)(x - y);
	case '*':
		return (long)(x * y);
	default:
		break;
	}
	if (b == 0 || b == -1) {
		c->wrong |= b == 0 && !c->idle;
		return op[0] == '/' ? (long)-x : 0;
	}
	return op[0] == '/' ? a / b : a % b;
}

/* What is behind @op, which does not matter if @a decides alone. */
static long right_side(struct fortran_condition *c, const char *op, long a, unsigned binds)
{
	bool idle = c->idle;
	long value;

	c->idle |= strcmp(op, a ? "||" : "&&") == 0;
	value = expression(c, binds + 1);
	c->idle = idle;
	return value;
}

/* As far as operators bind as strongly as @least. */
static long expression(struct fortran_condition *c, unsigned least)
{
	long value;

	if (c->depth > DEPTH_MAX || ++*c->steps > STEPS_MAX)
		c->wrong = true;
	if (c->wrong)
		return 0;
	c->at = blanks_skip(c->at);
	value = operand(c);
	while (!c->wrong) {
		size_t i = 0;

		c->at = blanks_skip(c->at);
		while (i < OPERATORS &&
		       strncmp(c->at, operators[i].text, strlen(operators[i].text)) != 0)
			i++;
		if (i == OPERATORS || operators[i].binds < least)
			break;
		c->at += strlen(operators[i].text);
		value = operate(c, operators[i].text, value,
				right_side(c, operators[i].text, value, operators[i].binds));
	}
	return value;
}

int fortran_macros_hold(const struct fortran_macros *m, const char *line)
{
	unsigned steps = 0;
	struct fortran_condition c = {.macros = m, .steps = &steps};
	long value;

	if (is_word(line, "ifdef", &c.at) || is_word(line, "ifndef", &c.at)) {
		bool is = macro_find(m, c.at, name_length(c.at)) != NULL;

		return !m->known || is == (strncmp(line, "ifdef", 5) == 0);
	}
	if (!is_word(line, "if", &c.at) && !is_word(line, "elif", &c.at))
		return true;
	/* a number says the same everywhere */
	if (!m->known && !isdigit((unsigned char)*c.at))
		return true;
	value = expression(&c, 0);
	return c.wrong || *blanks_skip(c.at) || value != 0;
}
