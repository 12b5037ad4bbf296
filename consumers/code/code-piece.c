/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of text, in the order of their places. */
#include "consumers/code/code-piece.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"

void code_piece_add(struct code_pieces *pieces, size_t at, long rank, char *text)
{
	pieces->items = memory_room(pieces->items, pieces->n, sizeof(*pieces->items));
	pieces->items[pieces->n++] = (struct code_piece){.at = at, .rank = rank, .text = text};
}

void code_piece_replace(struct code_pieces *pieces, size_t at, size_t cut, char *text)
{
	code_piece_add(pieces, at, 0, text);
	pieces->items[pieces->n - 1].cut = cut;
}

static int pieces_compare(const void *a, const void *b)
{
	const struct code_piece *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

char *code_pieces_join(struct code_pieces *pieces, const struct code_text *code)
{
	char *text = NULL;
	size_t bytes, at = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		abort();
	if (pieces->n > 0)
		qsort(pieces->items, pieces->n, sizeof(*pieces->items), pieces_compare);
	for (size_t i = 0; i < pieces->n; i++) {
		const struct code_piece *p = &pieces->items[i];

		fwrite(code->text + at, 1, p->at - at, out);
		fputs(p->text, out);
		at = p->at + p->cut;
	}
	fwrite(code->text + at, 1, code->n - at, out);
	if (fclose(out) != 0)
		abort();
	return text;
}

void code_pieces_fini(struct code_pieces *pieces)
{
	for (size_t i = 0; i < pieces->n; i++)
		free(pieces->items[i].text);
	free(pieces->items);
	*pieces = (struct code_pieces){.n = 0};
}

char *code_path_quote(const char *path)
{
	char *quoted = memory_new(2 * strlen(path) + 1, 1), *to = quoted;

	for (; *path; path++) {
		if (*path == '"' || *path == '\\')
			*to++ = '\\';
		*to++ = *path;
	}
	return quoted;
}
