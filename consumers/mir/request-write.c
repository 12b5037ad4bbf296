/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a request as the document that says it. */
#include "consumers/mir/request-write.h"

#include <inttypes.h>
#include <stdlib.h>

#include "consumers/mir/answer.h"

static void number_write(FILE *out, const char *name, bool said, int64_t value)
{
	if (said)
		fprintf(out, " %s=\"%" PRId64 "\"", name, value);
}

static void measuring_write(FILE *out, const struct mir_measuring *m)
{
	if (!m->said)
		return;
	fputs("<measuring", out);
	number_write(out, "delivery", m->has_delivery, m->delivery);
	if (m->destination)
		answer_attribute(out, "destination", m->destination);
	number_write(out, "interval", m->has_interval, (int64_t)m->interval);
	number_write(out, "duration", m->has_duration, (int64_t)m->duration);
	fputc('>', out);
	for (size_t i = 0; i < m->n_functions; i++)
		fprintf(out, "<aggregate function=\"%s\"/>", request_functions[m->functions[i]]);
	if (m->aggregates && m->n_functions == 0)
		fputs("<aggregate/>", out);
	fputs("</measuring>", out);
}

/* Each is nested in one that comes before it. */
static void entities_write(FILE *out, const struct mir_request *r)
{
	size_t open = 0; /* the innermost one that is not ended, from 1; 0: none */

	for (size_t i = 0; i <= r->n_entities; i++) {
		size_t within = i < r->n_entities ? r->entities[i].within : 0;

		while (open > 0 && open != within) {
			fprintf(out, "</%s>", request_levels[r->entities[open - 1].level]);
			open = r->entities[open - 1].within;
		}
		if (i == r->n_entities)
			break;
		fprintf(out, "<%s", request_levels[r->entities[i].level]);
		answer_attribute(out, "id", r->entities[i].id.text);
		fputc('>', out);
		open = i + 1;
	}
}

void request_write(FILE *out, const struct mir_request *r)
{
	fprintf(out, "<instrreq activated=\"%s\" flush=\"%s\">", r->activated ? "true" : "false",
		r->flush ? "true" : "false");
	if (r->from.text) {
		fputs("<codeRegion", out);
		answer_attribute(out, "from", r->from.text);
		if (r->to.text)
			answer_attribute(out, "to", r->to.text);
		fputs("/>", out);
	}
	for (size_t i = 0; i < r->n_metrics; i++) {
		fputs("<metric", out);
		answer_attribute(out, "name", r->metrics[i].text);
		fputs("/>", out);
	}
	if (r->events)
		fputs("<event/>", out);
	measuring_write(out, &r->measuring);
	entities_write(out, r);
	fputs("</instrreq>", out);
}

size_t request_bytes(const struct mir_request *r)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	if (!out)
		abort();
	request_write(out, r);
	if (fclose(out) != 0)
		abort();
	free(text);
	return n;
}
