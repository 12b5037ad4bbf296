/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of this node that other nodes fetch: their names there, and how much has arrived. And
 * rows of mirrors: elements of other nodes that this node has fetched. */
#include <stdio.h>
#include <string.h>

#include "node-agent/segment/segment-read.h"
#include "node-agent/source/row-private.h"

bool rows_read_here(const struct rows *r, const struct store_segment *s,
		    const struct segment_element *e)
{
	char node[SOURCE_NODE];
	bool remote = source_remote(r->host, s, e, node);

	return r->fetch[0] ? remote && strcmp(node, r->fetch) == 0 : !remote;
}

void rows_process(const struct rows *r, const struct store_segment *s, char *buf, size_t n)
{
	memset(buf, 0, n);
	if (r->fetch[0])
		snprintf(buf, n, "%s:%d%s", s->name, (int)s->pid, s->alive ? "" : ":ended");
	else
		snprintf(buf, n, "%s", s->name);
}

int rows_fetch_name(const struct rows *r, const struct store_segment *s, char *name)
{
	char rest[NAME_BYTES], process[ROW_PROCESS];
	const char *at = name;

	for (int part = 0; part < 4 && at; part++)
		at = strchr(at + (part > 0), '/');
	if (!at)
		return -1;
	snprintf(rest, sizeof(rest), "%s", at);
	rows_process(r, s, process, sizeof(process));
	return snprintf(name, NAME_BYTES, "/%s/%s/%s%s", s->run, r->place->node, process, rest) <
			       NAME_BYTES
		       ? 0
		       : -1;
}

/* For a guarded read of how much of what was written has arrived. */
struct row_fetch_look {
	const struct rows *r;
	const struct store_segment *s;
	uint64_t got, written;
	bool complete; /* all elements have rows */
};

static int look(void *arg)
{
	struct row_fetch_look *l = arg;

	l->complete = rows_have_all(l->r, l->s);
	l->got = l->written = 0;
	for (uint32_t i = 0; i < l->r->n; i++) {
		const struct row *row = &l->r->table[i];

		if (row->serial != l->s->serial || !row->ring)
			continue;
		l->got += row->acked;
		l->written += element_head(row->ring);
	}
	return 0;
}

void rows_acked(struct rows *r, uint32_t at, uint64_t number)
{
	r->table[at].acked = number;
}

bool rows_behind(const struct source_host *host, const struct store_segment *s)
{
	struct row_fetch_look l = {.s = s};

	if (!host->fetched)
		return false;
	LIST_FOREACH (l.r, host->fetched, fetched) {
		if (segment_guarded(look, &l) == 0 && (!l.complete || l.got < l.written))
			return true;
	}
	return false;
}

bool rows_fetched(const struct source_host *host, const struct store_segment *s, const char *node,
		  uint64_t *got, uint64_t *written)
{
	struct row_fetch_look l = {.s = s};

	*got = *written = 0;
	if (!host->fetched)
		return false;
	LIST_FOREACH (l.r, host->fetched, fetched) {
		if (strcmp(l.r->fetch, node) != 0 || segment_guarded(look, &l) < 0)
			continue;
		*got = l.got;
		*written = l.written;
		return true;
	}
	return false;
}

static bool rows_follows(const struct rows *r, const struct store_segment *s)
{
	for (size_t i = 0; i < r->n_follows; i++)
		if (r->follows[i].serial == s->serial)
			return true;
	return false;
}

bool rows_streamed(const struct source_host *host, const struct store_segment *s)
{
	const struct rows *r;

	if (!host->streams)
		return false;
	LIST_FOREACH (r, host->streams, stream) {
		if (!r->fetch[0] && rows_follows(r, s))
			return true;
	}
	return false;
}

/* ---- mirrors ---- */

/* Did this node fetch the mirror, and is it of the run that is read? */
static bool rows_mirrors(const struct rows *r, const struct mirror *m)
{
	return !r->fetch[0] && strcmp(m->origin.run, r->run) == 0 &&
	       strcmp(m->holder, r->host->node) == 0 &&
	       r->samples == (m->origin.channel == CHANNEL_SAMPLE);
}

size_t rows_count_mirrors(const struct rows *r)
{
	const struct store_mirror *m;
	size_t n = 0;

	TAILQ_FOREACH (m, &r->host->store->mirrors, link)
		n += rows_mirrors(r, &m->mirror);
	return n;
}

static double rows_mirror_error(const struct rows *r)
{
	const struct store_mirror *m;
	uint64_t error = 0;

	TAILQ_FOREACH (m, &r->host->store->mirrors, link) {
		if (rows_mirrors(r, &m->mirror) && m->mirror.error_ns > error)
			error = m->mirror.error_ns;
	}
	return (double)error;
}

struct clock_line rows_clock(const struct rows *r)
{
	const struct clock_host *clock = source_clock(r->host);
	struct clock_line line =
		clock_line_through(clock_kind(), clock_host_older(clock, clock->born, r->born),
				   clock_pair_take(clock_kind()), r->host->epoch_ns);

	line.error_ns += rows_mirror_error(r);
	return line;
}

static void take_mirror(struct rows *r, const struct store_mirror *s)
{
	static const bool alive = true; /* only its own node knows how its process ended */
	const struct mirror *m = &s->mirror;
	struct cursor_key key = {.device = m->device, .inode = m->inode, .born = m->born.mono_ns};
	struct row row = {
		.ring = m->ring,
		.alive = &alive,
		.mark = &m->header->mark,
		.lifetime = &m->header->lifetime_ns,
		.capacity = m->capacity,
		.inverse = element_inverse(m->capacity),
		.cost_ps = &m->header->cost_ps,
		.serial = s->serial,
		.mirrored = true,
	};
	char text[2 * NAME_BYTES];
	struct row_name name = {text, m->origin.rank, (uint16_t)m->origin.channel, 0};

	mirror_name(m, r->host->map, text, sizeof(text));
	if (strlen(text) < NAME_BYTES)
		rows_put(r, &key, &name, row, r->from_now && !r->begun ? mirror_head(m) : 0);
	r->born = clock_host_older(r->host->clock, r->born, m->born);
}

void rows_take_mirrors(struct rows *r)
{
	const struct store_mirror *m;

	for (uint32_t i = 0; i < r->n; i++) {
		if (r->table[i].mirrored)
			r->table[i].ring = NULL;
	}
	TAILQ_FOREACH (m, &r->host->store->mirrors, link) {
		if (rows_mirrors(r, &m->mirror))
			take_mirror(r, m);
	}
}
