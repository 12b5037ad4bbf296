/* SPDX-License-Identifier: BSD-3-Clause */
/* Directives: const tables of the statements of map files, which check and apply them. */
#ifndef EVSPACE_DIRECTIVE_H
#define EVSPACE_DIRECTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "pathmap/grammar/statement.h"

/** Most rows of a table. */
#define DIRECTIVES_MAX 64

/** The `most` of a directive that takes any number of words. */
#define DIRECTIVE_ANY (SIZE_MAX - 1)

/** The `most` of a directive that is a keyword alone. */
#define DIRECTIVE_BARE SIZE_MAX

/** May a directive have a block? */
enum body { BODY_NONE, BODY_OPTIONAL, BODY_REQUIRED };

struct reader;

/** One keyword in some blocks (other rows may have it for other blocks). The row checks number
 * and place of words; `apply` does the rest. */
struct directive {
	const char *usage; /* its syntax, which begins with the keyword; for diagnostics */
	unsigned contexts; /* bits: the blocks that may have it */
	size_t least,
		most; /* number of words after the keyword; 0: one, and no more than `least` */
	enum body body;
	bool once; /* at most once in its block */
	void (*apply)(struct reader *reader, void *target, const struct statement *statement);
};

/** One map file being read: its table, and what all rows work on besides their target. The
 * caller sets the fields up to `unknown`. */
struct reader {
	const struct mapfile *source;
	struct diagnostics *diagnostics;
	const struct directive *table;
	size_t n_table;
	const char *const *contexts; /* the contexts' names by bit number, ended by NULL */
	void *map;		     /* the whole map being made */
	/* Complain of a word that is no directive, if there is something better to say than which
	 * are; returns whether it has. NULL: there is not. */
	bool (*unknown)(struct reader *reader, unsigned context, const struct word *word);
	struct statement *statements;
	size_t n_statements;
	size_t before; /* number of diagnostics before this file */
};

/** Read the whole file, and apply the statements outside blocks to @target: they are those of the
 * block @context (of a map 0). Statements are valid until reader_end(), which must follow. */
void reader_begin(struct reader *reader, unsigned context, void *target);

/** Are there no diagnostics about this file so far? */
bool reader_is_clean(const struct reader *reader);

/** Free the statements. */
void reader_end(struct reader *reader);

/** Check @n statements of the block @context (a bit number), and apply those that are valid to
 * @target. The others become diagnostics. */
void directives_apply(struct reader *reader, unsigned context, const struct statement *statements,
		      size_t n, void *target);

/** Add a diagnostic about a word of a statement. */
void reader_complain(struct reader *reader, const struct word *word, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** The same, at character @at of the word. */
void reader_complain_at(struct reader *reader, const struct word *word, size_t at,
			const char *format, ...) __attribute__((format(printf, 4, 5)));

/** The one of the @n words (NULL entries are skipped) that @word was probably meant to be, or
 * NULL. */
const char *word_nearest(const char *word, const char *const *words, size_t n);

/** Add a diagnostic about a word that is none of the @n allowed ones (NULL entries are skipped):
 * "unknown WHAT `WORD`", and which was probably meant, or all of them. */
void reader_complain_unknown(struct reader *reader, const struct word *word, const char *what,
			     const char *const *words, size_t n);

#endif
