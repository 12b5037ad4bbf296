/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts what all threads have done in order, and finds which messages belong together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/keep/export.h"
#include "pathmap/base/memory.h"

/* ---- in order ---- */

struct gathering {
	struct export_records *to;
	const struct trace_thread *thread;
	uint32_t place;
};

static void add(const struct gathering *g, int64_t ns, const struct trace_event *ev,
		enum export_kind kind)
{
	struct export_records *r = g->to;

	if (r->n == r->room) {
		r->room = r->room ? 2 * r->room : 4096;
		r->items = reallocarray(r->items, r->room, sizeof(*r->items));
		if (!r->items)
			abort();
	}
	r->items[r->n] = (struct export_record){
		.ns = ns,
		.ev = ev,
		.thread = g->thread,
		.place = g->place,
		.kind = kind,
		.nth = r->n,
	};
	r->n++;
}

static void on_enter(void *arg, int64_t ns, const struct trace_event *ev)
{
	add(arg, ns, ev, EXPORT_ENTER);
}

static void on_leave(void *arg, int64_t ns, const struct trace_event *ev)
{
	add(arg, ns, ev, EXPORT_LEAVE);
}

static void on_message(void *arg, int64_t ns, const struct trace_event *ev, enum message what)
{
	add(arg, ns, ev, what == MESSAGE_SENT ? EXPORT_SENT : EXPORT_RECEIVED);
}

/* nth is their order so far */
static int by_time(const void *a, const void *b)
{
	const struct export_record *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? 1 : -1;
	return (x->nth > y->nth) - (x->nth < y->nth);
}

/* ---- messages ---- */

struct channel_key {
	int32_t from, to;
	uint32_t tag, comm, received;
};

struct message_channel {
	struct channel_key key;
	uint64_t n;
	UT_hash_handle hh;
};

static void number(struct message_channel **channels, struct export_record *r)
{
	bool received = r->kind == EXPORT_RECEIVED;
	const struct channel_key key = {.from = received ? r->ev->peer : r->thread->rank,
					.to = received ? r->thread->rank : r->ev->peer,
					.tag = r->ev->seq_or_tag,
					.comm = r->ev->comm,
					.received = received};
	struct message_channel *c;

	HASH_FIND(hh, *channels, &key, sizeof(key), c);
	if (!c) {
		c = memory_new(1, sizeof(*c));
		c->key = key;
		HASH_ADD(hh, *channels, key, sizeof(c->key), c);
	}
	r->nth = c->n++;
}

void export_records_make(struct export_records *r, const struct trace_run *t)
{
	struct gathering g = {.to = r};
	const struct trace_visitor visitor = {on_enter, on_leave, on_message, &g};
	struct message_channel *channels = NULL, *c, *next;

	*r = (struct export_records){0};
	for (g.thread = t->threads; g.thread; g.thread = g.thread->hh.next, g.place++)
		trace_walk(g.thread, &visitor);
	if (r->n > 1)
		qsort(r->items, r->n, sizeof(*r->items), by_time);
	for (size_t i = 0; i < r->n; i++) {
		if (r->items[i].kind == EXPORT_SENT || r->items[i].kind == EXPORT_RECEIVED)
			number(&channels, &r->items[i]);
	}
	HASH_ITER(hh, channels, c, next)
	{
		HASH_DELETE(hh, channels, c);
		free(c);
	}
}

void export_records_fini(struct export_records *r)
{
	free(r->items);
	*r = (struct export_records){0};
}

const char *export_message(char buf[EXPORT_MESSAGE], const struct export_record *r)
{
	bool received = r->kind == EXPORT_RECEIVED;

	snprintf(buf, EXPORT_MESSAGE, "%08x.%u.%d.%d.%llu", r->ev->comm, r->ev->seq_or_tag,
		 received ? r->ev->peer : r->thread->rank, received ? r->thread->rank : r->ev->peer,
		 (unsigned long long)r->nth);
	return buf;
}

int export_close(FILE *f, const char *out, struct error *e)
{
	bool failed = ferror(f) || fflush(f) != 0;
	int saved = errno;

	if (fclose(f) == 0 && !failed)
		return 0;
	errno = failed ? saved : errno;
	return errorf(e, "%s: cannot be written: %m", out);
}
