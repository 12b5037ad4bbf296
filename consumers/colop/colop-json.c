/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes what colop has found as JSON. */
#include "consumers/colop/colop.h"

#include <stdlib.h>

#include "consumers/cli/json.h"
#include "pathmap/base/memory.h"
#include "tree/data/op.h"

/* What operations an object is about. Takes and returns @object. */
static json_t *with_class(json_t *object, const struct colop *c, const struct lateness_class *of,
			  uint32_t site)
{
	json_object_set_new(object, "op", json_text(op_name(of->op)));
	json_object_set_new(object, "comm", json_comm(of->comm));
	json_object_set_new(object, "site", json_text(attendance_site(c->attendance, site)));
	json_object_set_new(
		object, "bytes_below",
		json_count(of->magnitude < 63 ? UINT64_C(1) << of->magnitude : UINT64_MAX));
	return object;
}

/* Whom it is about. */
static json_t *with_process(json_t *object, const struct colop *c, uint32_t process)
{
	json_object_set_new(object, "rank", json_process(attendance_rank(c->attendance, process)));
	json_object_set_new(object, "process",
			    json_text(attendance_process(c->attendance, process)));
	return object;
}

static json_t *json_ns(double ns)
{
	return json_count(ns > 0 ? (uint64_t)(ns + 0.5) : 0);
}

/* null: nobody tells. */
static json_t *recorded_json(const struct colop *c, uint32_t comm)
{
	return json_figure(counted_is_known(c->counted) ? colop_recorded(c, comm) : -1);
}

void colop_json_once(const struct colop *c, const struct late_once *late)
{
	json_t *o = json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "late", "number",
			      json_count(late->number), "start_ns", json_time(late->start_ns),
			      "late_ns", json_ns(late->late_ns), "error_ns",
			      json_ns(late->error_ns), "caused_ns", json_ns(late->caused_ns),
			      "confidence", json_figure(late->confidence));

	json_print(with_process(with_class(o, c, late->of, late->site), c, late->process), stdout);
}

static void json_class(const struct colop *c, const struct lateness_class *of)
{
	double times = (double)of->meetings;
	json_t *o = json_pack(
		"{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "class", "pattern",
		json_text(wait_name(of->kind)), "operations", json_count(of->meetings), "members",
		json_figure((double)of->members / times), "bytes", json_count(of->bytes),
		"spread_ns", json_ns(of->spread_ns / times), "most_ns", json_ns(of->spread_most_ns),
		"waited_ns", json_ns(of->waited_ns), "waited_share",
		json_figure(lateness_cost(c->lateness, of, of->waited_ns)), "untold",
		json_count(of->untold), "inside_ns", json_ns(of->inside_ns / times), "imbalance",
		colop_has_imbalance(c, of) ? json_figure(of->busiest_ns / of->between_ns)
					   : json_null(),
		"bytes_per_s",
		of->bytes && of->inside_ns > 0
			? json_figure((double)of->bytes * 1e9 / of->inside_ns)
			: json_null());

	json_object_set_new(o, "recorded_share", recorded_json(c, of->comm));
	json_object_set_new(o, "scale", json_figure(of->scale));
	json_object_set_new(o, "most_number", json_count(of->most_number));
	json_object_set_new(o, "most_rank",
			    json_process(attendance_rank(c->attendance, of->most_process)));
	json_print(with_class(o, c, of, of->site), stdout);
}

static void json_member(void *arg, const struct lateness_member *p)
{
	const struct colop *c = arg;
	json_t *o = json_pack("{s:s,s:o,s:o,s:o,s:o,s:o}", "type", "member", "operations",
			      json_count(p->meetings ? p->meetings : p->of->meetings), "times",
			      json_count(p->times), "late_ns",
			      p->times ? json_ns(middle_value(&p->late_ns)) : json_null(),
			      "caused_ns", json_ns(p->caused_ns), "waited_ns",
			      c->reduced ? json_null() : json_ns(p->waited_ns));

	json_print(with_process(with_class(o, c, p->of, p->site), c, p->process), stdout);
}

static void json_often(const struct colop *c, const struct late_often *f)
{
	const struct lateness_member *p = f->member;
	json_t *o = json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "often",
			      "operations", json_count(f->meetings), "times", json_count(p->times),
			      "times_share", json_figure(f->share.share), "low_share",
			      json_figure(f->share.low), "high_share", json_figure(f->share.high),
			      "late_ns", json_ns(f->late_ns), "mean_ns", json_ns(f->mean_ns),
			      "error_ns", json_ns(f->error_ns), "cost_share", json_figure(f->cost));

	json_print(with_process(with_class(o, c, p->of, p->site), c, p->process), stdout);
}

static void json_flow(const struct colop *c, const struct message_flow *f)
{
	const struct flow_key *k = &f->key;
	json_t *o = json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "messages",
			      "rank", json_process(attendance_rank(c->attendance, k->from)), "op",
			      json_text(op_name(k->from_op)), "site",
			      json_text(attendance_site(c->attendance, k->from_site)), "to_rank",
			      json_process(attendance_rank(c->attendance, k->to)), "to_op",
			      json_text(op_name(k->to_op)), "to_site",
			      json_text(attendance_site(c->attendance, k->to_site)), "comm",
			      json_comm(k->comm), "messages", json_count(f->messages), "bytes",
			      json_count(f->bytes));

	json_object_set_new(o, "untold", json_count(f->untold));
	json_object_set_new(o, "unknown", json_count(f->unknown));
	for (unsigned kind = 0; kind < FLOW_KINDS; kind++) {
		const struct flow_waits *w = &f->waits[kind];
		double share = message_flows_share(messages_flows(c->messages), w->waited_ns);

		json_object_set_new(
			o, kind == FLOW_LATE_SENDER ? "late_sender" : "late_receiver",
			json_pack("{s:o,s:o,s:o,s:o,s:o}", "times", json_count(w->times),
				  "waited_ns", json_ns(w->waited_ns), "most_ns",
				  json_ns(w->most_ns), "error_ns",
				  json_ns(w->times ? w->error_ns / (double)w->times : 0),
				  "cost_share", json_figure(share)));
	}
	json_print(o, stdout);
}

static void json_messages(const struct colop *c)
{
	const struct message_counts *n = messages_counts(c->messages);
	const struct message_flow *const *all;
	size_t flows = message_flows_all(messages_flows(c->messages), &all);

	for (size_t i = 0; i < flows; i++) {
		if (!colop_unmatched(c, all[i]->key.comm))
			json_flow(c, all[i]);
	}
	json_print(json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "matched",
			     "messages", json_count(n->matched), "open", json_count(n->open),
			     "lost", json_count(n->lost), "strange", json_count(n->strange),
			     "crowded", json_count(n->crowded), "left_out",
			     json_count(message_flows_left_out(messages_flows(c->messages))),
			     "unknown", json_count(messages_unknown(c->messages)), "skipped",
			     json_count(colop_unmatched(c, 0)), "foreign",
			     json_count(messages_foreign(c->messages))),
		   stdout);
}

/* What operations say of clocks, if they are of several hosts. */
static void json_clocks(const struct colop *c)
{
	const struct crossing_counts *n = crossings_counts(c->crossings);
	const double times = n->corrected ? (double)n->corrected : 1;
	json_t *o;

	if (n->meetings == 0)
		return;
	o = json_pack("{s:s,s:o,s:o,s:o,s:o,s:o}", "type", "clocks", "operations",
		      json_count(n->meetings), "corrected", json_count(n->corrected), "was_ns",
		      json_ns(n->was_ns / times), "bound_ns", json_ns(n->bound_ns / times),
		      "contradict", json_count(n->faults));
	if (n->faults) {
		const struct crossing_fault *w = &n->worst;

		json_object_set_new(o, "left", json_text(attendance_host(c->attendance, w->left)));
		json_object_set_new(o, "came", json_text(attendance_host(c->attendance, w->came)));
		json_object_set_new(o, "ns", json_ns(w->ns));
		json_object_set_new(o, "error_ns", json_ns(w->error_ns));
		json_object_set_new(o, "op", json_text(op_name(w->op)));
		json_object_set_new(o, "comm", json_comm(w->comm));
		json_object_set_new(o, "number", json_count(w->number));
	}
	json_print(o, stdout);
}

static void json_summary(const struct colop *c)
{
	const struct meetings_counts *n = colop_counts(c);
	const struct arrivals_counts out = colop_left_out(c);
	struct evspace_counts counts;

	evspace_counts(c->follow.client, &counts);
	json_print(
		json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
			  "type", "summary", "whole", json_count(n->n[MEETING_WHOLE]), "before",
			  json_count(n->n[MEETING_BEFORE]), "lost", json_count(n->n[MEETING_LOST]),
			  "absent", json_count(n->n[MEETING_ABSENT]), "crowded",
			  json_count(n->n[MEETING_CROWDED]), "mixed", json_count(n->mixed),
			  "unnumbered", json_count(out.unnumbered + c->grouped), "unsized",
			  json_count(n->n[MEETING_UNSIZED]), "parted", json_count(out.parted),
			  "strays", json_count(n->strays), "refused", json_count(n->refused),
			  "left_out", json_count(lateness_left_out(c->lateness)), "tuples_lost",
			  json_count(counts.lost), "unaccounted", json_count(counts.unaccounted),
			  "received_bytes", json_count(counts.received_bytes), "recorded_share",
			  recorded_json(c, 0)),
		stdout);
}

void colop_json_end(const struct colop *c)
{
	struct late_often *found = memory_new(COLOP_TOP_MOST, sizeof(*found));
	const struct lateness_class *const *classes;
	size_t n = lateness_classes(c->lateness, &classes), often;

	for (size_t i = 0; i < n; i++)
		json_class(c, classes[i]);
	lateness_each(c->lateness, json_member, (void *)(uintptr_t)c);
	often = lateness_often(c->lateness, c->least, found, COLOP_TOP_MOST);
	for (size_t i = 0; i < often; i++)
		json_often(c, &found[i]);
	if (c->messages)
		json_messages(c);
	json_clocks(c);
	json_summary(c);
	free(found);
}
