/* SPDX-License-Identifier: BSD-3-Clause */
/* A child of a hop that answers what the case says. */
#include "tests/hop-sayer.h"

#include <stdio.h>
#include <string.h>

Evspace__Answer hop_sayer_said;
struct batch hop_sayer_body;
unsigned hop_sayer_times;
uint64_t hop_sayer_off; /* what it says of another wave than is asked for */

struct hop_sayer_done hop_sayer_done;

static void hop_sayer_frame(struct watch *watch, struct link *link, const struct frame *frame)
{
	const Evspace__Frame *f = frame->header;
	struct run_view view;

	if (f->kind_case != EVSPACE__FRAME__KIND_ASK) {
		hop_bed_child_frame(watch, link, frame);
		return;
	}
	hop_sayer_said.scope = f->ask->scope;
	hop_sayer_said.wave = f->ask->wave;
	for (struct batch_cursor c = {0}; batch_next_part(&hop_sayer_body, &c, &view);)
		view.run->first = f->ask->wave + hop_sayer_off;
	for (unsigned i = 0; i < hop_sayer_times; i++)
		CU_ASSERT_EQUAL(link_send(link, &WIRE_FRAME(ANSWER, answer, &hop_sayer_said),
					  &hop_sayer_body),
				0);
}

static void wave_late(void *arg, struct wave *w, size_t input)
{
	struct hop_bed *bed = arg;

	(void)input;
	hop_miss(bed->hop, w, true);
}

static void wave_done(void *arg, struct wave *w)
{
	struct batch_cursor c = {0};
	struct run_view view;

	(void)arg;
	hop_sayer_done.base_ns =
		batch_next_part(&w->batch, &c, &view) ? view.part->clock.base_ns : 0;
	hop_sayer_done.waves++;
	hop_sayer_done.leaves = w->leaves;
	hop_sayer_done.cpu_us = w->cpu_us;
	hop_sayer_done.n_missing = w->n_missing;
	hop_sayer_done.since_ns = w->n_missing ? w->missing[0].since_ns : 0;
	hop_sayer_done.why = w->n_missing ? w->missing[0].why : 0;
	snprintf(hop_sayer_done.text, sizeof(hop_sayer_done.text), "%s",
		 w->n_missing && w->missing[0].text ? w->missing[0].text : "");
}

bool hop_sayer_own;

/* The child is place 3, with leaves 4, 5 and 7, of which the last is below 6. */
void hop_sayer_prepare(struct hop_bed *bed)
{
	static const struct gather_events waves = {.late = wave_late, .done = wave_done};
	static char node[] = "w0", leaf[] = "w1", none[] = "";
	static struct plan_place leaves[3];
	static struct plan_place inner = {.index = 6};
	static struct plan_place *below_inner[] = {&leaves[2]};
	static struct plan_place *below[] = {&leaves[0], &leaves[1], &inner};

	for (uint32_t i = 0; i < 3; i++)
		leaves[i] = (struct plan_place){.index = i < 2 ? 4 + i : 7,
						.leaf = true,
						.own = hop_sayer_own,
						.node = leaf,
						.cluster = none,
						.address = none};
	inner.node = inner.cluster = inner.address = none;
	inner.children = below_inner;
	inner.n_children = 1;
	hop_bed_prepare(bed, hop_sayer_frame, &waves);
	bed->place = (struct plan_place){.index = 3,
					 .node = node,
					 .cluster = none,
					 .address = bed->w.local_address,
					 .children = below,
					 .n_children = 3};
}

void hop_sayer_begin(struct hop_bed *bed)
{
	hop_bed_begin(bed);
	hop_bed_child.opens = HOP_BED_REFUSALS;
	hop_sayer_said = (Evspace__Answer)EVSPACE__ANSWER__INIT;
	batch_init(&hop_sayer_body);
	hop_sayer_times = 1;
	hop_sayer_off = 0;
	hop_sayer_done = (struct hop_sayer_done){0};
	WAIT(&bed->w, hop_ready(bed->hop));
}

void hop_sayer_open(struct hop_bed *bed)
{
	hop_sayer_prepare(bed);
	hop_sayer_begin(bed);
}

/* Ask for a wave. Returns what became of the child: NULL if it is believed. */
const char *hop_sayer_asked(struct hop_bed *bed)
{
	static uint64_t number;
	unsigned waves = hop_sayer_done.waves, way;
	const struct unready *unready;
	Evspace__Ask ask = EVSPACE__ASK__INIT;
	struct wave *w;

	WAIT(&bed->w, hop_ready(bed->hop));
	ask.wave = ++number;
	ask.count = 1;
	ask.deadline_ms = 60000;
	w = gather_begin(bed->scope.gather, ask.wave, false, 0, ask.deadline_ms);
	way = hop_ask(bed->hop, &ask);
	CU_ASSERT_EQUAL_FATAL(way, 1);
	gather_expect(bed->scope.gather, w, 0, way);
	gather_seal(bed->scope.gather, w);
	WAIT(&bed->w, hop_sayer_done.waves > waves);
	return hop_unready(bed->hop, &unready) ? unready->text : NULL;
}

void hop_sayer_close(struct hop_bed *bed)
{
	batch_fini(&hop_sayer_body);
	hop_bed_close(bed);
}
