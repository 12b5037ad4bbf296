/* SPDX-License-Identifier: BSD-3-Clause */
/* A hop in a world of peers, and the child that it leads to. */
#include "tests/hop-bed.h"

#include <errno.h>

struct hop_bed_child hop_bed_child;
unsigned hop_bed_settled;

static void child_answers(struct link *link, const Evspace__Ask *ask)
{
	Evspace__Answer answer = EVSPACE__ANSWER__INIT;
	Evspace__Missing missing = EVSPACE__MISSING__INIT, *list = &missing;

	missing.leaf = hop_bed_child.speaks_for;
	missing.why = MISSING_LATE;
	answer.scope = ask->scope;
	answer.wave = ask->wave;
	answer.missing = &list;
	answer.n_missing = 1;
	link_send(link, &WIRE_FRAME(ANSWER, answer, &answer), NULL);
}

void hop_bed_child_frame(struct watch *watch, struct link *link, const struct frame *frame)
{
	static char run[] = "", entry[] = "w0";
	const Evspace__Frame *f = frame->header;
	Evspace__Opened opened = EVSPACE__OPENED__INIT;
	Evspace__Unready unready[2], *list[] = {&unready[0], &unready[1], &unready[0]};

	(void)watch;
	hop_bed_child.closes += f->kind_case == EVSPACE__FRAME__KIND_CLOSE;
	if (f->kind_case == EVSPACE__FRAME__KIND_ASK && hop_bed_child.opens > HOP_BED_REFUSALS)
		child_answers(link, f->ask);
	else if (f->kind_case == EVSPACE__FRAME__KIND_ASK)
		link_send_error(link, f->ask->scope, EPROTO, "no such scope is open");
	if (f->kind_case != EVSPACE__FRAME__KIND_OPEN)
		return;
	if (++hop_bed_child.opens <= HOP_BED_REFUSALS) {
		link_send_error(link, f->open->scope, EEXIST, "not yet");
		return;
	}
	opened.scope = f->open->scope;
	opened.run = run;
	opened.entry = entry;
	/* Itself, somebody whom nobody has asked of, and itself again. */
	for (size_t i = 0; i < 2; i++)
		evspace__unready__init(&unready[i]);
	unready[0].node = entry;
	unready[1].node = run;
	opened.unready = list;
	opened.n_unready = hop_bed_child.speaks_of_all ? 3 : 0;
	link_send(link, &WIRE_FRAME(OPENED, opened, &opened), NULL);
}

static void hop_settled(void *arg, struct hop *hop)
{
	(void)arg;
	(void)hop;
	hop_bed_settled++;
}

static void hop_changed(void *arg, struct hop *hop)
{
	(void)arg;
	(void)hop;
}

void hop_bed_prepare(struct hop_bed *bed, hop_bed_frame *on_frame,
		     const struct gather_events *waves)
{
	static const struct gather_events none_awaited = {.late = NULL};
	static char node[] = "w0", none[] = "";
	static uint8_t id[16] = "a scope of tests";

	hop_bed_child.opens = hop_bed_child.closes = hop_bed_settled = 0;
	world_open(&bed->w);
	bed->w.served.on_frame = on_frame;
	bed->place = (struct plan_place){
		.node = node, .cluster = none, .leaf = true, .address = bed->w.local_address};
	evspace__open__init(&bed->open);
	bed->open.id.data = id;
	bed->open.id.len = sizeof(id);
	bed->open.run = bed->open.view = bed->open.fetch = none;
	bed->scope = (struct hop_scope){
		.open = &bed->open,
		.base = bed->w.base,
		.children = child_set_new(bed->w.base, bed->w.consumer),
		.names = names_new(0),
		.gather = gather_new(bed->w.base, 1, waves ? waves : &none_awaited, bed),
	};
}

void hop_bed_begin(struct hop_bed *bed)
{
	static const struct hop_events events = {.settled = hop_settled, .changed = hop_changed};

	bed->hop = hop_new(&bed->scope, &bed->place, 0, 1, &events, NULL);
}

void hop_bed_open(struct hop_bed *bed, hop_bed_frame *on_frame)
{
	hop_bed_prepare(bed, on_frame, NULL);
	hop_bed_begin(bed);
}

void hop_bed_close(struct hop_bed *bed)
{
	hop_free(bed->hop, false);
	gather_free(bed->scope.gather);
	names_free(bed->scope.names);
	child_set_free(bed->scope.children);
	world_close(&bed->w);
}
