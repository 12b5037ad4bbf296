/* SPDX-License-Identifier: BSD-3-Clause */
/* What an attacker with a certificate asks an agent for, and what comes of it. */
#include "tests/attacker-orders.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/control/functions.h"
#include "node-agent/segment/segment-mode.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/data/trial.h"
#include "tree/link/link.h"
#include "tree/link/link-hub.h"
#include "tree/scope/classes.h"

#define ANSWERS_MS 20000

struct orders {
	struct event_base *base;
	int wanted, answered;
	const char *elsewhere;
	uint64_t asked_ns;
};

static void say(struct link *link, struct orders *o, Evspace__Frame *frame)
{
	o->wanted++;
	link_send(link, frame, NULL);
}

/* As a map says it of elements, and only who may apply a map. */
static void elements_of_all_runs(struct link *link, struct orders *o)
{
	Evspace__SwitchAsk ask = EVSPACE__SWITCH_ASK__INIT;
	Evspace__Detail detail = EVSPACE__DETAIL__INIT, *details = &detail;
	Evspace__Frame frame = EVSPACE__FRAME__INIT;

	detail.pattern = (char *)(uintptr_t) "/**/wait";
	ask.view = (char *)(uintptr_t) "events";
	ask.run = (char *)(uintptr_t) "two";
	ask.scope = 6;
	ask.details = &details;
	ask.n_details = 1;
	frame.kind_case = EVSPACE__FRAME__KIND_SWITCH_ASK;
	frame.switch_ask = &ask;
	say(link, o, &frame);
}

/* What a program of ours would not send with this certificate, or would not send at all. */
static void orders_ready(struct link *link, void *arg)
{
	struct orders *o = arg;
	Evspace__Place place = EVSPACE__PLACE__INIT;
	Evspace__Open open = EVSPACE__OPEN__INIT;
	Evspace__SwitchAsk ask = EVSPACE__SWITCH_ASK__INIT;
	Evspace__MapTexts texts = EVSPACE__MAP_TEXTS__INIT;
	Evspace__MapApply apply = EVSPACE__MAP_APPLY__INIT;
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	unsigned char id[16] = {1};
	char *all = (char *)(uintptr_t) "/**";

	place.node = place.cluster = place.address = (char *)(uintptr_t) "w0";
	place.leaf = true;
	open.scope = 1;
	open.id = (ProtobufCBinaryData){sizeof(id), id};
	open.place = &place;
	frame.kind_case = EVSPACE__FRAME__KIND_OPEN;
	frame.open = &open;
	say(link, o, &frame);

	ask.view = (char *)(uintptr_t) "events";
	frame.kind_case = EVSPACE__FRAME__KIND_SWITCH_ASK;
	frame.switch_ask = &ask;
	for (ask.scope = 2; ask.scope < 6; ask.scope++) {
		ask.change = ask.scope == 2;
		ask.discard = ask.scope == 3 || ask.scope == 5;
		ask.place = ask.scope > 3 ? &place : NULL;
		ask.select = &all;
		ask.n_select = ask.place ? 1 : 0;
		ask.who = (char *)(uintptr_t)(ask.place ? "bob (10.0.0.7:51422)" : "");
		say(link, o, &frame);
	}

	elements_of_all_runs(link, o);

	frame.kind_case = EVSPACE__FRAME__KIND_MAP_APPLY;
	frame.map_apply = &apply;
	say(link, o, &frame);
	apply.texts = &texts;
	say(link, o, &frame);
}

static void orders_frame(struct link *link, void *arg, const struct frame *frame)
{
	const Evspace__Frame *f = frame->header;
	struct orders *o = arg;

	if (f->kind_case == EVSPACE__FRAME__KIND_ERROR)
		printf("refused: %s\n", f->error->text);
	else
		printf("granted: a frame of kind %d\n", (int)f->kind_case);
	if (++o->answered == o->wanted) {
		link_close(link);
		event_base_loopbreak(o->base);
	}
}

static void orders_closed(struct link *link, void *arg, const struct error *why)
{
	const struct orders *o = arg;

	(void)link;
	printf("closed: %s\n", why->text);
	event_base_loopbreak(o->base);
}

/* ---- frames ---- */

/* Parts for an agent that is nowhere in the map: nobody may be led there. */
static void frames_parts(struct link *link, struct orders *o)
{
	Evspace__Place place = EVSPACE__PLACE__INIT, below = EVSPACE__PLACE__INIT,
		       *children = &below;
	Evspace__Open open = EVSPACE__OPEN__INIT;
	Evspace__StatusAsk status = EVSPACE__STATUS_ASK__INIT;
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	unsigned char id[16] = {2};

	place.node = place.cluster = below.node = below.cluster = (char *)(uintptr_t) "x";
	place.address = below.address = (char *)(uintptr_t)o->elsewhere;
	below.leaf = true;
	below.index = 1;
	place.n_children = 1;
	place.children = &children;
	open.scope = 20;
	open.id = (ProtobufCBinaryData){sizeof(id), id};
	open.place = &place;
	frame.kind_case = EVSPACE__FRAME__KIND_OPEN;
	frame.open = &open;
	say(link, o, &frame);
	status.scope = 21;
	status.place = &place;
	frame.kind_case = EVSPACE__FRAME__KIND_STATUS_ASK;
	frame.status_ask = &status;
	say(link, o, &frame);
}

static void frames_ready(struct link *link, void *arg)
{
	Evspace__StatusAsk status = EVSPACE__STATUS_ASK__INIT;
	Evspace__SwitchAsk classes = EVSPACE__SWITCH_ASK__INIT;
	Evspace__MapAsk map = EVSPACE__MAP_ASK__INIT;
	Evspace__Open open = EVSPACE__OPEN__INIT;
	Evspace__Ask ask = EVSPACE__ASK__INIT;
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	unsigned char id[16] = {1};

	frame.kind_case = EVSPACE__FRAME__KIND_STATUS_ASK;
	frame.status_ask = &status;
	say(link, arg, &frame);
	status.all = true;
	status.scope = 10;
	say(link, arg, &frame);
	frame.kind_case = EVSPACE__FRAME__KIND_MAP_ASK;
	frame.map_ask = &map;
	say(link, arg, &frame);
	classes.view = (char *)(uintptr_t) "events";
	classes.scope = 11;
	frame.kind_case = EVSPACE__FRAME__KIND_SWITCH_ASK;
	frame.switch_ask = &classes;
	say(link, arg, &frame);
	open.scope = 12;
	open.id = (ProtobufCBinaryData){sizeof(id), id};
	open.view = classes.view;
	open.backlog = true;
	frame.kind_case = EVSPACE__FRAME__KIND_OPEN;
	frame.open = &open;
	say(link, arg, &frame);
	ask.scope = open.scope;
	ask.wave = ask.count = 1;
	ask.deadline_ms = ANSWERS_MS / 4;
	frame.kind_case = EVSPACE__FRAME__KIND_ASK;
	frame.ask = &ask;
	say(link, arg, &frame);
	frames_parts(link, arg);
}

static void frames_frame(struct link *link, void *arg, const struct frame *frame)
{
	size_t n = evspace__frame__get_packed_size(frame->header);
	unsigned char *packed = memory_new(n, 1);
	struct orders *o = arg;

	evspace__frame__pack(frame->header, packed);
	printf("kind %d:", (int)frame->header->kind_case);
	fwrite(packed, 1, n, stdout);
	if (frame->bytes)
		fwrite(frame->buffer->data + frame->at, 1, frame->bytes, stdout);
	putchar('\n');
	free(packed);
	if (++o->answered == o->wanted) {
		link_close(link);
		event_base_loopbreak(o->base);
	}
}

/* ---- much ---- */

static void large_ready(struct link *link, void *arg)
{
	enum { PATTERNS = 300, HOLDS = 600000 };
	Evspace__Place place = EVSPACE__PLACE__INIT;
	Evspace__Open open = EVSPACE__OPEN__INIT;
	Evspace__StatusAsk status = EVSPACE__STATUS_ASK__INIT;
	Evspace__SwitchAsk order = EVSPACE__SWITCH_ASK__INIT;
	Evspace__Choice choice = EVSPACE__CHOICE__INIT, *choices[CHOICES_MAX + 1];
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	Evspace__Functions functions = EVSPACE__FUNCTIONS__INIT;
	Evspace__Trial trial = EVSPACE__TRIAL__INIT;
	uint32_t arms[TRIAL_ARMS_MAX + 1] = {MODE_FRESH};
	char *patterns[PATTERNS], *names[FUNCTIONS_ASKED + 1];

	place.node = place.cluster = place.address = (char *)(uintptr_t) "w0";
	open.scope = 1;
	open.place = &place;
	open.n_select = PATTERNS;
	open.select = patterns;
	for (int i = 0; i < PATTERNS; i++)
		patterns[i] = (char *)(uintptr_t) "/**";
	frame.kind_case = EVSPACE__FRAME__KIND_OPEN;
	frame.open = &open;
	say(link, arg, &frame);
	place.holds = memory_new(HOLDS + 1, 1);
	memset(place.holds, '1', HOLDS);
	status.scope = 2;
	status.place = &place;
	frame.kind_case = EVSPACE__FRAME__KIND_STATUS_ASK;
	frame.status_ask = &status;
	say(link, arg, &frame);
	free(place.holds);
	order.scope = 3;
	order.n_choices = CHOICES_MAX + 1;
	order.choices = choices;
	for (unsigned i = 0; i < order.n_choices; i++)
		choices[i] = &choice;
	frame.kind_case = EVSPACE__FRAME__KIND_SWITCH_ASK;
	frame.switch_ask = &order;
	say(link, arg, &frame);
	order.scope = 4;
	order.n_choices = 0;
	order.functions = &functions;
	functions.n_names = FUNCTIONS_ASKED + 1;
	functions.names = names;
	for (unsigned i = 0; i < functions.n_names; i++)
		names[i] = (char *)(uintptr_t) "f";
	say(link, arg, &frame);
	order.scope = 5;
	order.functions = NULL;
	order.trial = &trial;
	trial.n_arms = TRIAL_ARMS_MAX + 1;
	trial.arms = arms;
	say(link, arg, &frame);
}

/* Texts that no client library would send on, as views of its own; and in the end one that is
 * right. */
static void defines_ready(struct link *link, void *arg)
{
	enum { STAGES = 10000 };
	static const char
		zero[] = "all so\0rt",
		bytes[] = "all \xff\xfe", right[] = "all sort",
		deep[] = "view{view{view{view{view{view{view{view{view{view{view{view{view{"
			 "view{view{view{view{view{view{view{view{";
	char *stages = memory_new(STAGES * strlen("all sort;") + 1, 1);
	const ProtobufCBinaryData texts[] = {
		{STAGES * strlen("all sort;"), (uint8_t *)stages},
		{450, (uint8_t *)stages},
		{sizeof(zero) - 1, (uint8_t *)(uintptr_t)zero},
		{sizeof(bytes) - 1, (uint8_t *)(uintptr_t)bytes},
		{sizeof(deep) - 1, (uint8_t *)(uintptr_t)deep},
		{sizeof(right) - 1, (uint8_t *)(uintptr_t)right},
	};
	Evspace__Open open = EVSPACE__OPEN__INIT;
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	unsigned char id[16] = {3};

	for (size_t i = 0; i < STAGES; i++)
		memcpy(stages + i * strlen("all sort;"), "all sort;", strlen("all sort;"));
	open.id = (ProtobufCBinaryData){sizeof(id), id};
	open.run = (char *)(uintptr_t) "one";
	frame.kind_case = EVSPACE__FRAME__KIND_OPEN;
	frame.open = &open;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		open.scope = (uint32_t)i + 1;
		open.define = texts[i];
		say(link, arg, &frame);
	}
	free(stages);
}

/* ---- views that share the tree of another one, which then goes ---- */

static void again_open(struct link *link, const struct orders *o)
{
	static char text[] = "use latest          ";
	Evspace__Open open = EVSPACE__OPEN__INIT;
	const unsigned view = (unsigned)o->answered / 2;
	unsigned char id[16] = {4};

	/* each text is two views: one of an id of its own, then one of an id that others have */
	id[1] = (unsigned char)(o->answered % 2 ? 1 + view / 4 : 100 + view);
	open.scope = (uint32_t)o->answered + 1;
	open.id = (ProtobufCBinaryData){sizeof(id), id};
	open.run = (char *)(uintptr_t)o->elsewhere;
	open.define = (ProtobufCBinaryData){strlen("use latest") + view, (uint8_t *)text};
	link_send(link, &WIRE_FRAME(OPEN, open, &open), NULL);
}

static void again_ready(struct link *link, void *arg)
{
	struct orders *o = arg;

	o->wanted = 16;
	again_open(link, o);
}

static void again_frame(struct link *link, void *arg, const struct frame *frame)
{
	Evspace__Close close = EVSPACE__CLOSE__INIT;
	struct orders *o = arg;

	close.scope = (uint32_t)o->answered;
	if (o->answered % 2)
		link_send(link, &WIRE_FRAME(CLOSE, close, &close), NULL);
	orders_frame(link, arg, frame);
	if (o->answered < o->wanted)
		again_open(link, o);
}

/* ---- more waves than the map lets a view of one's own have ---- */

static void window_ready(struct link *link, void *arg)
{
	static char text[] = "use latest";
	struct orders *o = arg;
	Evspace__Open open = EVSPACE__OPEN__INIT;
	unsigned char id[16] = {5};

	o->wanted = 4;
	open.scope = 1;
	open.id = (ProtobufCBinaryData){sizeof(id), id};
	open.run = (char *)(uintptr_t)o->elsewhere;
	open.define = (ProtobufCBinaryData){strlen(text), (uint8_t *)text};
	link_send(link, &WIRE_FRAME(OPEN, open, &open), NULL);
}

/* As if they were asked for again, of one host. */
static void window_frame(struct link *link, void *arg, const struct frame *frame)
{
	Evspace__Ask ask = EVSPACE__ASK__INIT;
	struct orders *o = arg;
	uint32_t only;

	if (frame->header->kind_case == EVSPACE__FRAME__KIND_OPENED && o->answered == 0 &&
	    frame->header->opened->n_leaves > 0) {
		only = frame->header->opened->leaves[0]->index;
		ask.scope = 1;
		ask.wave = 1;
		ask.count = 3;
		ask.deadline_ms = 1000;
		ask.only = &only;
		ask.n_only = 1;
		link_send(link, &WIRE_FRAME(ASK, ask, &ask), NULL);
		o->asked_ns = clock_mono_ns();
	}
	if (frame->header->kind_case == EVSPACE__FRAME__KIND_ANSWER)
		printf("wave %llu after %llu ms\n", (unsigned long long)frame->header->answer->wave,
		       (unsigned long long)((clock_mono_ns() - o->asked_ns) / 1000000u));
	orders_frame(link, arg, frame);
}

static const struct link_events window_events = {window_ready, window_frame, orders_closed};
static const struct link_events again_events = {again_ready, again_frame, orders_closed};
static const struct link_events defines_events = {defines_ready, orders_frame, orders_closed};
static const struct link_events large_events = {large_ready, orders_frame, orders_closed};
static const struct link_events orders_events = {orders_ready, orders_frame, orders_closed};
static const struct link_events frames_events = {frames_ready, frames_frame, orders_closed};

int attacker_orders(const char *what, const char *address, const char *dir, const char *name,
		    const char *elsewhere)
{
	bool large = !strcmp(what, "large"), is_agent = large || !strcmp(what, "agent");
	const struct link_events *events = large		      ? &large_events
					   : !strcmp(what, "defines") ? &defines_events
					   : !strcmp(what, "again")   ? &again_events
					   : !strcmp(what, "window")  ? &window_events
					   : elsewhere		      ? &frames_events
								      : &orders_events;
	const struct link_self self = {is_agent ? name : "", 0};
	static const struct timeval most = {.tv_sec = ANSWERS_MS / 1000};
	struct orders o = {.base = event_base_new(), .elsewhere = elsewhere};
	struct error e;
	struct tls *tls = tls_new(dir, name, &e);
	struct link_hub *hub = tls ? link_hub_new(o.base, tls, &self) : NULL;

	if (!hub || !link_dial(hub, address, NULL, events, &o, &e)) {
		fprintf(stderr, "attacker: %s\n", e.text);
		return 1;
	}
	event_base_loopexit(o.base, &most);
	event_base_dispatch(o.base);
	link_hub_free(hub);
	tls_free(tls);
	event_base_free(o.base);
	return o.answered < o.wanted;
}
