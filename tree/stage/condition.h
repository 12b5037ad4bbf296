/* SPDX-License-Identifier: BSD-3-Clause */
/* A condition of a filter on a key of tuples, "bytes>=1k". */
#ifndef EVSPACE_CONDITION_H
#define EVSPACE_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "pathmap/model/pattern.h"
#include "tree/data/clock.h"
#include "tree/data/fields.h"
#include "tree/data/names.h"
#include "tree/data/tuple.h"

enum condition_key {
	KEY_OP,
	KEY_CHANNEL,
	KEY_COMM,
	KEY_PEER,
	KEY_TAG,
	KEY_BYTES,
	KEY_DURATION, /* in ns */
	KEY_RANK,     /* of the thread that wrote the tuple */
	KEY_NAME,     /* of the element */
	KEY_FIELD,    /* of a tuple of a program's own element */
	KEY_LABEL,    /* of a region or phase of the program (evspace.h) */
	KEY_COUNT,
};

enum condition_relation { EQUAL, UNEQUAL, LESS, AT_MOST, MORE, AT_LEAST };

/** How many numbers, ranges or words a value may list. */
#define CONDITION_RANGES 24

/** A checked condition. Plain data. */
struct condition {
	enum condition_key key;
	enum condition_relation relation;
	bool world; /* for KEY_COMM: the program's world communicator is included */
	unsigned n;
	struct {
		uint64_t first, last;
	} ranges[CONDITION_RANGES]; /* if ordered, the number to compare with is ranges[0].first */
	/* for KEY_NAME and KEY_LABEL; for KEY_FIELD the values as text, and … */
	char pattern[NAME_BYTES];
	char field[FIELDS_NAME];
	double numbers[CONDITION_RANGES]; /* … as numbers, NaN if they are none */
};

/** What the conditions of a filter are checked against. */
struct condition_subject {
	const struct names *names;
	const struct name *name; /* of the element, NULL while it is unknown */
	const struct clock_line *line;
	const struct tuple *tuple;
};

/** Read the condition at *@text, with or without blanks around its relation, and move *@text past
 * it and the blanks after it. Returns 0, or -1 with @e, which says what is valid. */
int condition_parse(struct condition *c, const char **text, struct error *e);

/** Does it use subject->name? */
bool condition_wants_name(const struct condition *c);

/** Does it depend on the element alone, so that it holds for all tuples of a run or none? */
bool condition_on_element(const struct condition *c);

/**
 * Does it hold? It never does, whatever the relation, if the tuple has no such key: rank and name
 * while its element is unknown or above ranks, peer (collectives), tag (all but point-to-point),
 * duration (under way), label (all but regions and phases). One on a field always does, as it is
 * about other tuples.
 */
bool condition_holds(const struct condition *c, const struct condition_subject *subject);

/** Does one on a field hold for a tuple of @fields, of an array for any of its values? It does not
 * if there is no such field, and all other conditions do, as they are about other tuples. */
bool condition_holds_typed(const struct condition *c, const struct fields *fields,
			   const void *tuple);

#endif
