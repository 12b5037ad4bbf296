/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes entries of the calls in an archive: sorted by time, in a file without a name, as all that
 * is read of entries is read more than once. */
#include "consumers/phase/blocks-of-events.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client/client-replay.h"
#include "consumers/client/evspace-loop.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

/* Most changes that are kept of events as they come, 24 bytes each: two of each call. */
#define CHANGES_MOST 40000000u

/* One call site, or operation. */
struct block_site {
	char *name;
	uint32_t seen, place; /* in order of coming, of names */
	UT_hash_handle hh;
};

/* A process begins or ends a call. */
struct block_change {
	int64_t ns;
	float error_ns;
	uint32_t process, site; /* of one that is said its number */
	bool behind, said;
	uint16_t run;
};

struct block_making {
	struct block_site *sites;
	struct block_change *changes;
	size_t n, room, n_sites;
	uint64_t apart;
	uint16_t run;
	bool said; /* the program says its blocks */
	unsigned processes;
	int64_t first_ns;
};

/* ---- events ---- */

/* Of "/…/p2p:main.c:12" the call site, else what the operation is called. */
static uint32_t site_of(struct block_making *m, const struct evspace_event *ev)
{
	const char *channel = strrchr(ev->name, '/');
	const char *colon = channel ? strchr(channel, ':') : NULL;
	const char *name = colon ? colon + 1 : ev->op;
	struct block_site *site;

	HASH_FIND_STR(m->sites, name, site);
	if (!site) {
		site = memory_new(1, sizeof(*site));
		site->name = memory_copy(name);
		site->seen = (uint32_t)m->n_sites++;
		HASH_ADD_KEYPTR(hh, m->sites, site->name, strlen(site->name), site);
	}
	return site->seen;
}

static void change_add(struct block_making *m, const struct block_change *change)
{
	if (m->n == m->room) {
		m->room = m->room ? 2 * m->room : 4096;
		m->changes = reallocarray(m->changes, m->room, sizeof(*m->changes));
		if (!m->changes)
			abort();
	}
	if (m->processes == 0 || change->ns < m->first_ns)
		m->first_ns = change->ns;
	if (change->process >= m->processes)
		m->processes = change->process + 1;
	m->changes[m->n++] = *change;
}

void blocks_of_events_take(struct block_making *m, const struct evspace_event *ev)
{
	struct block_change change = {.ns = ev->start_ns,
				      .error_ns = (float)ev->error_ns,
				      .process = (uint32_t)ev->rank,
				      .run = m->run};

	bool said = strcmp(ev->op, "evspace_state") == 0;

	if (ev->rank < 0 || !ev->end_ns || ev->flags & (EVSPACE_COMPLETION | EVSPACE_RUNNING) ||
	    (ev->flags & EVSPACE_REGION && !said))
		return;
	if (!strstr(ev->name, "/t0/") || ev->rank >= (int32_t)ENTRIES_PROCESSES_MAX) {
		m->apart++;
		return;
	}
	if (said) {
		m->said = change.said = true;
		change.site = ev->seq_or_tag;
		change_add(m, &change);
		return;
	}
	change.site = site_of(m, ev);
	change_add(m, &change);
	change.ns = ev->end_ns > ev->start_ns ? ev->end_ns : ev->start_ns + 1;
	change.behind = true;
	change_add(m, &change);
}

bool blocks_of_events_full(const struct block_making *m)
{
	return m->n >= CHANGES_MOST;
}

static int events_take(struct block_making *m, const char *folder, const struct evspace_options *of,
		       struct error *e)
{
	char *address = memory_format(CLIENT_REPLAY "%s", folder);
	const struct evspace_options look = {.connect = address,
					     .view = "events",
					     .select = of->select,
					     .n_select = of->n_select};
	enum evspace_failure failure;
	struct evspace_client *client = evspace_open(&look, &failure, e->text, sizeof(e->text));
	struct evspace_event ev;
	size_t before = m->n;
	int rc = -1;

	free(address);
	while (client && (rc = evspace_next(client, -1)) == 1) {
		while (evspace_event(client, &ev))
			blocks_of_events_take(m, &ev);
	}
	if (client && rc < 0) {
		failure = evspace_failed(client);
		errorf(e, "%s", evspace_why(client));
	}
	evspace_close(client);
	errno = rc < 0 && failure == EVSPACE_DISK ? EPROTO : EINVAL;
	if (rc < 0 || m->n > before)
		return rc;
	return errorf(e, "%s: there is no call of a rank in it", folder);
}

/* Calls are no blocks of a program that says its own. */
static void calls_drop(struct block_making *m)
{
	size_t n = 0;

	for (size_t i = 0; m->said && i < m->n; i++)
		if (m->changes[i].said)
			m->changes[n++] = m->changes[i];
	m->n = m->said ? n : m->n;
}

/* ---- entries ---- */

/* As text, numbers in it by value: line 9 before line 10. */
static int by_name(const struct block_site *a, const struct block_site *b)
{
	return strverscmp(a->name, b->name);
}

static int by_time(const void *a, const void *b)
{
	const struct block_change *x = a, *y = b;

	if (x->run != y->run)
		return x->run > y->run ? 1 : -1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? 1 : -1;
	return (x->process > y->process) - (x->process < y->process);
}

static uint32_t *sites_number(struct block_making *m, struct block_sites *sites)
{
	uint32_t *place = memory_new(m->n_sites + 1, sizeof(*place));

	HASH_SORT(m->sites, by_name);
	sites->names = memory_new(m->n_sites + 1, sizeof(*sites->names));
	for (struct block_site *s = m->sites; s; s = s->hh.next) {
		place[s->seen] = (uint32_t)sites->n;
		sites->names[sites->n++] = memory_copy(s->name);
	}
	return place;
}

static void entries_write(struct block_making *m, const uint32_t *place, FILE *to)
{
	const struct block_change *first = NULL;

	qsort(m->changes, m->n, sizeof(*m->changes), by_time);
	for (size_t i = 0; i < m->n; i++) {
		const struct block_change *c = &m->changes[i];

		first = first && first->run == c->run ? first : c;
		fprintf(to, "%lld %u %u", (long long)(c->ns - first->ns + 1),
			c->said ? c->site : 2 * place[c->site] + 1 + c->behind, c->process);
		/* of a clock of which nothing is known: less than 300 years */
		if (c->error_ns > 0)
			fprintf(to, " %.6g", fmin((double)c->error_ns, 1e19));
		fputc('\n', to);
	}
}

/* ---- as they come ---- */

struct blocks_so_far blocks_of_events_so_far(const struct block_making *m)
{
	return (struct blocks_so_far){m->processes, m->first_ns, m->said};
}

/* Those that have come since the last time. */
static void sites_append(const struct block_making *m, struct block_sites *sites)
{
	if (sites->n == m->n_sites)
		return;
	sites->names = reallocarray(sites->names, m->n_sites, sizeof(*sites->names));
	if (!sites->names)
		abort();
	/* in the order in which they came */
	for (const struct block_site *s = m->sites; s; s = s->hh.next)
		if (s->seen >= sites->n)
			sites->names[sites->n++] = memory_copy(s->name);
}

/* Put those before @until_ns in front. Returns how many. */
static size_t changes_part(struct block_making *m, int64_t until_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++) {
		struct block_change change = m->changes[i];

		if (change.ns >= until_ns)
			continue;
		m->changes[i] = m->changes[n];
		m->changes[n++] = change;
	}
	return n;
}

void blocks_of_events_drain(struct block_making *m, int64_t until_ns, struct block_sites *sites,
			    void (*take)(void *arg, int64_t ns, unsigned process, uint32_t block),
			    void *arg)
{
	size_t n;

	if (m->n == 0)
		return;
	calls_drop(m);
	if (!m->said)
		sites_append(m, sites);
	n = changes_part(m, until_ns);
	qsort(m->changes, n, sizeof(*m->changes), by_time);
	for (size_t i = 0; i < n; i++) {
		const struct block_change *c = &m->changes[i];

		take(arg, c->ns, c->process, c->said ? c->site : 2 * c->site + 1 + c->behind);
	}
	m->n -= n;
	memmove(m->changes, m->changes + n, m->n * sizeof(*m->changes));
}

struct block_making *blocks_of_events_new(void)
{
	return memory_new(1, sizeof(struct block_making));
}

void blocks_of_events_free(struct block_making *m)
{
	struct block_site *s, *next;

	if (!m)
		return;
	HASH_ITER(hh, m->sites, s, next)
	{
		HASH_DEL(m->sites, s);
		free(s->name);
		free(s);
	}
	free(m->changes);
	free(m);
}

int blocks_of_events_end(struct block_making *m, struct entries *entries, const char *name,
			 struct block_sites *sites, struct error *e)
{
	uint32_t *place = NULL;
	int rc = 0;

	*sites = (struct block_sites){.apart = m->apart};
	*entries = (struct entries){.name = name};
	if (m->n == 0)
		return errorf(e, "%s: there is no call of a rank in it", name);
	calls_drop(m);
	if (!m->said)
		place = sites_number(m, sites);
	entries->in = tmpfile();
	if (entries->in)
		entries_write(m, place, entries->in);
	if (!entries->in || fflush(entries->in) != 0)
		rc = errorf(e, "there is no place for the entries: %s", strerror(errno));
	else
		entries_rewind(entries);
	free(place);
	return rc;
}

int blocks_of_events(struct entries *entries, const char *const *folders, unsigned n,
		     const struct evspace_options *of, struct block_sites *sites, struct error *e)
{
	struct block_making *m = blocks_of_events_new();
	int failed = 0;

	*entries = (struct entries){.name = folders[0]};
	for (unsigned i = 0; i < n && !failed; i++) {
		m->run = (uint16_t)i;
		failed = events_take(m, folders[i], of, e);
	}
	if (!failed)
		failed = blocks_of_events_end(m, entries, folders[0], sites, e);
	blocks_of_events_free(m);
	return failed;
}

void block_sites_fini(struct block_sites *sites)
{
	for (size_t i = 0; i < sites->n; i++)
		free(sites->names[i]);
	free(sites->names);
	*sites = (struct block_sites){0};
}
