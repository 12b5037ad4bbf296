/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches an open scope from one tree to another between two waves. */
#include "node-agent/control/opened.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pathmap/base/memory.h"
#include "tree/scope/ask.h"
#include "tree/scope/gather.h"
#include "tree/link/pass.h"
#include "tree/wire/wire-place.h"

/* Most asks that wait: more than a consumer may have under way. */
#define HELD_MAX (4 * GATHER_WINDOW)

struct held {
	Evspace__Ask *ask;
	struct quota_held quota; /* of the consumer */
};

struct opened *opened_new(struct scope *scope, struct link *link)
{
	struct opened *o = memory_new(1, sizeof(*o));

	o->scope = scope;
	o->link = link;
	return o;
}

bool opened_is(const struct opened *o, ProtobufCBinaryData id)
{
	const ProtobufCBinaryData *its = &scope_opened_with(o->scope)->id;

	return its->len == id.len && memcmp(its->data, id.data, id.len) == 0;
}

int opened_again(const struct opened_list *views, ProtobufCBinaryData id, struct error *e)
{
	const struct opened *o;
	unsigned n = 0;

	LIST_FOREACH (o, views, view)
		n += opened_is(o, id);
	if (n < VIEW_AGAIN_MOST)
		return 0;
	errno = EMFILE;
	return errorf(e, "this scope is open %u times here already, which is the most", n);
}

bool opened_is_old(const struct opened *o)
{
	const Evspace__Open *open = scope_opened_with(o->scope);

	return !o->switching && (open->generation > 1 || open->define.len || open->tree[0]) &&
	       open->signer.len && time(NULL) - scope_since(o->scope) >= PASS_DAYS * PASS_DAY / 2;
}

/* The first one. */
static void held_drop(struct opened *o)
{
	evspace__ask__free_unpacked(o->held->ask, NULL);
	quota_release(&o->held->quota);
	memmove(o->held, o->held + 1, --o->n_held * sizeof(*o->held));
}

void opened_free(struct opened *o, bool keep)
{
	while (o->n_held)
		held_drop(o);
	free(o->held);
	free(o->barred);
	scope_free(o->next, keep);
	scope_free(o->scope, keep);
	free(o);
}

static int held_add(struct opened *o, const Evspace__Ask *ask, struct error *e)
{
	struct held held = {.quota = {NULL, 0}};
	size_t bytes;

	if (ask_check(ask, e) < 0)
		return -1;
	if (o->n_held == HELD_MAX) {
		errno = EPROTO;
		return errorf(e,
			      "%u asks wait already, for another tree, for waves under way, or for "
			      "this consumer's share of the map's budget",
			      HELD_MAX);
	}
	held.ask = (Evspace__Ask *)wire_copy_counted(&ask->base, &bytes);
	if (quota_hold(&held.quota, link_peer(o->link)->name, bytes, e) < 0) {
		evspace__ask__free_unpacked(held.ask, NULL);
		return -1;
	}
	o->held = memory_room(o->held, o->n_held, sizeof(*o->held));
	o->held[o->n_held++] = held;
	return 0;
}

/* A consumer may ask for more than its window: it had a larger one by the map before. */
static uint32_t opened_room(const struct opened *o, uint32_t waves)
{
	const uint32_t room = scope_room(o->scope);

	return room < waves ? room : waves;
}

int opened_ask(struct opened *o, const Evspace__Ask *ask, uint32_t waves, struct error *e)
{
	if (!o->switching && o->n_held == 0 && ask->count <= opened_room(o, waves))
		return scope_ask(o->scope, ask, e);
	if (held_add(o, ask, e) < 0)
		return -1;
	opened_release(o, waves);
	return 0;
}

uint32_t opened_release(struct opened *o, uint32_t waves)
{
	const uint32_t room = opened_room(o, waves);
	uint32_t left = room;
	struct error e;

	while (o->n_held && !o->switching && left > 0) {
		Evspace__Ask *ask = o->held->ask, first = *ask;

		first.count = ask->count < left ? ask->count : left;
		/* asks were checked when they came; if one fails now, its waves are missing */
		if (scope_ask(o->scope, &first, &e) < 0)
			link_send_error(o->link, ask->scope, errno, e.text);
		left -= first.count;
		ask->wave += first.count;
		ask->count -= first.count;
		if (ask->count == 0)
			held_drop(o);
	}
	return room - left;
}

double opened_spent(struct opened *o, uint64_t *waves)
{
	double seconds = scope_spent(o->scope), new = seconds - o->paid;
	uint64_t bytes, answers;

	scope_sent(o->scope, &bytes, &answers);
	*waves = answers - o->paid_waves;
	o->paid = seconds;
	o->paid_waves = answers;
	return new;
}

static void opened_settled(void *arg, struct scope *scope)
{
	struct opened *o = arg;

	(void)scope;
	o->next_settled = true;
	o->changed(o->arg);
}

int opened_prepare(struct opened *o, const struct opened_tree *tree, void (*changed)(void *arg),
		   void *arg, struct error *e)
{
	Evspace__Open open = *scope_opened_with(o->scope);

	open.place = wire_place_new(tree->root);
	open.generation = tree->generation;
	open.signer = tree->signer;
	open.window = tree->window;
	o->changed = changed;
	o->arg = arg;
	o->next_settled = false;
	o->next = scope_next(o->scope, &open, opened_settled, o, e);
	wire_place_free(open.place);
	return o->next ? 0 : -1;
}

void opened_give_up(struct opened *o)
{
	/* Keep the cursors, which may be older than this tree: a host that was removed may come
	 * back. */
	scope_free(o->next, true);
	o->next = NULL;
	free(o->barred);
	o->barred = NULL;
}

void opened_bar(struct opened *o, int code, const char *why)
{
	o->barred_code = code;
	o->barred = memory_copy(why);
}

static void opened_drained(void *arg, struct scope *scope)
{
	struct opened *o = arg;

	o->scope = o->next;
	o->next = NULL;
	o->paid = 0;
	o->paid_waves = 0;
	o->switching = false;
	scope_say_opened(o->scope);
	o->resume(o);
	scope_free(scope, true);
	o->changed(o->arg);
}

void opened_switch(struct opened *o)
{
	if (o->barred) {
		o->end(o->session, o, o->barred_code, o->barred);
		return;
	}
	o->switching = true;
	scope_drain(o->scope, opened_drained, o);
}
