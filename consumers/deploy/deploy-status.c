/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace deploy status: asks all agents of a map through its entry, and lists them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/json.h"
#include "consumers/cli/command.h"
#include "consumers/deploy/deploy.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"

/* A certificate should be renewed when it expires within this time. */
#define EXPIRES_SOON_S (14 * 86400)

#define DAY_S 86400

/* ---- asking ---- */

/* Is it one of the wanted nodes? */
static bool is_wanted(const struct deploy_options *o, const Evspace__Status *s)
{
	for (size_t i = 0; i < o->only.n; i++)
		if (strcmp(o->only.names[i], s->node) == 0 ||
		    strcmp(o->only.names[i], s->cluster) == 0)
			return true;
	return o->only.n == 0;
}

static Evspace__Frame *status_ask(const struct deploy_options *o, const struct pathmap *map,
				  int *code)
{
	const char *entry = pathmap_address(map, pathmap_entry(map));
	const struct evspace_options look = {
		/* one without an address is on this host */
		.connect = o->connect ? o->connect
			   : *entry   ? entry
				      : NULL,
		.tls = o->tls,
		.identity = o->identity,
		.entry = pathmap_entry(map),
	};
	Evspace__Frame *reply;
	Evspace__StatusAsk status_ask = EVSPACE__STATUS_ASK__INIT;
	enum evspace_failure failure = EVSPACE_FINE;
	struct error e;

	status_ask.all = true;
	status_ask.deadline_ms = o->timeout_s * 1000;
	reply = options_ask_once(&look, &WIRE_FRAME(STATUS_ASK, status_ask, &status_ask),
				 EVSPACE__FRAME__KIND_STATUS, &failure, &e);
	if (reply)
		return reply;
	fprintf(stderr, "evspace deploy: the entry of the map, %s, cannot be asked: %s\n",
		pathmap_entry(map), e.text);
	*code = options_failure(failure);
	return NULL;
}

/* ---- showing ---- */

/* "+0.12 ms (0.05 ms)": ahead of the entry's clock, and the error. */
static const char *clock_text(char *buf, size_t n, const Evspace__Status *s)
{
	char offset[UNIT_TEXT], error[UNIT_TEXT];
	uint64_t ns = s->clock_ns < 0 ? -(uint64_t)s->clock_ns : (uint64_t)s->clock_ns;

	if (s->clock_error_ns == 0)
		snprintf(buf, n, "0");
	else if (ns <= s->clock_error_ns)
		snprintf(buf, n, "0 +- %s", unit_duration(error, s->clock_error_ns));
	else
		snprintf(buf, n, "%s%s +- %s", s->clock_ns < 0 ? "-" : "+",
			 unit_duration(offset, ns), unit_duration(error, s->clock_error_ns));
	return buf;
}

static const char *expiry_text(char *buf, size_t n, const Evspace__Status *s)
{
	if (!s->certified)
		snprintf(buf, n, "none");
	else if (s->expires_s <= 0)
		snprintf(buf, n, "EXPIRED");
	else
		snprintf(buf, n, "%lld day%s%s", (long long)(s->expires_s / DAY_S),
			 plural((uint64_t)(s->expires_s / DAY_S), "s"),
			 s->expires_s < EXPIRES_SOON_S ? " (soon!)" : "");
	return buf;
}

/* name and state are always shown */
static const struct table_column agent_columns[] = {
	{.pad = -16, .parts = 1},
	{.pad = -8, .gap = 1, .drop = 7},
	{.pad = 9, .gap = 1},
	{.pad = -22, .gap = 1, .drop = 5, .least = 8},
	{.pad = 5, .gap = 1, .drop = 4},
	{.pad = 8, .gap = 1, .drop = 2},
	{.pad = 6, .gap = 1, .drop = 1},
	{.pad = 9, .gap = 1, .drop = 3},
	{.pad = 10, .gap = 1, .drop = 6},
	{.gap = 1},
};

static void agent_add(struct table *t, const Evspace__Status *s)
{
	char name[200], text[100];

	snprintf(name, sizeof(name), "/%s/%s", s->cluster[0] ? s->cluster : "-", s->node);
	if (s->why) {
		table_line(t, "%-16s NOT THERE: %s", name, s->text);
		return;
	}
	table_cell(t, "%s", name);
	table_cell(t, "%s", s->version);
	table_cell(t, "%s", unit_duration(text, s->uptime_ms * 1000000u));
	table_cell(t, "%s", clock_text(text, sizeof(text), s));
	table_cell(t, "%u", s->collected);
	table_cell(t, "%u", s->elements);
	table_cell(t, "%u", s->scopes);
	table_cell(t, "%s", unit_duration(text, s->cpu_us * 1000u));
	table_cell(t, "%s", unit_bytes(text, s->memory));
	table_cell(t, "%s", expiry_text(text, sizeof(text), s));
}

static void print_table(const Evspace__Status *const *all, size_t n)
{
	static const char *const heads[] = {"agent",	"version", "up",  "clock",  "procs",
					    "elements", "scopes",  "CPU", "memory", "certificate"};
	struct table t;

	table_heads(&t, agent_columns, heads, sizeof(heads) / sizeof(heads[0]));
	for (size_t i = 0; i < n; i++)
		agent_add(&t, all[i]);
	table_print(&t, stdout);
	table_fini(&t);
}

static void print_json(const Evspace__Status *s)
{
	json_t *o =
		json_pack("{s:o,s:o,s:b,s:o}", "node", json_text(s->node), "cluster",
			  json_text(s->cluster), "there", s->why == 0, "why", json_text(s->text));
	json_t *more = json_pack(
		"{s:o,s:I,s:I,s:I,s:I,s:i,s:i,s:i,s:i,s:I,s:I,s:o}", "version",
		json_text(s->version), "pid", (json_int_t)s->pid, "uptime_ms",
		(json_int_t)s->uptime_ms, "clock_ns", (json_int_t)s->clock_ns, "clock_error_ns",
		(json_int_t)s->clock_error_ns, "processes", (int)s->collected, "elements",
		(int)s->elements, "scopes", (int)s->scopes, "links", (int)s->links, "cpu_us",
		(json_int_t)s->cpu_us, "memory", (json_int_t)s->memory, "certificate_expires_s",
		s->certified ? json_integer(s->expires_s) : json_null());
	const char *key;
	json_t *value;

	json_object_update_new(
		more, json_pack("{s:i,s:b}", "wire", (int)s->wire, "replaced", (int)s->replaced));
	if (!o || !more)
		abort();
	/* who does not answer says none of it */
	json_object_foreach(more, key, value)
		json_object_set_new(o, key, s->why ? json_null() : json_incref(value));
	json_decref(more);
	json_print(o, stdout);
}

/* Report if agents are of several releases, or their programs were replaced. */
static void print_mix(const Evspace__Status *const *all, size_t n)
{
	const Evspace__Status *first = NULL;

	for (size_t i = 0; i < n; i++) {
		const Evspace__Status *s = all[i];

		if (s->why)
			continue;
		first = first ? first : s;
		if (strcmp(s->version, first->version) != 0 || s->wire != first->wire)
			fprintf(stderr,
				"evspace deploy: %s is version %s (wire protocol %u), %s is %s "
				"(%u): bring them all to one with evspace deploy restart\n",
				s->node, s->version, s->wire, first->node, first->version,
				first->wire);
		if (s->replaced)
			fprintf(stderr,
				"evspace deploy: %s runs a program whose file has been replaced "
				"since: evspace deploy up takes the new one\n",
				s->node);
	}
}

/* By cluster and node, a2 before a10. */
static int status_order(const void *a, const void *b)
{
	const Evspace__Status *const *x = a, *const *y = b;
	int order = strverscmp((*x)->cluster, (*y)->cluster);

	return order ? order : strverscmp((*x)->node, (*y)->node);
}

int deploy_status(const struct deploy_options *o, const struct pathmap *map)
{
	size_t there = 0, n = 0;
	int code = EXIT_FINE;
	Evspace__Frame *reply = status_ask(o, map, &code);
	const Evspace__Status **shown;

	if (!reply)
		return code;
	shown = memory_new(reply->status->n_below + 1, sizeof(*shown));
	if (reply->status->n_below > 0)
		qsort(reply->status->below, reply->status->n_below, sizeof(Evspace__Status *),
		      status_order);
	for (size_t i = 0; i <= reply->status->n_below; i++) {
		/* the entry first */
		Evspace__Status *s = i == 0 ? reply->status : reply->status->below[i - 1];

		if (!is_wanted(o, s))
			continue;
		if (o->common.json)
			print_json(s);
		shown[n++] = s;
		there += s->why == 0;
	}
	if (!o->common.json)
		print_table(shown, n);
	fprintf(stderr, "%zu of %zu agent%s %s there\n", there, n, plural(n, "s"),
		n == 1 ? "is" : "are");
	print_mix(shown, n);
	free(shown);
	evspace__frame__free_unpacked(reply, NULL);
	return there < n ? EXIT_BAD_NEWS : EXIT_FINE;
}
