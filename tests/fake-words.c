/* SPDX-License-Identifier: BSD-3-Clause */
/* What a fake agent says in its answers. */
#include "tests/fake-words.h"

#include <stdio.h>

#include "tests/fake.h"
#include "tree/data/clock.h"
#include "tree/data/names.h"
#include "tree/data/op.h"

void fake_words_run(struct batch *b, struct part *part, uint32_t leaf, unsigned e, uint64_t from,
		    uint64_t to, uint64_t lost)
{
	struct tuple *t;

	if (from == to && lost == 0)
		return;
	t = batch_add(b, RUN_TUPLES, name_id(leaf, e), from, (uint32_t)(to - from), lost);
	for (uint64_t n = from; n < to; n++, t++)
		*t = (struct tuple){.start = n,
				    .end = n + 1,
				    .bytes = n * 100 + leaf * 10 + e,
				    .op = op_find("MPI_Send"),
				    .peer = 1,
				    .comm = 7};
	part->read += to - from;
	part->lost += lost;
}

void fake_words_names(Evspace__Answer *a)
{
	static Evspace__Name names[FAKE_LEAVES * FAKE_ELEMENTS];
	static Evspace__Name *list[FAKE_LEAVES * FAKE_ELEMENTS];
	static char texts[FAKE_LEAVES * FAKE_ELEMENTS][64];
	static Evspace__Comm comm, *comms[1] = {&comm};
	static int32_t members[] = {0, 2, 4};
	size_t n = 0;

	for (uint32_t leaf = 1; leaf <= FAKE_LEAVES; leaf++) {
		for (uint32_t e = 0; e < FAKE_ELEMENTS; e++, n++) {
			evspace__name__init(&names[n]);
			names[n].id = name_id(leaf, e);
			names[n].rank = (int32_t)leaf - 1;
			names[n].channel = e;
			snprintf(texts[n], sizeof(texts[n]), "/c/n%u/rank%u/t0/%s", leaf, leaf - 1,
				 channel_name(e));
			names[n].text = texts[n];
			list[n] = &names[n];
		}
	}
	evspace__comm__init(&comm);
	comm.id = 7;
	comm.size = comm.n_members = 3;
	comm.members = members;
	a->names = list;
	a->n_names = n;
	a->comms = comms;
	a->n_comms = 1;
}

void fake_words_miss(Evspace__Answer *a, Evspace__Missing *missing, uint32_t leaf, unsigned why,
		     uint64_t since_ns)
{
	Evspace__Missing *m = &missing[a->n_missing];

	evspace__missing__init(m);
	m->leaf = leaf;
	m->why = why;
	m->since_ms = (clock_mono_ns() - since_ns) / 1000000;
	a->missing[a->n_missing++] = m;
}
