/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what threads do, and resolves where those that are in it for long have called it. */
#include "node-agent/source/row-thread.h"

#include <string.h>

#include "node-agent/segment/segment-read.h"
#include "node-agent/source/label.h"
#include "node-agent/source/row-private.h"
#include "tree/data/names-comm.h"
#include "tree/data/op-table.h"
#include "tree/data/turn.h"

void row_ticks(const struct source_host *host, const struct clock_line *to, const struct row *row,
	       struct tuple *tuples, uint32_t n)
{
	struct clock_line line = source_line(host, row->other);

	for (struct tuple *t = tuples; t < tuples + n; t++) {
		t->start = clock_line_ticks(to, clock_line_ns(&line, t->start));
		if (t->end)
			t->end = clock_line_ticks(to, clock_line_ns(&line, t->end));
	}
}

/* The operation that the thread is in for long, as a tuple that says no more than since when and
 * from where; its address. 0: it is in none for so long. */
static uint64_t long_call(const struct row_look *look, const struct row *row, struct tuple *out)
{
	uint64_t address;

	*out = (struct tuple){
		.peer = TUPLE_NO_PEER,
		.op = OP_EVSPACE_SITE,
		.flags = TUPLE_RUNNING | TUPLE_REGION,
	};
	address = segment_site(row->thread, &out->start);
	if (address && row->other)
		row_ticks(look->host, &look->line, row, out, 1);
	return out->start < look->long_ago ? address : 0;
}

/* Its region, with the label of the call site if that is known; without a region that alone. */
static int row_region(struct row_look *look, const struct row *row, uint32_t at, struct tuple *out)
{
	int in_region = segment_region(row->thread, out);
	struct tuple call;
	uint64_t address = long_call(look, row, &call);

	if (in_region && row->other)
		row_ticks(look->host, &look->line, row, out, 1);
	if (address && address != row->site && look->n_sites < ROW_SITES) {
		look->sites[look->n_sites].row = at;
		look->sites[look->n_sites++].address = address;
	}
	if (!address || address != row->site || !row->site_label)
		return in_region;
	if (!in_region) {
		*out = call;
		out->seq_or_tag = row->site_label;
	}
	out->comm = row->site_label;
	return 1;
}

int row_thread(struct row_look *look, const struct row *row, uint32_t at, struct tuple *out)
{
	if (!row->thread)
		return 0;
	if (row->region) {
		if (!row_region(look, row, at, out))
			return 0;
	} else {
		if (!segment_state(row->thread, out))
			return 0;
		if (row->other)
			row_ticks(look->host, &look->line, row, out, 1);
	}
	if (!*row->alive)
		out->flags |= TUPLE_GONE;
	return 1;
}

/* ---- call sites ---- */

static struct follow *follow_of(struct rows *r, uint64_t serial)
{
	for (size_t i = 0; i < r->n_follows; i++) {
		if (r->follows[i].serial == serial && !r->follows[i].broken)
			return &r->follows[i];
	}
	return NULL;
}

/* The label of @site; 0: there are too many. */
static uint32_t site_label(struct rows *r, const char *site)
{
	uint32_t label = label_id(site, strlen(site));

	if (names_label_find(r->names, label))
		return label;
	if (r->site_labels >= ROW_SITE_LABELS || names_label_learn(r->names, label, site) < 0)
		return 0;
	r->site_labels++;
	return label;
}

/* A site that cannot be said has label 0, and is not asked for again. */
static void site_take(struct rows *r, struct row *row, uint64_t address)
{
	const struct segment_element call = {
		.channel = CHANNEL_STATE, .split = SPLIT_SITE, .key = address};
	struct follow *f = follow_of(r, row->serial);
	char text[NAME_BYTES];
	const char *site;

	if (!f)
		return;
	row->site = address;
	row->site_label = 0;
	if (label_write(text, sizeof(text), &f->segment->segment, &call, r->host->sites) < 0) {
		rows_lose(r, f);
		return;
	}
	site = strchr(text, ':') + 1;
	/* an address alone tells nobody anything */
	if (site[0] != '?')
		row->site_label = site_label(r, site);
}

void rows_sites(struct rows *r, const struct row_look *look)
{
	uint64_t until_ns = clock_mono_ns() + TURN_NS;

	for (unsigned i = 0; i < look->n_sites && (i == 0 || clock_mono_ns() < until_ns); i++) {
		if (look->sites[i].row < r->n && r->table[look->sites[i].row].region)
			site_take(r, &r->table[look->sites[i].row], look->sites[i].address);
	}
}
