/* SPDX-License-Identifier: BSD-3-Clause */
/* Directives: what may stand in a map file, where and how, as const tables that check and apply. */
#ifndef EVSPACE_DIRECTIVE_H
#define EVSPACE_DIRECTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "pathmap/grammar/statement.h"

/** Rows that one table may have. */
#define DIRECTIVES_MAX 32

/** The `most` of a directive that takes any number of words. */
#define DIRECTIVE_ANY (SIZE_MAX - 1)

/** May a directive have a block? */
enum body { BODY_NONE, BODY_OPTIONAL, BODY_REQUIRED };

struct reader;

/** One keyword in some blocks (it may have other rows for others). The table checks what can be
 * said of words in general; @apply does the rest. */
struct directive {
	const char *keyword;
	const char *usage;  /* how to write it, as diagnostics show it */
	unsigned contexts;  /* bits: the blocks that it may stand in */
	size_t least, most; /* words behind the keyword */
	enum body body;
	bool once; /* at most once in its block */
	void (*apply)(struct reader *reader, void *target, const struct statement *statement);
};

/**
 * One map file being read: its table, and what its rows work on besides their own target. Its maker
 * sets all down to @map.
 */
struct reader {
	const struct mapfile *source;
	struct diagnostics *diagnostics;
	const struct directive *table;
	size_t n_table;
	const char *const *contexts; /* the contexts' names by bit number, ended by NULL */
	void *map;		     /* the whole of what is being made */
	struct statement *statements;
	size_t n_statements;
	size_t before; /* what was complained of before this file */
};

/**
 * Read all of the file, and apply to @target what stands outside blocks (context number 0).
 * Statements live until reader_end(), which has to follow.
 */
void reader_begin(struct reader *reader, void *target);

/** Has nothing in the file been complained of so far? */
bool reader_is_clean(const struct reader *reader);

/** Free the statements. */
void reader_end(struct reader *reader);

/**
 * Check @n statements that stand in the block @context (a bit number), and apply those that are
 * right to @target. All others are complained of.
 */
void directives_apply(struct reader *reader, unsigned context, const struct statement *statements,
		      size_t n, void *target);

/** Complain of a word of a statement. */
void reader_complain(struct reader *reader, const struct word *word, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** The same with the place @at characters into the word. */
void reader_complain_at(struct reader *reader, const struct word *word, size_t at,
			const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Of the @n words (NULL is none), the one that @word was probably meant to be, or NULL. */
const char *word_nearest(const char *word, const char *const *words, size_t n);

/**
 * Complain of a word that is none of the @n that can be here (NULL is none): "unknown WHAT `WORD`",
 * and which was probably meant, or which there are.
 */
void reader_complain_unknown(struct reader *reader, const struct word *word, const char *what,
			     const char *const *words, size_t n);

#endif
