/* SPDX-License-Identifier: BSD-3-Clause */
/* The tuples of elements that several archives have: each once, in order, with holes named. */
#ifndef EVSPACE_MERGED_H
#define EVSPACE_MERGED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "pathmap/base/interval.h"
#include "tree/data/batch.h"

/** Tuples that wait for those before them, which another archive has. */
struct merged_held;

/** When a tuple was written, and how far that may be off. */
struct merged_mark {
	uint64_t number;
	int64_t ns;
	double error_ns;
	bool known;
};

/** An element by its name, whichever archives have it. */
struct merged_element {
	struct merged_element *same; /* as this one, which has all of it; NULL: it is itself */
	uint32_t id;		     /* in the merged archive, … */
	uint32_t leaf;		     /* … of this leaf there */
	uint64_t born;		     /* as struct name's, of the first that says it */
	struct interval_set have, discarded;
	uint64_t next; /* all before it are given, or are in no archive */
	uint64_t end;  /* behind the last one that came, is lost or is discarded */
	struct merged_mark first, newest; /* of a program's own: tuples that are known */
	bool begun;
	TAILQ_HEAD(merged_list, merged_held) held;
	STAILQ_ENTRY(merged_element) entry;
};

/** A name of an element. */
struct merged_name;

/** All elements. merged_init(), merged_fini(). */
struct merged {
	struct merged_name *names;
	STAILQ_HEAD(, merged_element) elements;
	uint64_t holes; /* tuples that are in no archive */
};

/** Tuples that are given, or a hole. */
struct merged_piece {
	const struct clock_line *line; /* of the tuples */
	const void *tuples;	       /* NULL: a hole before `first` */
	size_t bytes;		       /* of each */
	const struct typed_word *head; /* of a program's own element: what says their type; else
					* NULL: struct tuple */
	uint32_t head_words;
	uint64_t first, count;
	bool discarded; /* the hole */
};

typedef void merged_give(void *arg, struct merged_element *of, const struct merged_piece *piece);

void merged_init(struct merged *m);

/** The element with this name, which is added if there is none. */
struct merged_element *merged_get(struct merged *m, const char *text);

/** The element is also called @text. If there is one of that name, both are the same, and what was
 * noted of either is of that one; no run was taken yet. Returns it. */
struct merged_element *merged_call(struct merged *m, struct merged_element *of, const char *text);

/** Which element it is now that names are known. */
struct merged_element *merged_self(struct merged_element *of);

/** An archive has the run of tuples, by @line. All runs of all archives are noted before any is
 * taken. Returns whether that can be: a program's own element that was made anew has other tuples
 * of the same numbers, which nobody can tell apart. */
bool merged_note(struct merged_element *of, const struct run_view *run,
		 const struct clock_line *line);

/** Give what of the run was not given yet, with the holes before it that no archive fills, to
 * @give; what others have to fill first is kept until they have. */
void merged_take(struct merged *m, struct merged_element *of, const struct run_view *run,
		 const struct clock_line *line, merged_give *give, void *arg);

/** All runs were taken: give what is left, and the holes at the ends. */
void merged_end(struct merged *m, merged_give *give, void *arg);

void merged_fini(struct merged *m);

#endif
