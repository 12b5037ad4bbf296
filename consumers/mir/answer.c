/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of MIR as text: what stands for a character that XML has for itself, or not at all. */
#include "consumers/mir/answer.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/utf8.h"

/* One character, of @n bytes; 0: it is none. */
static void character_write(FILE *out, const char *text, size_t n)
{
	static const char *const others[] = {
		['<'] = "&lt;",	 ['>'] = "&gt;",   ['&'] = "&amp;", ['"'] = "&quot;",
		['\t'] = "&#9;", ['\n'] = "&#10;", ['\r'] = "&#13;"};
	unsigned char c = (unsigned char)*text;

	if (n == 1 && c < sizeof(others) / sizeof(others[0]) && others[c])
		fputs(others[c], out);
	else if (n == 0 || utf8_is_control(text, n) ||
		 (n == 3 && strncmp(text, "\xef\xbf\xbe", 2) == 0 && text[2] >= '\xbe'))
		fputc('?', out);
	else
		fwrite(text, 1, n, out);
}

void answer_text(FILE *out, const char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		size_t n = utf8_length(text, left);

		character_write(out, text, n);
		text += n ? n : 1;
		left -= n ? n : 1;
	}
}

void answer_attribute(FILE *out, const char *name, const char *value)
{
	fprintf(out, " %s=\"", name);
	answer_text(out, value);
	fputc('"', out);
}

void answer_comment(FILE *out, const char *what, const char *text)
{
	char *clean = memory_copy(text);

	/* no "--" may be in a comment */
	for (char *p = clean; *p; p++)
		if (*p == '-' && (p[1] == '-' || !p[1]))
			*p = '_';
	fprintf(out, "<!-- %s: ", what);
	answer_text(out, clean);
	fputs(" -->", out);
	free(clean);
}

void answer_missing(FILE *out, const char *host, const char *why)
{
	/* ">" is escaped, so that nothing in it ends it */
	fputs("<?missing", out);
	answer_attribute(out, "host", host);
	answer_attribute(out, "why", why);
	fputs("?>", out);
}

void answer_errors(FILE *out, const struct mir_request *request)
{
	fputs("<errors>", out);
	for (size_t i = 0; i < request->n_faults; i++) {
		const struct mir_fault *f = &request->faults[i];

		fputs("<error>", out);
		if (f->place.line > 0)
			fprintf(out, "line %u, column %u", f->place.line, f->place.column);
		else
			fputs("the document", out);
		if (f->place.element[0]) {
			fputs(", element ", out);
			answer_text(out, f->place.element);
		}
		fputs(": ", out);
		answer_text(out, f->text);
		fputs("</error>", out);
	}
	fputs("</errors>\n", out);
}
