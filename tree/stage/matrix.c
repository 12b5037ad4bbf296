/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix: who sends how much to whom, by process, or by node where the processes' nodes are
 * known. */
#include "tree/stage/stage.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "tree/stage/fold.h"
#include "tree/stage/message.h"

/* Most bytes of an argument: the longest has 8. */
#define WORD_BYTES 16

/* A process, and a name of its thread. */
struct matrix_rank {
	int32_t rank;
	uint32_t name;
	UT_hash_handle hh;
};

struct matrix {
	struct fold fold;
	bool by_rank, by_node; /* neither: by the level */
	bool received;	       /* count received messages instead of sent ones */
	struct matrix_rank *ranks;
	size_t seen; /* number of names looked at */
};

static inline struct matrix *matrix_of(struct stage *s)
{
	return (struct matrix *)(void *)s->private;
}

static int matrix_option(struct matrix *m, const char *word, const char *what)
{
	bool by = strcmp(word, "by") == 0, of = strcmp(word, "of") == 0;

	if (by && strcmp(what, "rank") == 0 && !m->by_node)
		m->by_rank = true;
	else if (by && strcmp(what, "node") == 0 && !m->by_rank)
		m->by_node = true;
	else if (of && strcmp(what, "receives") == 0)
		m->received = true;
	else
		return of && strcmp(what, "sends") == 0 && !m->received ? 0 : -1;
	return 0;
}

static int matrix_init(struct stage *s, const char *args, struct error *e)
{
	const char *rest = args;
	char word[WORD_BYTES], what[WORD_BYTES];

	while (fold_word(&rest, word, sizeof(word))) {
		if (!fold_word(&rest, what, sizeof(what)) ||
		    matrix_option(matrix_of(s), word, what) < 0)
			return errorf(
				e,
				"`matrix %.60s` is not understood; write `matrix`, then `of sends` "
				"or `of receives`, `by rank` or `by node` as wanted",
				args);
	}
	if (!matrix_of(s)->by_rank && s->level >= LEVEL_NODE)
		matrix_of(s)->by_node = true;
	return 0;
}

static void matrix_fini(struct stage *s)
{
	struct matrix *m = matrix_of(s);
	struct matrix_rank *r, *next;

	HASH_ITER(hh, m->ranks, r, next)
	{
		HASH_DEL(m->ranks, r);
		free(r);
	}
	fold_fini(&m->fold);
}

/* ---- who is where ---- */

/* Add the names that were learnt since the last wave. */
static void residents_learn(struct stage *s)
{
	struct matrix *m = matrix_of(s);

	for (; m->seen < names_count(s->names); m->seen++) {
		const struct name *n = names_at(s->names, m->seen);
		struct matrix_rank *r;

		if (n->rank < 0)
			continue;
		HASH_FIND(hh, m->ranks, &n->rank, sizeof(n->rank), r);
		if (!r) {
			r = memory_new(1, sizeof(*r));
			r->rank = n->rank;
			HASH_ADD(hh, m->ranks, rank, sizeof(r->rank), r);
		}
		r->name = n->id;
	}
}

/* Replace the process @end by its node, if that is known. A name is replaced by its node's. */
static void end_fold(struct stage *s, uint32_t *end, uint32_t *named, uint32_t bit)
{
	int32_t rank = (int32_t)*end;
	uint32_t id = *end, node;

	if (!(*named & bit)) {
		struct matrix_rank *r;

		HASH_FIND(hh, matrix_of(s)->ranks, &rank, sizeof(rank), r);
		if (!r)
			return;
		id = r->name;
	}
	node = names_group(s->names, id, LEVEL_NODE);
	if (node == 0)
		return;
	*end = node;
	*named |= bit;
}

/* ---- cells ---- */

/* Fold the ends as this stage does. */
static void cell_key(struct stage *s, void *record, uint32_t name, uint64_t key[2])
{
	struct cell *cell = record;

	if (matrix_of(s)->by_node) {
		residents_learn(s);
		end_fold(s, &cell->from, &cell->named, CELL_FROM_NAMED);
		end_fold(s, &cell->to, &cell->named, CELL_TO_NAMED);
	}
	group_key_of(key, name, cell->named, (uint64_t)cell->from << 32 | cell->to);
}

/* The process that wrote the run: its number, or its name if it has no number in this world. */
static uint32_t writer_of(struct stage *s, const struct run_view *view, bool *named)
{
	const struct name *n = names_find(s->names, view->run->element);

	*named = !n || n->rank < 0;
	return *named ? view->run->element : (uint32_t)n->rank;
}

static void take_tuples(struct stage *s, const struct run_view *view, uint32_t name)
{
	struct matrix *m = matrix_of(s);
	struct part *part = fold_part(&m->fold);
	bool foreign;
	uint32_t self = writer_of(s, view, &foreign);

	for (unsigned i = 0; i < view->run->count; i++) {
		const struct tuple *t = &view->tuples[i];
		enum message message = message_of(t);
		struct cell cell = {.calls = 1, .bytes = t->bytes};
		int32_t peer = t->peer;
		uint64_t key[2];

		if (message == MESSAGE_NONE || (message == MESSAGE_RECEIVED) != m->received) {
			part->filtered++;
			continue;
		}
		/* ranks of a spawned world are not those of the first one */
		if (foreign && peer >= 0)
			peer = TUPLE_FOREIGN_PEER - peer;
		cell.from = message == MESSAGE_SENT ? self : (uint32_t)peer;
		cell.to = message == MESSAGE_SENT ? (uint32_t)peer : self;
		if (foreign)
			cell.named = message == MESSAGE_SENT ? CELL_FROM_NAMED : CELL_TO_NAMED;
		cell_key(s, &cell, name, key);
		fold_put(&m->fold, RUN_CELLS, key, &cell);
		part->reduced++;
	}
}

static const struct fold_ops cell_ops = {
	.tuples = take_tuples,
	.key = cell_key,
};

static int matrix_apply(struct stage *s, const struct ask *ask, struct batch *b)
{
	return fold_apply(s, &cell_ops, ask, b);
}

const struct stage_ops matrix_ops = {
	.name = "matrix",
	.op = OP_EVSPACE_MATRIX,
	.traits = {.folds = true, .makes = RUN_CELLS, .records = STAGE_CLASSES, .bytes = 34},
	.size = sizeof(struct matrix),
	.init = matrix_init,
	.apply = matrix_apply,
	.fini = matrix_fini,
};
