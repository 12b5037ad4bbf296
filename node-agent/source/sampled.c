/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at a thread's state line, and writes to its element what the sieve keeps. */
#include "node-agent/source/sampled.h"

#include "node-agent/segment/element-writer.h"
#include "node-agent/segment/segment-read.h"
#include "tree/data/op-table.h"

int sampled_open(struct sampled *k, const char *dir, const struct mirror_plan *plan,
		 struct error *e)
{
	if (mirror_open(&k->mirror, dir, k->file, e) == 0) {
		(void)mirror_note(&k->mirror, &plan->origin);
		return 0;
	}
	return mirror_create(dir, plan, e) < 0 ? -1 : mirror_open(&k->mirror, dir, k->file, e);
}

/* What a window sees of a thread: its operation, or its region, or that it is in none. */
static uint32_t sample_take(struct sampled *k, uint64_t now, struct tuple *t)
{
	if (segment_state(k->thread, t)) {
		k->outside = 0;
	} else if (segment_region(k->thread, t)) {
		k->outside = 0;
	} else {
		k->outside = k->outside ? k->outside : now;
		*t = (struct tuple){
			.start = k->outside, .peer = TUPLE_NO_PEER, .op = OP_EVSPACE_OUTSIDE};
	}
	t->flags &= (uint16_t)~TUPLE_RUNNING;
	t->end = now;
	/* the same clock cannot have started later, but other processors may read it so */
	if (!k->alike || t->start > now)
		t->start = now;
	return t->flags & TUPLE_REGION ? t->seq_or_tag | UINT32_C(1) << 31 : t->op;
}

bool sampled_take(struct sampled *k, uint64_t now)
{
	struct tuple sample, keep[2];
	struct element_writer w;
	bool changed = false;
	unsigned n;

	if (*k->alive) {
		uint32_t event = sample_take(k, now, &sample);

		n = sieve_take(&k->sieve, k->rule, &sample, event, keep, &changed);
	} else {
		n = sieve_end(&k->sieve, keep);
	}
	if (n == 0)
		return changed;
	element_writer_init(&w, k->mirror.ring, k->mirror.capacity);
	for (unsigned i = 0; i < n; i++)
		element_write(&w, &keep[i]);
	return changed;
}

bool sampled_note(struct sampled *k)
{
	struct mirror_origin now = k->mirror.origin;

	if (*k->alive || now.ended)
		return false;
	now.ended = true;
	(void)mirror_note(&k->mirror, &now);
	return true;
}
