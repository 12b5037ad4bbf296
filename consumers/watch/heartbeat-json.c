/* SPDX-License-Identifier: BSD-3-Clause */
/* The heartbeat as JSON: an object for the wave, then one for each thread. */
#include <stdlib.h>

#include "consumers/cli/json.h"
#include "consumers/watch/heartbeat.h"
#include "tree/data/op-table.h"

static const char *const why_words[] = {
	[STALL_NOT] = "not",	     [STALL_PEER] = "peer", [STALL_ANY] = "any",
	[STALL_MEMBERS] = "members", [STALL_SOME] = "some", [STALL_UNKNOWN] = "unknown",
};

static const char *const order_words[] = {
	[STALL_CANNOT_TELL] = "cannot tell",
	[STALL_SILENT_BEFORE] = "before",
	[STALL_SILENT_AFTER] = "after",
};

static void wave_json(const struct heartbeat *h, const struct evspace_wave *w)
{
	struct evspace_counts n;
	json_t *o;

	evspace_counts(h->client, &n);
	o = json_pack("{s:s,s:I,s:I,s:o,s:i,s:i,s:o,s:i,s:i,s:i,s:i,s:b,s:i}", "type", "wave",
		      "wave", (json_int_t)w->number, "time_ns", (json_int_t)w->taken_ns, "run",
		      json_text(h->run), "hosts", (int)w->leaves, "answered", (int)w->answered,
		      "missing", json_missing(w), "processes", (int)w->processes, "threads",
		      (int)h->thread_states.n, "stuck", (int)(h->stuck - heartbeat_awaited(h)),
		      "awaited", (int)heartbeat_awaited(h), "ended", (int)h->ended, "unreadable",
		      (int)w->unreadable);
	if (!o)
		abort();
	json_object_update_new(
		o, json_pack("{s:I,s:o,s:o,s:o,s:o,s:I,s:I}", "written", (json_int_t)w->written,
			     "events_per_s", json_figure(h->written_rate), "ns_per_event",
			     json_figure(w->written ? (double)w->cost_ns / (double)w->written : -1),
			     "collecting_share", json_figure(h->cost_share), "agents_cpu_share",
			     json_figure(h->cpu_share), "lost", (json_int_t)n.lost, "latency_us",
			     (json_int_t)(w->latency_s * 1e6)));
	json_print(o, stdout);
}

static json_t *ranks_json(const struct thread_state *p)
{
	json_t *ranks = p->why == STALL_UNKNOWN ? json_null() : json_array();

	for (size_t i = 0; i < p->n_awaits; i++)
		json_array_append_new(ranks, json_integer(p->awaits[i]));
	return ranks;
}

static json_t *region_json(const struct heartbeat *h, const struct thread_state *p)
{
	const char *label = evspace_label(h->client, p->region);

	return json_pack("{s:s,s:o,s:I}", "region_kind",
			 p->region_op == OP_EVSPACE_PHASE ? "phase" : "region", "region",
			 label ? json_text(label) : json_sprintf("%08x", p->region),
			 "region_since_ns", (json_int_t)p->region_ns);
}

static void thread_json(const struct heartbeat *h, const struct thread_state *p, uint64_t wave)
{
	json_t *o = json_pack("{s:s,s:I,s:o,s:i,s:b,s:s,s:b,s:I,s:I,s:I,s:o}", "type", "thread",
			      "wave", (json_int_t)wave, "thread", json_text(p->name), "rank",
			      p->rank, "missing", p->wave != wave, "op", p->op, "running",
			      p->running, "start_ns", (json_int_t)p->start_ns, "end_ns",
			      (json_int_t)p->end_ns, "still_ns", (json_int_t)p->still_ns,
			      "error_ns", json_figure(p->error_ns));

	if (!o)
		abort();
	json_object_update_new(
		o, json_pack("{s:i,s:I,s:o,s:I,s:b,s:b,s:b,s:b,s:b,s:b,s:s,s:o}", "peer", p->peer,
			     "seq_or_tag", (json_int_t)p->seq, "comm", json_comm(p->comm), "bytes",
			     (json_int_t)p->bytes, "stuck", p->stuck && !p->culprit, "culprit",
			     p->culprit, "deadlock", p->deadlock, "circle", p->circle, "meets",
			     p->meets, "mismatch", p->mismatch, "why", why_words[p->why],
			     "waits_for", ranks_json(p)));
	if (p->cause != STALL_NOBODY)
		json_object_update_new(o,
				       json_pack("{s:o,s:s}", "cause",
						 json_text(h->thread_states.items[p->cause].name),
						 "cause_is_silent_since", order_words[p->order]));
	if (p->gone)
		json_object_update_new(
			o, json_pack("{s:b,s:b}", "dead", 1, "died_inside", (int)p->died_inside));
	if (p->region_op)
		json_object_update_new(o, region_json(h, p));
	if (p->world)
		json_object_set_new(o, "world", json_sprintf("%08x", p->world));
	if (p->holds_up)
		json_object_set_new(o, "holds_up", json_integer((json_int_t)p->holds_up));
	json_print(o, stdout);
}

void heartbeat_json(const struct heartbeat *h)
{
	const struct evspace_wave *w = evspace_wave(h->client);

	if (!w)
		return;
	wave_json(h, w);
	for (size_t i = 0; i < h->thread_states.n; i++)
		thread_json(h, &h->thread_states.items[i], w->number);
}
