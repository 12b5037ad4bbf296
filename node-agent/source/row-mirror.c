/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes rows of mirrors: elements of other nodes' processes that this node has fetched. */
#include "node-agent/source/row-private.h"

#include <string.h>

/* Is the mirror one of this node, and of the run that is read? */
static bool rows_mirrors(const struct rows *r, const struct mirror *m)
{
	return !r->fetch[0] && strcmp(m->origin.run, r->run) == 0 &&
	       strcmp(m->holder, r->host->node) == 0;
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
	static const bool alive = true; /* how its process ended is known where that was */
	const struct mirror *m = &s->mirror;
	struct cursor_key key = {.device = m->device, .inode = m->inode, .born = m->born.mono_ns};
	struct row row = {
		.ring = m->ring,
		.alive = &alive,
		.mark = &m->header->mark,
		.lifetime_ns = m->lifetime_ns,
		.capacity = m->capacity,
		.inverse = element_inverse(m->capacity),
		.cost_ps = m->cost_ps,
		.serial = s->serial,
		.mirrored = true,
	};
	char text[2 * NAME_BYTES];
	struct row_name name = {text, m->origin.rank, (uint16_t)m->origin.channel};

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
