/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces that are written into the text of a source, each at its place. */
#ifndef EVSPACE_CODE_PIECE_H
#define EVSPACE_CODE_PIECE_H

#include "consumers/code/code.h"

/** All of a text. Zeroed, there are none. */
struct code_pieces {
	struct code_piece {
		size_t at;  /* it comes before this byte */
		size_t cut; /* and takes the place of so many */
		long rank; /* at the same place: ends, inner ones first, then begins, outer first */
		char *text;
	} * items;
	size_t n;
};

/** Write @text, which is taken, before the byte @at. */
void code_piece_add(struct code_pieces *pieces, size_t at, long rank, char *text);

/** Write @text, which is taken, instead of the @cut bytes at @at. */
void code_piece_replace(struct code_pieces *pieces, size_t at, size_t cut, char *text);

/** The text of the source with all of them, for the caller to free. */
char *code_pieces_join(struct code_pieces *pieces, const struct code_text *code);

void code_pieces_fini(struct code_pieces *pieces);

/** The path as a string in a directive of a preprocessor, without its quotes, for the caller to
 * free. */
char *code_path_quote(const char *path);

#endif
