/* SPDX-License-Identifier: BSD-3-Clause */
/* Where statements go, by their labels and the names of constructs. */
#include "consumers/code/fortran-leave.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/code/fortran-word.h"

static const char *after(const char *text, const char *word)
{
	size_t n = strlen(word);

	return strncmp(text, word, n) == 0 ? text + n : NULL;
}

const char *fortran_action(const struct fortran_statement *statement)
{
	const char *text = statement->text;
	const char *behind = after(text, "if(") ? fortran_closing(text + 2) : NULL;

	return behind && *behind && *behind != '=' && strcmp(behind, "then") != 0 ? behind : text;
}

/* ---- labels ---- */

/* Is the number at @at one that the statement may go to? @action: what it does. */
static bool is_target(const char *text, const char *at, const char *action)
{
	static const char *const words[] = {"err=", "end=", "eor="};
	const char *list;

	/* GOTO 10; GOTO (10, 20), i; IF (x) 10, 20, 30 */
	if (at == action + 4 && after(action, "goto"))
		return true;
	list = after(action, "goto(");
	if (list && at >= list && at < fortran_closing(list - 1))
		return true;
	if (isdigit((unsigned char)*action) && at >= action && action > text)
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (at - text > 4 && strchr("(,", at[-5]) && after(at - 4, words[i]))
			return true;
	/* CALL f(x, *10) */
	return after(action, "call") && at - text > 1 && at[-1] == '*' && strchr("(,", at[-2]);
}

/* The next label that the statement may go to, from *@at on, which is behind it then; 0: none. */
static unsigned target_next(const char *text, const char *action, const char **at)
{
	while (**at) {
		const char *p = *at;

		if (*p == '"' || *p == '\'') {
			p = strchr(p + 1, *p);
			*at = p ? p + 1 : *at + strlen(*at);
			continue;
		}
		if (!isdigit((unsigned char)*p)) {
			++*at;
			continue;
		}
		*at += strspn(p, "0123456789");
		if (is_target(text, p, action))
			return (unsigned)strtoul(p, NULL, 10);
	}
	return 0;
}

static bool has_label(const struct fortran_text *text, const struct fortran_range *region,
		      unsigned label)
{
	for (size_t i = region->first; i <= region->last; i++)
		if (text->statements[i].label == label)
			return true;
	return false;
}

static enum fortran_leaving goes_out(const struct fortran_text *text,
				     const struct fortran_statement *s, const char *action,
				     const struct fortran_range *region)
{
	const char *plain = after(action, "goto"), *at = s->text;
	unsigned label;

	if (plain && isalpha((unsigned char)*plain) && !fortran_assigning(action))
		return FORTRAN_LEAVES_EITHER;
	while ((label = target_next(s->text, action, &at)) > 0)
		if (!has_label(text, region, label))
			return plain && isdigit((unsigned char)*plain) ? FORTRAN_LEAVES
								       : FORTRAN_LEAVES_EITHER;
	return FORTRAN_STAYS;
}

/* ---- constructs ---- */

/* Does a construct of that name begin in the region? */
static bool has_construct(const struct fortran_text *text, const struct fortran_range *region,
			  const char *name)
{
	size_t n = strlen(name);

	for (size_t i = region->first; i <= region->last; i++) {
		const char *at = text->statements[i].text;

		if (strncmp(at, name, n) == 0 && at[n] == ':' && at[n + 1] != ':')
			return true;
	}
	return false;
}

enum fortran_leaving fortran_leave(const struct fortran_text *text, size_t at,
				   const struct fortran_range *region)
{
	const struct fortran_statement *s = &text->statements[at];
	const char *action = fortran_action(s), *name;

	if (s->directive)
		return FORTRAN_STAYS;
	if (after(action, "return") && !fortran_assigning(action))
		return FORTRAN_LEAVES;
	name = after(action, "exit");
	name = name ? name : after(action, "cycle");
	if (name && *name && !fortran_assigning(action))
		return has_construct(text, region, name) ? FORTRAN_STAYS : FORTRAN_LEAVES;
	return goes_out(text, s, action, region);
}

bool fortran_enters(const struct fortran_text *text, size_t at, const struct fortran_range *region)
{
	const struct fortran_statement *s = &text->statements[at];
	const char *action = fortran_action(s), *from = s->text;
	unsigned label;

	if (s->directive)
		return false;
	while ((label = target_next(s->text, action, &from)) > 0)
		if (has_label(text, region, label))
			return true;
	return false;
}
