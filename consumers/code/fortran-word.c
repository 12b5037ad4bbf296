/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements by their words. Fortran reserves none: what assigns is told by its "=". */
#include "consumers/code/fortran-word.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *after(const char *text, const char *word)
{
	size_t n = strlen(word);

	return strncmp(text, word, n) == 0 ? text + n : NULL;
}

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* A name at @text into @name. Returns what is behind it, or NULL: there is none. */
static const char *name_take(const char *text, char name[64])
{
	size_t n = 0;

	if (!isalpha((unsigned char)*text) && *text != '_')
		return NULL;
	for (; is_letter(text[n]); n++)
		if (n < 63)
			name[n] = text[n];
	name[n < 63 ? n : 63] = '\0';
	return text + n;
}

const char *fortran_assigning(const char *text)
{
	for (const char *at = text; *at; at++) {
		if (*at == '(') {
			at = fortran_closing(at);
			if (!at)
				return NULL;
			at--;
		} else if (*at == '"' || *at == '\'') {
			at = strchr(at + 1, *at);
			if (!at)
				return NULL;
		} else if (strncmp(at, "::", 2) == 0) {
			return NULL;
		} else if (*at == '=') {
			return at > text && at[1] != '=' && !strchr("=<>/", at[-1]) ? at : NULL;
		}
	}
	return NULL;
}

/* Is there a "," outside of parentheses? */
static bool has_comma(const char *text)
{
	for (; *text && *text != ','; text++) {
		if (*text == '(') {
			text = fortran_closing(text);
			if (!text)
				return false;
			text--;
		}
	}
	return *text == ',';
}

/* Behind types and attributes that may stand before "function". */
static const char *prefix_skip(const char *text)
{
	static const char *const words[] = {
		"recursive",	   "nonrecursive", "pure", "elemental", "impure",    "module",
		"doubleprecision", "integer",	   "real", "complex",	"logical",   "character",
		"doublecomplex",   "byte",	   "type", "class",	"attributes"};
	bool any = true;

	while (any && !after(text, "function") && !after(text, "subroutine")) {
		any = false;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !any; i++) {
			const char *next = after(text, words[i]);

			if (!next)
				continue;
			any = true;
			text = next;
			if (*text == '*' && isdigit((unsigned char)text[1]))
				text += 1 + strspn(text + 1, "0123456789");
			else if (*text == '*' && text[1] == '(')
				text++;
			if (*text == '(') {
				next = fortran_closing(text);
				if (!next)
					return text;
				text = next;
			}
		}
	}
	return text;
}

static bool procedure_take(const char *text, struct fortran_word *w)
{
	const char *behind = prefix_skip(text), *name;

	w->kind = FORTRAN_PROCEDURE;
	if ((name = after(behind, "function"))) {
		name = name_take(name, w->name);
		/* arguments are names: "real functions(10)" is an array */
		return name && *name == '(' &&
		       (name[1] == ')' || name[1] == '*' || isalpha((unsigned char)name[1]));
	}
	if ((name = after(behind, "subroutine"))) {
		name = name_take(name, w->name);
		return name && (!*name || *name == '(' || after(name, "bind("));
	}
	if ((name = after(text, "program")) || (name = after(text, "moduleprocedure"))) {
		name = name_take(name, w->name);
		return name && !*name;
	}
	return false;
}

static bool container_take(const char *text, struct fortran_word *w)
{
	const char *name;

	w->kind = FORTRAN_CONTAINER;
	if (strcmp(text, "blockdata") == 0 || after(text, "submodule("))
		return true;
	if (!(name = after(text, "module")) && !(name = after(text, "blockdata")))
		return false;
	name = name_take(name, w->name);
	return name && !*name;
}

static bool interface_take(const char *text, struct fortran_word *w)
{
	w->kind = FORTRAN_INTERFACE;
	if (after(text, "interface") || strcmp(text, "abstractinterface") == 0)
		return true;
	w->kind = FORTRAN_INTERFACE_END;
	return after(text, "endinterface") != NULL;
}

static bool end_take(const char *text, struct fortran_word *w)
{
	static const char *const words[] = {"program",	 "subroutine", "function", "module",
					    "submodule", "procedure",  "blockdata"};
	const char *behind = after(text, "end");

	w->kind = FORTRAN_END;
	if (!behind)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (after(behind, words[i]))
			return true;
	return !*behind;
}

/* The statement behind the name of a construct: "outer: do". */
static const char *construct_skip(const char *text)
{
	char name[64];
	const char *behind = name_take(text, name);

	return behind && behind[0] == ':' && behind[1] != ':' ? behind + 1 : text;
}

static bool do_take(const char *text, struct fortran_word *w)
{
	const char *behind, *equals;
	char variable[64];

	text = construct_skip(text);
	w->kind = FORTRAN_DO_END;
	if ((behind = after(text, "enddo")) && !fortran_assigning(text))
		return true;
	behind = after(text, "do");
	w->kind = FORTRAN_DO;
	if (!behind)
		return false;
	for (; isdigit((unsigned char)*behind) && w->label < 100000; behind++)
		w->label = w->label * 10 + (unsigned)(*behind - '0');
	if (w->label > 0 && *behind == ',')
		behind++;
	snprintf(w->name, sizeof(w->name), "do%s",
		 after(behind, "while(")	? " while"
		 : after(behind, "concurrent(") ? " concurrent"
						: "");
	if (!*behind || w->name[2])
		return true;
	equals = fortran_assigning(behind);
	return equals && name_take(behind, variable) == equals && has_comma(equals);
}

static bool call_take(const char *text, struct fortran_word *w)
{
	const char *then, *name;

	if (after(construct_skip(text), "if(")) {
		then = fortran_closing(strchr(text, '('));
		if (!then || !after(then, "call"))
			return false;
		text = then;
		w->conditional = true;
	}
	name = after(text, "call");
	if (!name || fortran_assigning(text))
		return false;
	w->kind = FORTRAN_CALL;
	while ((name = name_take(name, w->name)) && *name == '%')
		name++;
	/* of an array of objects: who is called is not looked for */
	w->detail = name;
	return name && (!*name || *name == '(');
}

struct fortran_word fortran_word_of(const struct fortran_statement *statement)
{
	static bool (*const takes[])(const char *, struct fortran_word *) = {
		do_take, call_take, interface_take, procedure_take, container_take, end_take};
	const char *equals = fortran_assigning(statement->text);

	for (size_t i = 0; i < sizeof(takes) / sizeof(takes[0]); i++) {
		struct fortran_word w = {.kind = FORTRAN_OTHER};

		/* only loops and what is behind IF have a "=" of their own */
		if ((i > 1 && equals) || !takes[i](statement->text, &w))
			continue;
		return w;
	}
	if (strcmp(statement->text, "contains") == 0)
		return (struct fortran_word){.kind = FORTRAN_CONTAINS};
	return (struct fortran_word){.kind = FORTRAN_OTHER};
}
