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

/* Most asks that wait for a switch: more than a consumer may have under way. */
#define HELD_MAX (4 * GATHER_WINDOW)

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

static void held_free(struct opened *o)
{
	for (size_t i = 0; i < o->n_held; i++)
		evspace__ask__free_unpacked(o->held[i], NULL);
	free(o->held);
	o->held = NULL;
	o->n_held = 0;
	quota_release(&o->quota);
}

void opened_free(struct opened *o, bool keep)
{
	held_free(o);
	free(o->barred);
	scope_free(o->next, keep);
	scope_free(o->scope, keep);
	free(o);
}

int opened_ask(struct opened *o, const Evspace__Ask *ask, struct error *e)
{
	Evspace__Ask *copy;
	size_t bytes;

	if (!o->switching)
		return scope_ask(o->scope, ask, e);
	if (ask_check(ask, e) < 0)
		return -1;
	if (o->n_held == HELD_MAX) {
		errno = EPROTO;
		return errorf(e, "%u asks wait for a remap of the tree already", HELD_MAX);
	}
	copy = (Evspace__Ask *)wire_copy_counted(&ask->base, &bytes);
	if (quota_hold(&o->quota, link_peer(o->link)->name, bytes, e) < 0) {
		evspace__ask__free_unpacked(copy, NULL);
		return -1;
	}
	o->held = memory_room(o->held, o->n_held, sizeof(struct opened *));
	o->held[o->n_held++] = copy;
	return 0;
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
	struct error e;

	o->scope = o->next;
	o->next = NULL;
	o->switching = false;
	scope_say_opened(o->scope);
	/* asks were checked when they came; if one fails now, its waves are missing */
	for (size_t i = 0; i < o->n_held; i++) {
		if (scope_ask(o->scope, o->held[i], &e) < 0)
			link_send_error(o->link, o->held[i]->scope, errno, e.text);
	}
	held_free(o);
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
