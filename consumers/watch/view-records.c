/* SPDX-License-Identifier: BSD-3-Clause */
/* The tuples and totals of a view's answer, as evspace events writes them. */
#include "consumers/watch/events.h"
#include "consumers/watch/view.h"
#include "pathmap/base/table.h"

static size_t n_tuples, n_totals;

static size_t records_take(const struct viewer *v)
{
	struct evspace_event ev;
	struct evspace_total total;

	for (n_tuples = 0; evspace_event(v->client, &ev); n_tuples++)
		;
	evspace_rewind(v->client);
	for (n_totals = 0; evspace_total(v->client, &total); n_totals++)
		;
	return n_tuples + n_totals;
}

static void records_json(const struct viewer *v, FILE *out)
{
	struct evspace_event ev;
	struct evspace_total total;

	evspace_rewind(v->client);
	while (evspace_event(v->client, &ev))
		events_json.event(v->client, &ev, 0, out);
	evspace_rewind(v->client);
	while (evspace_total(v->client, &total))
		events_json.total(&total, 0, out);
}

static void records_text(const struct viewer *v, FILE *out)
{
	struct evspace_event ev;
	struct evspace_total total;
	size_t width = table_width(out);

	evspace_rewind(v->client);
	for (size_t i = 0; viewer_shows(v, i, n_tuples) && evspace_event(v->client, &ev); i++)
		events_text.event(v->client, &ev, width, out);
	viewer_more(v, n_tuples, out);
	evspace_rewind(v->client);
	for (size_t i = 0; viewer_shows(v, i, n_totals) && evspace_total(v->client, &total); i++)
		events_text.total(&total, width, out);
	viewer_more(v, n_totals, out);
}

const struct figure figure_tuples = {records_take, false, records_text, records_json, NULL};
