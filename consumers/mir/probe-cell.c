/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells by names, and names by entities. */
#include "consumers/mir/probe-cell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

struct probe_cell *probe_cell_of(struct probe_series *series, uint32_t comm, const char *name)
{
	char key[1024];
	int n = snprintf(key, sizeof(key), "%08x%s", comm, name);
	size_t bytes = n < (int)sizeof(key) ? (size_t)n : sizeof(key) - 1;
	struct probe_cell *c;

	HASH_FIND(hh, series->cells, key, bytes, c);
	if (c)
		return c;
	c = memory_new(1, sizeof(*c) + bytes + 1);
	memcpy(c->key, key, bytes);
	c->comm = comm;
	c->name = c->key + 8;
	HASH_ADD_KEYPTR(hh, series->cells, c->key, bytes, c);
	return c;
}

void probe_is_fresh(struct probe *probe)
{
	if (probe->fresh_ns == 0)
		probe->fresh_ns = clock_mono_ns();
}

bool probe_id_is_wild(const char *id)
{
	return id && (strcmp(id, "*") == 0 || strcmp(id, "?") == 0);
}

/* Bytes of a cell's name down to a level; 0: it has none. */
static size_t cell_bytes(const struct probe_cell *c, enum mir_level level)
{
	static const unsigned parts[MIR_LEVELS] = {
		[MIR_SITE] = 1, [MIR_NODE] = 2, [MIR_PROCESS] = 3, [MIR_THREAD] = 4};
	const char *at = c->name;

	for (unsigned i = 0; i < parts[level]; i++) {
		if (*at != '/')
			return 0;
		at += 1 + strcspn(at + 1, "/");
	}
	return (size_t)(at - c->name);
}

/* What a cell is at a level, for the caller to free; NULL: nothing. */
static char *cell_id(const struct probe_cell *c, enum mir_level level)
{
	size_t n = level == MIR_COMMUNICATOR ? 0 : cell_bytes(c, level);

	if (level == MIR_COMMUNICATOR)
		return c->comm ? memory_format("%08x", c->comm) : NULL;
	return n > 0 ? memory_copy_bytes(c->name, n) : NULL;
}

void probe_ids_free(char *id[MIR_LEVELS])
{
	for (unsigned i = 0; i < MIR_LEVELS; i++)
		free(id[i]);
}

/* Is it what the chain says at a level? */
static bool cell_is(const struct probe_cell *c, const struct probe_chain *chain,
		    const struct metric *m, enum mir_level level)
{
	const char *id = chain->id[level];
	size_t n;

	if (level == MIR_COMMUNICATOR)
		return probe_id_is_wild(id) || (c->comm && strtoul(id, NULL, 16) == c->comm);
	if (level == MIR_THREAD && m && metric_is_of_processes(m) && probe_id_is_wild(id))
		return true;
	if (probe_id_is_wild(id))
		return cell_bytes(c, level) > 0;
	/* it has as many parts as the level */
	n = strlen(id);
	return strncmp(c->name, id, n) == 0 && (!c->name[n] || c->name[n] == '/');
}

/* Each cell is compared with each chain: nothing is copied for that. */
static bool cell_is_of(const struct probe_cell *c, const struct probe_chain *chain,
		       const struct metric *m)
{
	/* threads are counted once, and once for each communicator */
	bool is_of = !m || m->what != METRIC_THREADS ||
		     (c->comm != 0) == (chain->id[MIR_COMMUNICATOR] != NULL);

	for (unsigned i = 0; i < MIR_LEVELS && is_of; i++)
		is_of = !chain->id[i] || cell_is(c, chain, m, (enum mir_level)i);
	return is_of;
}

bool probe_cell_ids(const struct probe_cell *c, const struct probe_chain *chain,
		    const struct metric *m, char *id[MIR_LEVELS])
{
	bool is_of = cell_is_of(c, chain, m);

	for (unsigned i = 0; i < MIR_LEVELS; i++)
		id[i] = is_of && chain->id[i] ? cell_id(c, (enum mir_level)i) : NULL;
	return is_of;
}

/* ---- chains of a request ---- */

bool probe_uses(const struct probe *probe)
{
	for (size_t i = 0; i < probe->n_series; i++)
		if (metric_is_used(probe->series[i].metric))
			return true;
	return false;
}

/* The chain of entity @i; false: what is nested in it is meant. Without entities there is one, of
 * those that execute. */
bool probe_chain_of(const struct probe *p, size_t i, struct probe_chain *chain)
{
	const struct mir_request *d = p->defined;

	*chain = (struct probe_chain){.all = false};
	if (d->n_entities == 0) {
		/* the kernel knows no communicators: with its figures nothing is by these */
		for (unsigned k = 0; k < MIR_LEVELS; k++)
			chain->id[k] = k == MIR_COMMUNICATOR && probe_uses(p) ? NULL : "?";
		chain->some = true;
		return true;
	}
	if (d->entities[i].nests)
		return false;
	for (size_t at = i + 1; at > 0; at = d->entities[at - 1].within) {
		const struct mir_entity *e = &d->entities[at - 1];

		chain->id[e->level] = e->id.text;
		chain->all |= strcmp(e->id.text, "*") == 0;
		chain->some |= strcmp(e->id.text, "?") == 0;
	}
	return true;
}

size_t probe_chains(const struct probe *p)
{
	return p->defined->n_entities > 0 ? p->defined->n_entities : 1;
}

/* How many parts of names the smallest is that "?" is for. */
static unsigned depth_of_some(const struct probe *p)
{
	static const unsigned parts[MIR_LEVELS] = {
		[MIR_SITE] = 1, [MIR_NODE] = 2, [MIR_PROCESS] = 3, [MIR_THREAD] = 4};
	struct probe_chain chain;
	unsigned depth = 0;

	for (size_t i = 0; i < probe_chains(p); i++) {
		if (!probe_chain_of(p, i, &chain) || !chain.some)
			continue;
		for (unsigned k = 0; k < MIR_LEVELS; k++)
			depth = chain.id[k] && parts[k] > depth ? parts[k] : depth;
	}
	return depth;
}

/* Are the first @depth parts of the names the same, as far as both have them? */
static bool is_alike(const char *a, const char *b, unsigned depth)
{
	for (; *a && *b && *a == *b; a++, b++)
		if (*a == '/' && depth-- == 0)
			return true;
	return (!*a || *a == '/') && (!*b || *b == '/');
}

void probe_cells_run(struct probe *probe, struct probe_series *series, const char *thread)
{
	unsigned depth = depth_of_some(probe);

	if (probe->sample_ns == 0)
		probe->sample_ns = clock_mono_ns();
	for (struct probe_cell *c = series->cells; c; c = c->hh.next)
		if (is_alike(c->name, thread, depth))
			c->ran = c->has_run = true;
}

bool probe_concerns(const struct probe *probe, uint32_t comm, const char *thread)
{
	const struct probe_cell cell = {.comm = comm, .name = (char *)thread};
	struct probe_chain chain;
	bool is_of = false;

	for (size_t i = 0; i < probe_chains(probe) && !is_of; i++)
		is_of = probe_chain_of(probe, i, &chain) && cell_is_of(&cell, &chain, NULL);
	return is_of;
}
