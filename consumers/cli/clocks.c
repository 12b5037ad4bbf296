/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace status --clocks: how the clocks of all hosts of a map relate to the entry's. */
#include "consumers/cli/clocks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"

/* For so long agents look at each other's clocks before they answer, if no scope has them do so. */
#define SETTLE_MS   1000u
#define DEADLINE_MS 4000u

/* An offset or an error of more is not known. */
#define KNOWN_MOST_NS 9e18

static const struct table_column clock_columns[] = {
	{.least = 8}, {.drop = 4}, {0}, {0}, {.drop = 1}, {.drop = 2}, {.drop = 3},
};

/* "+1.25 ms +- 14 us" */
static void offset_cell(struct table *t, const Evspace__Related *r)
{
	char offset[UNIT_TEXT], error[UNIT_TEXT];
	uint64_t ns = r->ahead_ns < 0 ? -(uint64_t)r->ahead_ns : (uint64_t)r->ahead_ns;

	if ((double)ns <= r->error_ns)
		table_cell(t, "0 +- %s", unit_duration(error, (uint64_t)r->error_ns));
	else
		table_cell(t, "%s%s +- %s", r->ahead_ns < 0 ? "-" : "+", unit_duration(offset, ns),
			   unit_duration(error, (uint64_t)r->error_ns));
}

static bool is_known(const Evspace__Related *r)
{
	return r && r->error_ns >= 0 && r->error_ns < KNOWN_MOST_NS;
}

static void clock_add(struct table *t, const Evspace__Status *s, bool entry)
{
	const Evspace__Related *r = s->related;
	char age[UNIT_TEXT];

	if (s->why) {
		table_line(t, "%s NOT THERE: %s", s->node, s->text);
		return;
	}
	table_cell(t, "%s", s->node);
	table_cell(t, "%s", s->clock);
	if (entry || (is_known(r) && r->same)) {
		table_cell(t, entry ? "the entry's clock" : "the same clock");
		for (int i = 0; i < 4; i++)
			table_cell(t, "%s", "");
	} else if (!is_known(r)) {
		table_cell(t, "not known");
		for (int i = 0; i < 4; i++)
			table_cell(t, "%s", "");
	} else {
		offset_cell(t, r);
		table_cell(t, "%+.2f +- %.2f ppm", r->drift * 1e6, r->error_drift * 1e6);
		table_cell(t, "%s", unit_duration(age, r->age_ns));
		table_cell(t, "%llu", (unsigned long long)r->probes);
		table_cell(t, "%u", r->steps);
	}
}

static void clock_json(const Evspace__Status *s, bool entry)
{
	static const Evspace__Related none = EVSPACE__RELATED__INIT;
	const Evspace__Related *r = entry ? &none : s->related;
	bool known = is_known(r) && s->why == 0;
	json_t *o = json_pack("{s:o,s:b,s:o,s:o,s:b}", "node", json_text(s->node), "there",
			      s->why == 0, "why", json_text(s->text), "clock", json_text(s->clock),
			      "same", known && (r->same || entry));

	if (!o)
		abort();
	json_object_set_new(o, "offset_ns", known ? json_integer(r->ahead_ns) : json_null());
	json_object_set_new(o, "error_ns", known ? json_figure(r->error_ns) : json_null());
	json_object_set_new(o, "drift_ppm", known ? json_real(r->drift * 1e6) : json_null());
	json_object_set_new(o, "drift_error_ppm",
			    known ? json_figure(r->error_drift * 1e6) : json_null());
	json_object_set_new(o, "age_ns", known ? json_count(r->age_ns) : json_null());
	json_object_set_new(o, "probes", known ? json_count(r->probes) : json_null());
	json_object_set_new(o, "steps", known ? json_count(r->steps) : json_null());
	json_print(o, stdout);
}

static int clock_order(const void *a, const void *b)
{
	return strverscmp((*(Evspace__Status *const *)a)->node,
			  (*(Evspace__Status *const *)b)->node);
}

int clocks_show(const char *command, const struct common *common)
{
	static const char *const heads[] = {"host", "clock", "offset", "drift",
					    "age",  "pings", "steps"};
	Evspace__StatusAsk ask = EVSPACE__STATUS_ASK__INIT;
	struct evspace_options look = common->look;
	int code = EXIT_FINE;
	Evspace__Frame *reply;
	Evspace__Status *s;
	struct table t;

	ask.all = true;
	ask.settle_ms = SETTLE_MS;
	ask.deadline_ms = look.deadline_ms = DEADLINE_MS;
	reply = options_ask(command, &look, &WIRE_FRAME(STATUS_ASK, status_ask, &ask),
			    EVSPACE__FRAME__KIND_STATUS, &code);
	if (!reply)
		return code;
	s = reply->status;
	if (s->n_below > 0)
		qsort(s->below, s->n_below, sizeof(Evspace__Status *), clock_order);
	table_heads(&t, clock_columns, heads, sizeof(heads) / sizeof(heads[0]));
	for (size_t i = 0; i <= s->n_below; i++) {
		const Evspace__Status *host = i == 0 ? s : s->below[i - 1];

		if (host->why)
			code = EXIT_BAD_NEWS;
		if (common->json)
			clock_json(host, i == 0);
		else
			clock_add(&t, host, i == 0);
	}
	if (!common->json)
		table_print(&t, stdout);
	table_fini(&t);
	evspace__frame__free_unpacked(reply, NULL);
	return code;
}
