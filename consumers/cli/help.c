/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills the lines of help texts, which are written as the sources have room for them. */
#include "consumers/cli/help.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 80

/* What stands behind the name of an option or column begins no further right. */
#define HANG_MOST 24

/* With less, but some, a line is an example: it is no paragraph with the next one. */
#define INDENT_LEAST 8

struct fill {
	char line[512];
	size_t hang; /* where its words begin, and go on */
	bool open;   /* words of the line before are in it, which the next one may follow */
};

static size_t hang_of(const char *line)
{
	size_t indent = strspn(line, " "), i;

	for (i = indent; i < HANG_MOST && line[i]; i++) {
		size_t gap = strspn(line + i, " ");

		if (gap > 1 && line[i + gap] != '#')
			return i + gap;
	}
	return indent;
}

/* The space at which the line can be broken best, 0: it fits, or there is none. What is to be
 * pasted is broken before its comment. */
static size_t break_of(const struct fill *f)
{
	const char *comment = strstr(f->line, " # ");
	size_t column = 0, at = 0, i;

	for (i = 0; f->line[i] && column <= WIDTH; i++) {
		if (f->line[i] == ' ' && i > f->hang)
			at = i;
		column += ((unsigned char)f->line[i] & 0xc0) != 0x80;
	}
	if (column > WIDTH && comment && comment >= f->line + f->hang)
		at = (size_t)(comment - f->line);
	return column > WIDTH ? at : 0;
}

static void fill_break(struct fill *f)
{
	char rest[sizeof(f->line)];
	size_t at, end;

	f->open = false;
	while ((at = break_of(f)) > 0) {
		for (end = at; end > 0 && f->line[end - 1] == ' '; end--)
			;
		printf("%.*s\n", (int)end, f->line);
		snprintf(rest, sizeof(rest), "%s", f->line + at + 1);
		snprintf(f->line, sizeof(f->line), "%*s%.400s", (int)f->hang, "", rest);
		f->open = true;
	}
	if (!f->open)
		puts(f->line);
}

static void fill_line(struct fill *f, const char *line, size_t n)
{
	size_t indent = strspn(line, " "), used = strlen(f->line);
	bool paragraph = indent == 0 || indent >= INDENT_LEAST;

	if (f->open && n > 0 && paragraph && indent == f->hang) {
		snprintf(f->line + used, sizeof(f->line) - used, " %.*s", (int)(n - indent),
			 line + indent);
	} else {
		if (f->open)
			puts(f->line);
		snprintf(f->line, sizeof(f->line), "%.*s", (int)n, line);
		f->hang = hang_of(f->line);
	}
	fill_break(f);
}

void help_print(const char *text)
{
	struct fill f = {.open = false};
	size_t n;

	for (; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		fill_line(&f, text, n);
	}
	if (f.open)
		puts(f.line);
}
