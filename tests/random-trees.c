/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes leaves with random tuples and joins them in random trees. */
#include "tests/random-trees.h"

#include <stdio.h>
#include <string.h>

#include "tests/random.h"
#include "tests/tap.h"
#include "tree/data/op-table.h"

uint64_t grove_seed;
bool random_trees_folds;

void place_init(struct place *p, uint32_t index)
{
	*p = (struct place){.names = names_new(index)};
	batch_init(&p->batch);
}

void place_fini(struct place *p)
{
	names_free(p->names);
	batch_fini(&p->batch);
}

void place_apply(struct place *p, const struct stage_ops *ops, enum level level, const char *args)
{
	struct error e;
	struct ask ask = {.wave = RANDOM_TREES_WAVE};
	/* whoever folds parts, answers stay the same */
	ask.folds = random_trees_folds && random_below(&grove_seed, 2);
	ask.bare = ask.folds && names_place(p->names) >= RANDOM_TREES_LEAVES;
	struct stage *s = stage_new(ops, level, p->names, args, &e);

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT_EQUAL(s->ops->apply(s, &ask, &p->batch), 0);
	stage_free(s);
}

static struct tuple random_tuple(uint64_t start)
{
	static const uint16_t ops[] = {OP_MPI_SEND, OP_MPI_ISEND, OP_MPI_RECV, OP_MPI_IRECV,
				       OP_MPI_GET};
	struct tuple t = {
		.start = start,
		.end = start + random_below(&grove_seed, 50),
		.bytes = random_below(&grove_seed, 1000),
		.peer = (int32_t)(10 * random_below(&grove_seed, RANDOM_TREES_LEAVES + 1) +
				  random_below(&grove_seed, 3)),
		.comm = 1 + (uint32_t)random_below(&grove_seed, 2),
		.op = ops[random_below(&grove_seed, sizeof(ops) / sizeof(ops[0]))],
	};

	if (random_below(&grove_seed, 10) == 0) {
		t.end = 0;
		t.flags = TUPLE_RUNNING;
	} else if (random_below(&grove_seed, 4) == 0) {
		t.flags = TUPLE_COMPLETION;
	}
	return t;
}

void place_fill(struct place *p, uint32_t index, int same_clock)
{
	struct part *part = batch_add(&p->batch, RUN_PART, index, RANDOM_TREES_WAVE, 1, 0);
	char text[64];

	*part = (struct part){.clock = CLOCK_LINE_NS, .elements = RANDOM_TREES_ELEMENTS};
	if (!same_clock) {
		part->clock.base_ns = (int64_t)random_below(&grove_seed, 1000);
		part->clock.ns_per_tick = 1 + (double)random_below(&grove_seed, 8) / 4;
	}
	for (uint32_t i = 0; i < RANDOM_TREES_ELEMENTS; i++) {
		uint32_t count = (uint32_t)random_below(&grove_seed, 6);
		struct tuple *out = batch_add(&p->batch, RUN_TUPLES, name_id(index, i), 10 * i,
					      count, random_below(&grove_seed, 2));

		for (uint32_t k = 0; k < count; k++)
			out[k] = random_tuple(1000 + random_below(&grove_seed, 100));
		part->read += count;
		snprintf(text, sizeof(text), "/c%u/w%u/rank%u/t%u/p2p", index / 3, index,
			 10 * index + i / 2, i % 2);
		names_learn(p->names, name_id(index, i), LEVEL_ELEMENT,
			    (int32_t)(10 * index + i / 2), 0, text);
	}
}

void place_join(struct place *to, struct place *from)
{
	for (; from->said < names_count(from->names); from->said++) {
		const struct name *n = names_at(from->names, from->said);

		names_learn(to->names, n->id, n->level, n->rank, n->channel, n->text);
	}
	batch_link(&to->batch, &from->batch);
}

void place_copy(struct place *to, const struct place *from)
{
	struct buffer *buffer = buffer_new(from->batch.bytes);
	size_t at = 0;

	for (size_t i = 0; i < from->batch.n; i++) {
		const struct extent *x = &from->batch.extents[i];

		memcpy(buffer->data + at, x->buffer->data + x->at, x->bytes);
		at += x->bytes;
	}
	batch_append(&to->batch, buffer, 0, at);
	buffer_unref(buffer);
	for (size_t i = 0; i < names_count(from->names); i++) {
		const struct name *n = names_at(from->names, i);

		names_learn(to->names, n->id, n->level, n->rank, n->channel, n->text);
	}
}

void random_trees_grow(struct place *places, size_t n, const struct stage_ops *ops,
		       enum level level, const char *args)
{
	uint32_t index = RANDOM_TREES_LEAVES;

	for (size_t i = 0; i < n; i++)
		if (random_below(&grove_seed, 2))
			place_apply(&places[i], ops, random_below(&grove_seed, level + 1), args);
	while (n > 1) {
		size_t a = random_below(&grove_seed, n);
		size_t b = (a + 1 + random_below(&grove_seed, n - 1)) % n;
		struct place inner;

		place_init(&inner, index++);
		place_join(&inner, &places[a]);
		place_join(&inner, &places[b]);
		if (random_below(&grove_seed, 2))
			place_apply(&inner, ops, random_below(&grove_seed, level + 1), args);
		place_fini(&places[a]);
		place_fini(&places[b]);
		places[a] = inner;
		places[b] = places[--n];
	}
	place_apply(&places[0], ops, level, args);
}
