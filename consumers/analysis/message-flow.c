/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds what either side of a message has waited, and sums it up. */
#include "consumers/analysis/message-flow.h"

#include <stdlib.h>

#include "consumers/analysis/overlap.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

/* Most flows (20 MB), processes in them, and waits that are remembered (16 MB). */
#define FLOWS_MOST     (1u << 16)
#define PROCESSES_MOST (1u << 22)
#define WAITS_MOST     (1u << 20)

struct flow_row {
	struct message_flow flow;
	UT_hash_handle hh;
};

struct message_flows {
	struct flow_row *rows;
	struct overlaps *counted; /* the time that each process has waited */
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
	f->counted = overlaps_new(WAITS_MOST);
	return f;
}

void message_flows_free(struct message_flows *f)
{
	struct flow_row *row, *next;

	if (!f)
		return;
	HASH_ITER(hh, f->rows, row, next)
	{
		HASH_DEL(f->rows, row);
		free(row);
	}
	overlaps_free(f->counted);
	free(f->list);
	free(f->seen);
	free(f);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- one message ---- */

/* @process has waited so long, of which counts what other waits of it have not: a call may wait for
 * several messages, and threads wait beside each other. Less than clocks can tell is none. */
static void add_wait(struct message_flows *f, struct flow_waits *w, uint32_t process,
		     int64_t from_ns, int64_t until_ns, double off)
{
	double ns = (double)overlaps_add(f->counted, process, from_ns, until_ns);

	if (ns == 0)
		return;
	w->times++;
	w->waited_ns += ns;
	w->most_ns = ns > w->most_ns ? ns : w->most_ns;
	w->error_ns += off;
}

static void judge_wait(struct message_flows *f, struct message_flow *flow, enum flow_kind kind,
		       uint32_t process, int64_t from_ns, int64_t until_ns, double off)
{
	double ns = (double)(until_ns - from_ns);

	if (ns > off)
		add_wait(f, &flow->waits[kind], process, from_ns, until_ns, off);
	else
		flow->untold += ns > -off;
}

static void judge(struct message_flows *f, struct message_flow *flow,
		  const struct message_side *sent, const struct message_side *received)
{
	const struct arrival *s = &sent->at, *r = &received->at;
	double off = arrival_bound(s, r);

	flow->unknown += received->later && !received->waits;
	if (received->waits)
		judge_wait(f, flow, FLOW_LATE_SENDER, r->process, received->since_ns,
			   least(s->start_ns, r->end_ns), off);
	/* a send that has ended before has not waited, however late the receive is */
	if (sent->waits && (double)(s->end_ns - r->start_ns) > off)
		judge_wait(f, flow, FLOW_LATE_RECEIVER, s->process, s->start_ns, r->start_ns, off);
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
