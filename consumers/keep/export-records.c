/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts what all threads have done in order, and finds which messages belong together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/keep/export.h"
#include "consumers/keep/pairing.h"
#include "consumers/keep/spill.h"
#include "pathmap/base/memory.h"

/* ---- in order ---- */

#define SORT_MEMORY ((size_t)32 << 20)

struct gathering {
	struct spill *to;
	const struct trace_thread *thread;
	int rc;
	struct error e;
};

static void add(struct gathering *g, int64_t ns, const struct trace_event *ev,
		enum export_kind kind)
{
	const struct export_record record = {
		.ns = ns,
		.nth = spill_count(g->to), /* their order so far */
		.bytes = ev->bytes,
		.comm = ev->comm,
		.seq_or_tag = ev->seq_or_tag,
		.peer = ev->peer,
		.rank = g->thread->rank,
		.place = g->thread->place,
		.op = ev->op,
		.kind = (uint16_t)kind,
	};

	if (g->rc == 0)
		g->rc = spill_add(g->to, &record, &g->e);
}

static int on_begin(void *arg, const struct trace_thread *thread, struct error *e)
{
	struct gathering *g = arg;

	g->thread = thread;
	return g->rc < 0 ? errorf(e, "%s", g->e.text) : 0;
}

static int on_end(void *arg, const struct trace_thread *thread, struct error *e)
{
	const struct gathering *g = arg;

	(void)thread;
	return g->rc < 0 ? errorf(e, "%s", g->e.text) : 0;
}

static void on_enter(void *arg, int64_t ns, const struct trace_event *ev)
{
	add(arg, ns, ev, EXPORT_ENTER);
}

static void on_leave(void *arg, int64_t ns, const struct trace_event *ev)
{
	add(arg, ns, ev, EXPORT_LEAVE);
}

static void on_message(void *arg, int64_t ns, const struct trace_event *ev)
{
	add(arg, ns, ev, ev->message == MESSAGE_SENT ? EXPORT_SENT : EXPORT_RECEIVED);
}

static int by_time(const void *a, const void *b)
{
	const struct export_record *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? 1 : -1;
	return (x->nth > y->nth) - (x->nth < y->nth);
}

/* ---- messages ---- */

/* That has messages on their way. Their numbers begin behind all that was numbered before it. */
struct message_channel {
	struct pairing_channel key;
	uint64_t begin, sent, received;
	UT_hash_handle hh;
};

static bool is_message(const struct export_record *r)
{
	return r->kind == EXPORT_SENT || r->kind == EXPORT_RECEIVED;
}

static struct pairing_side side_of(const struct export_record *r)
{
	bool received = r->kind == EXPORT_RECEIVED;

	return (struct pairing_side){.channel = {.from = received ? r->peer : r->rank,
						 .to = received ? r->rank : r->peer,
						 .tag = r->seq_or_tag,
						 .comm = r->comm},
				     .ns = r->ns,
				     .thread = r->place,
				     .received = received};
}

/* The message comes next in its channel, of which nothing is missing; those in @left have one side
 * alone in the end. */
static void number(struct message_channel **channels, const struct message_channel *left,
		   uint64_t begin, struct export_record *r)
{
	const struct pairing_side side = side_of(r);
	const struct message_channel *all;
	struct message_channel *c;
	uint64_t nth;

	HASH_FIND(hh, *channels, &side.channel, sizeof(side.channel), c);
	if (!c) {
		c = memory_new(1, sizeof(*c));
		c->key = side.channel;
		c->begin = begin;
		HASH_ADD(hh, *channels, key, sizeof(c->key), c);
	}
	HASH_FIND(hh, left, &side.channel, sizeof(side.channel), all);
	nth = side.received ? c->received++ : c->sent++;
	r->nth = EXPORT_ALONE;
	if (!all || all->begin != c->begin)
		r->nth = c->begin + nth;
	if (c->sent != c->received)
		return;
	HASH_DELETE(hh, *channels, c);
	free(c);
}

static void channels_free(struct message_channel *channels)
{
	struct message_channel *c, *next;

	HASH_ITER(hh, channels, c, next)
	{
		HASH_DELETE(hh, channels, c);
		free(c);
	}
}

/* Which channels have messages of which one side never comes; or all, by their places, if something
 * is missing. */
static int messages_count(struct trace_run *t, struct spill *s, struct message_channel **left,
			  struct error *e)
{
	struct export_record record;
	uint64_t n = 0;
	int rc;

	while ((rc = spill_next(s, &record, e)) > 0) {
		const struct pairing_side side = side_of(&record);

		if (is_message(&record) && t->holes)
			pairing_count(t->pairing, &side);
		else if (is_message(&record))
			number(left, NULL, n, &record);
		if (trace_step(t, "messages paired", ++n, spill_count(s), e) < 0)
			return -1;
	}
	spill_again(s);
	return rc;
}

/* Are there messages of which one side is missing, without a hole? They were not recorded, or are
 * on their way. */
static bool are_incomplete(const struct message_channel *left)
{
	for (; left; left = left->hh.next) {
		if (left->received > 0 && left->sent > 0)
			return true;
	}
	return false;
}

static int messages_pair(struct trace_run *t, struct spill *s, struct message_channel **left,
			 struct error *e)
{
	if (messages_count(t, s, left, e) < 0)
		return -1;
	if (t->holes || !are_incomplete(*left))
		return 0;
	t->holes = true;
	return messages_count(t, s, left, e);
}

static void message_tell(struct trace_run *t, struct message_channel **channels,
			 const struct message_channel *left, uint64_t n, struct export_record *r)
{
	const struct pairing_side side = side_of(r);

	if (t->holes)
		r->nth = pairing_number(t->pairing, &side);
	else
		number(channels, left, n, r);
	t->alone += r->nth == PAIRING_ALONE;
	t->unknown += r->nth == PAIRING_UNKNOWN;
	if (r->nth == PAIRING_UNKNOWN)
		r->nth = EXPORT_ALONE;
}

static int records_tell(struct trace_run *t, struct spill *s, const struct message_channel *left,
			export_take *take, void *arg, struct error *e)
{
	struct message_channel *channels = NULL;
	struct export_record record;
	uint64_t n = 0;
	int rc;

	while ((rc = spill_next(s, &record, e)) > 0) {
		if (is_message(&record))
			message_tell(t, &channels, left, n, &record);
		take(arg, &record);
		rc = trace_step(t, "records written", ++n, spill_count(s), e);
		if (rc < 0)
			break;
	}
	channels_free(channels);
	return rc;
}

int export_records(struct trace_run *t, const char *out, export_take *take, void *arg,
		   struct error *e)
{
	struct gathering g = {
		.to = spill_new(sizeof(struct export_record), by_time, SORT_MEMORY, out)};
	const struct trace_visitor visitor = {on_begin, on_end, on_enter, on_leave, on_message, &g};
	struct message_channel *left = NULL;
	int rc = trace_walk(t, &visitor, e);

	if (rc == 0)
		rc = messages_pair(t, g.to, &left, e);
	if (rc == 0)
		rc = records_tell(t, g.to, left, take, arg, e);
	channels_free(left);
	spill_free(g.to);
	return rc;
}

const char *export_message(char buf[EXPORT_MESSAGE], const struct export_record *r)
{
	bool received = r->kind == EXPORT_RECEIVED;

	snprintf(buf, EXPORT_MESSAGE, "%08x.%u.%d.%d.%llu", r->comm, r->seq_or_tag,
		 received ? r->peer : r->rank, received ? r->rank : r->peer,
		 (unsigned long long)r->nth);
	return buf;
}

int export_close(FILE *f, const char *out, struct error *e)
{
	/* what could not be written before cannot be now: that says why */
	bool failed = fflush(f) != 0, before = ferror(f);
	int saved = failed ? errno : EIO;

	failed = failed || before;
	if (fclose(f) == 0 && !failed)
		return 0;
	errno = failed ? saved : errno;
	return errorf(e, "%s: cannot be written: %m", out);
}

void export_quoted(FILE *f, const char *text, const char *quote, const char *backslash)
{
	fputc('"', f);
	for (const char *c = text; *c; c++) {
		if (*c == '"')
			fputs(quote, f);
		else if (*c == '\\')
			fputs(backslash, f);
		else
			fputc(*c, f);
	}
	fputc('"', f);
}
