/* SPDX-License-Identifier: BSD-3-Clause */
/* What of this node's elements other nodes fetch, how it is called there, and how much has come. */
#include "node-agent/segment/segment-read.h"
#include "node-agent/source/row-private.h"

#include <stdio.h>
#include <string.h>

bool rows_read_here(const struct rows *r, const struct segment_element *e)
{
	const char *remote = source_remote(r->host, e);

	return r->fetch[0] ? remote && strcmp(remote, r->fetch) == 0 : !remote;
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

/* How much has come of what was written, under the guard. */
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
