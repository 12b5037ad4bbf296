/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes calls of collectives out of events, and says which of them differ, and whose. */
#include "consumers/watch/disagreement.h"

#include <stdlib.h>

#include "consumers/cli/json.h"
#include "pathmap/base/quantity.h"
#include "tree/data/op.h"

/* Flags of events that are no calls, or without a number that means the same everywhere. A call
 * that failed has moved nothing. */
#define NO_CALL (EVSPACE_COMPLETION | EVSPACE_FAILED | EVSPACE_UNNUMBERED | EVSPACE_REGION)

void disagreement_hear(struct agreement *agreement, const struct evspace_client *client,
		       const struct evspace_event *ev, const struct thread_state *of)
{
	struct agreement_call call;

	if (!op_is_numbered(ev->op_number) || !ev->comm || ev->flags & NO_CALL)
		return;
	call = (struct agreement_call){
		.comm = ev->comm,
		.number = ev->seq_or_tag,
		.size = (uint32_t)evspace_members(client, ev->comm, NULL, 0),
		.world = of->world,
		.rank = of->rank,
		.op = ev->op_number,
		.inside = of->running,
		.one_group = evspace_is_world(client, ev->comm),
		.signature = ev->signature,
		.bytes = ev->bytes,
		.start_ns = ev->start_ns,
	};
	agreement_add(agreement, &call);
}

void disagreement_locate(struct agreement *agreement, const struct thread_states *threads)
{
	for (size_t i = 0; i < threads->fresh; i++) {
		const struct thread_state *p = &threads->items[i];
		const struct agreement_call call = {
			.comm = p->comm,
			.number = p->seq,
			.world = p->world,
			.rank = p->rank,
			.site = p->site,
		};

		if (p->site && op_is_numbered(p->op_number) && !p->unnumbered)
			agreement_locate(agreement, &call);
	}
}

/* What the call of a side says. */
static struct evspace_collective side_collective(const struct evspace_client *client,
						 const struct agreement_side *side)
{
	const struct evspace_event ev = {
		.op_number = side->call.op,
		.signature = side->call.signature,
		.comm = side->call.comm,
	};
	struct evspace_collective collective = {.root = -1};

	evspace_collective(client, &ev, &collective);
	return collective;
}

/* ---- words ---- */

static const char *const part_words[] = {
	[AGREEMENT_SAME] = "call",     [AGREEMENT_OPERATION] = "operation",
	[AGREEMENT_ROOT] = "root",     [AGREEMENT_REDUCTION] = "reduction",
	[AGREEMENT_TYPE] = "datatype", [AGREEMENT_SIZE] = "size",
};

static void add_side(char *buf, const struct evspace_client *client, const struct disagreement *d,
		     const struct agreement_side *side, int64_t now_ns)
{
	struct evspace_collective collective = side_collective(client, side);
	char text[UNIT_TEXT];

	words_add(buf, " ");
	words_add_ranks(buf, side->ranks, side->n);
	words_add(buf, " call%s %s", side->n == 1 ? "s" : "", op_name(side->call.op));
	words_add_collective(buf, &collective);
	if (d->part == AGREEMENT_SIZE)
		words_add(buf, ", %s", unit_bytes(text, side->call.bytes));
	words_add_site(buf, client, side->site);
	if (side->mixed)
		words_add(buf, ", or yet others");
	if (side->inside && now_ns > side->since_ns)
		words_add(buf, " (inside for %s)",
			  unit_duration(text, (uint64_t)(now_ns - side->since_ns)));
}

const char *disagreement_words(char buf[WORDS_TEXT], const struct evspace_client *client,
			       const struct disagreement *d, int64_t now_ns)
{
	const struct agreement_call *call = &d->sides[0].call;
	const struct words_about about = {"", call->op, -1, d->number, d->comm};

	buf[0] = '\0';
	words_add(buf, "collective");
	words_add_about(buf, client, &about);
	words_add(buf, " has not the same %s for all:", part_words[d->part]);
	/* first who is to be looked at */
	for (size_t i = 1; i < d->n_sides; i++) {
		add_side(buf, client, d, &d->sides[i], now_ns);
		words_add(buf, ",");
	}
	add_side(buf, client, d, &d->sides[0], now_ns);
	return buf;
}

/* ---- JSON ---- */

static json_t *ranks_json(const struct agreement_side *side)
{
	json_t *ranks = json_array();

	for (size_t i = 0; i < side->n; i++)
		json_array_append_new(ranks, json_integer(side->ranks[i]));
	return ranks;
}

static json_t *side_json(const struct evspace_client *client, const struct agreement_side *side)
{
	struct evspace_collective c = side_collective(client, side);

	return json_pack("{s:s,s:o,s:o,s:o,s:I,s:o,s:b,s:I,s:o,s:o}", "op", op_name(side->call.op),
			 "root", json_process(c.root), "reduction", json_text(c.reduction),
			 "datatype", json_text(c.type), "bytes", (json_int_t)side->call.bytes,
			 "ranks", ranks_json(side), "mixed", (int)side->mixed, "inside",
			 (json_int_t)side->inside, "since_ns", json_time(side->since_ns), "site",
			 json_text(side->site ? evspace_label(client, side->site) : NULL));
}

json_t *disagreement_json(const struct evspace_client *client, const struct disagreement *d,
			  uint64_t wave)
{
	json_t *sides = json_array(), *odd = json_array();

	for (size_t i = 0; i < d->n_sides; i++) {
		json_array_append_new(sides, side_json(client, &d->sides[i]));
		for (size_t k = 0; i > 0 && d->majority && k < d->sides[i].n; k++)
			json_array_append_new(odd, json_integer(d->sides[i].ranks[k]));
	}
	return json_pack("{s:s,s:I,s:o,s:I,s:I,s:s,s:o,s:o}", "type", "disagreement", "wave",
			 (json_int_t)wave, "comm", json_comm(d->comm), "number",
			 (json_int_t)d->number, "members", (json_int_t)d->size, "differs",
			 part_words[d->part], "odd", odd, "sides", sides);
}
