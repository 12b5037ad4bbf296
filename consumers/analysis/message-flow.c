/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds what either side of a message has waited, and sums it up. */
#include "consumers/analysis/message-flow.h"

#include <stdlib.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

/* Most flows (20 MB), processes in them, and calls that are remembered (6 MB). */
#define FLOWS_MOST     (1u << 16)
#define PROCESSES_MOST (1u << 22)
#define CALLS_MOST     (1u << 16)

struct flow_row {
	struct message_flow flow;
	UT_hash_handle hh;
};

/* A call that waits, for one message or more: up to when its time is counted. */
struct flow_call {
	struct flow_call_key {
		int64_t since_ns;
		uint64_t process;
	} key;
	int64_t until_ns;
	UT_hash_handle hh;
};

struct message_flows {
	struct flow_row *rows;
	struct flow_call *calls; /* the oldest first */
	const struct message_flow **list;
	size_t n;
	bool *seen; /* by process */
	size_t n_seen, processes;
	int64_t from_ns, to_ns;
	uint64_t left_out;
};

const char *flow_name(enum flow_kind kind)
{
	return kind == FLOW_LATE_SENDER ? "Late Sender" : "Late Receiver";
}

struct message_flows *message_flows_new(void)
{
	struct message_flows *f = memory_new(1, sizeof(*f));

	f->list = memory_new(FLOWS_MOST, sizeof(*f->list));
	return f;
}

void message_flows_free(struct message_flows *f)
{
	struct flow_call *call, *next_call;
	struct flow_row *row, *next;

	if (!f)
		return;
	HASH_ITER(hh, f->calls, call, next_call)
	{
		HASH_DEL(f->calls, call);
		free(call);
	}
	HASH_ITER(hh, f->rows, row, next)
	{
		HASH_DEL(f->rows, row);
		free(row);
	}
	free(f->list);
	free(f->seen);
	free(f);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- one message ---- */

/* Waits of less than clocks can tell are none. */
static void add_wait(struct message_flow *flow, enum flow_kind kind, double ns, double off)
{
	struct flow_waits *w = &flow->waits[kind];

	if (ns <= off) {
		flow->untold += ns > -off;
		return;
	}
	w->times++;
	w->waited_ns += ns;
	w->most_ns = ns > w->most_ns ? ns : w->most_ns;
	w->error_ns += off;
}

/* The time of a call that waits for several messages counts once. Returns from when on it is still
 * to be counted, and remembers that it is up to @until_ns. */
static int64_t call_count(struct message_flows *f, uint32_t process, int64_t since_ns,
			  int64_t until_ns)
{
	const struct flow_call_key key = {since_ns, process};
	struct flow_call *call;
	int64_t from_ns = since_ns;

	HASH_FIND(hh, f->calls, &key, sizeof(key), call);
	if (call) {
		from_ns = call->until_ns;
		call->until_ns = until_ns > from_ns ? until_ns : from_ns;
		return from_ns;
	}
	if (HASH_COUNT(f->calls) == CALLS_MOST) {
		call = f->calls;
		HASH_DEL(f->calls, call);
	} else {
		call = memory_new(1, sizeof(*call));
	}
	call->key = key;
	call->until_ns = until_ns > since_ns ? until_ns : since_ns;
	HASH_ADD(hh, f->calls, key, sizeof(call->key), call);
	return from_ns;
}

static void judge_sender(struct message_flows *f, struct message_flow *flow,
			 const struct message_side *sent, const struct message_side *received)
{
	const struct arrival *s = &sent->at, *r = &received->at;
	int64_t until_ns = least(s->start_ns, r->end_ns);
	int64_t from_ns = call_count(f, r->process, received->since_ns, until_ns);

	if (from_ns == received->since_ns || until_ns > from_ns)
		add_wait(flow, FLOW_LATE_SENDER, (double)(until_ns - from_ns), arrival_bound(s, r));
}

static void judge(struct message_flows *f, struct message_flow *flow,
		  const struct message_side *sent, const struct message_side *received)
{
	const struct arrival *s = &sent->at, *r = &received->at;
	double off = arrival_bound(s, r);

	if (received->waits)
		judge_sender(f, flow, sent, received);
	/* a send that has ended before has not waited, however late the receive is */
	if (sent->waits && (double)(s->end_ns - r->start_ns) > off)
		add_wait(flow, FLOW_LATE_RECEIVER, (double)(r->start_ns - s->start_ns), off);
}

/* ---- sums ---- */

/* Returns false if there are too many processes. */
static bool process_see(struct message_flows *f, uint32_t process)
{
	if (process >= PROCESSES_MOST)
		return false;
	while (f->n_seen <= process) {
		f->seen = memory_room(f->seen, f->n_seen, sizeof(*f->seen));
		f->seen[f->n_seen++] = false;
	}
	f->processes += !f->seen[process];
	f->seen[process] = true;
	return true;
}

/* NULL: there are too many. */
static struct message_flow *flow_of(struct message_flows *f, const struct flow_key *key)
{
	struct flow_row *row;

	HASH_FIND(hh, f->rows, key, sizeof(*key), row);
	if (row)
		return &row->flow;
	if (f->n == FLOWS_MOST)
		return NULL;
	row = memory_new(1, sizeof(*row));
	row->flow.key = *key;
	HASH_ADD(hh, f->rows, flow.key, sizeof(row->flow.key), row);
	f->list[f->n++] = &row->flow;
	return &row->flow;
}

void message_flows_add(struct message_flows *f, uint32_t comm, const struct message_side *sent,
		       const struct message_side *received)
{
	const struct arrival *s = &sent->at, *r = &received->at;
	const struct flow_key key = {s->process, r->process, comm, s->site, r->site, s->op, r->op};
	struct message_flow *flow = flow_of(f, &key);

	if (!flow || !process_see(f, s->process) || !process_see(f, r->process)) {
		f->left_out++;
		return;
	}
	flow->messages++;
	flow->bytes += s->bytes;
	judge(f, flow, sent, received);
	if (!f->from_ns || least(s->start_ns, r->start_ns) < f->from_ns)
		f->from_ns = least(s->start_ns, r->start_ns);
	f->to_ns = s->end_ns > f->to_ns ? s->end_ns : f->to_ns;
	f->to_ns = r->end_ns > f->to_ns ? r->end_ns : f->to_ns;
}

size_t message_flows_all(const struct message_flows *f, const struct message_flow *const **all)
{
	*all = f->list;
	return f->n;
}

double message_flows_share(const struct message_flows *f, double ns)
{
	double all = (double)(f->to_ns - f->from_ns) * (double)f->processes;

	return all > 0 ? ns / all : 0;
}

uint64_t message_flows_left_out(const struct message_flows *f)
{
	return f->left_out;
}
