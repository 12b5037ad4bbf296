/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes entries of the calls in an archive: sorted by time outside of memory, as all that is read
 * of entries is read more than once. */
#include "consumers/phase/blocks-of-events.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client/client-replay.h"
#include "consumers/client/evspace-loop.h"
#include "consumers/keep/progress.h"
#include "consumers/keep/spill.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "tree/data/op.h"

/* Most changes that are to be drained, 24 bytes each: two of each call. */
#define CHANGES_MOST 40000000u

/* To sort takes as much again. */
#define SORT_MEMORY ((size_t)16 << 20)

/* One call site, or operation. */
struct block_site {
	char *name;
	uint32_t seen, place; /* in order of coming, of names */
	UT_hash_handle hh;
};

/* A process begins or ends a call, or says where it is. */
struct block_change {
	int64_t ns;
	float error_ns;
	uint32_t site;	/* of one that is said its number */
	uint32_t taken; /* how many came before */
	uint16_t process;
	uint8_t run;
	bool behind : 1, said : 1;
};

struct block_making {
	struct block_site *sites;
	size_t n_sites;
	uint64_t apart, taken;
	uint64_t lost, lost_said; /* of calls, and of what the program says */
	uint8_t run;
	bool said; /* the program says its blocks */
	struct block_run {
		char *host;   /* of its first event: "/cluster/node" */
		bool several; /* others, too */
		bool said;
	} runs[BLOCKS_OF_EVENTS_RUNS];
	bool sited; /* any is known by its call site */
	unsigned processes;
	bool came[ENTRIES_PROCESSES_MAX]; /* something of the process */
	bool selects;			  /* not all may come */
	int64_t first_ns;
	struct block_change *changes; /* to be drained */
	size_t n, room;
	struct spill *all;  /* NULL: they are drained */
	struct error fault; /* "": none; and errno */
	int fault_errno;
	uint32_t *place; /* by site, in order of their names */
	int64_t zero_ns; /* of the entries that are read: time 0 of the run */
	int of_run;	 /* -1: none yet */
};

/* ---- events ---- */

/* What is called "/cluster/node/rank/t0/channel" is of the first thread. Returns its channel, else
 * NULL. */
static const char *first_channel(const char *name)
{
	const char *end = strrchr(name, '/');

	return end && end - name >= 3 && strncmp(end - 3, "/t0", 3) == 0 ? end + 1 : NULL;
}

/* Of the channel "p2p:main.c:12" the call site, else what the operation @op is called. */
static uint32_t site_of(struct block_making *m, const char *channel, const char *op)
{
	const char *colon = strchr(channel, ':');
	const char *name = colon ? colon + 1 : op;
	struct block_site *site;

	m->sited |= colon != NULL;
	HASH_FIND_STR(m->sites, name, site);
	if (!site) {
		site = memory_new(1, sizeof(*site));
		site->name = memory_copy(name);
		site->seen = (uint32_t)m->n_sites++;
		HASH_ADD_KEYPTR(hh, m->sites, site->name, strlen(site->name), site);
	}
	return site->seen;
}

static void change_hold(struct block_making *m, const struct block_change *change)
{
	if (m->n == CHANGES_MOST)
		return;
	if (m->n == m->room) {
		m->room = m->room ? 2 * m->room : 4096;
		m->changes = reallocarray(m->changes, m->room, sizeof(*m->changes));
		if (!m->changes)
			abort();
	}
	m->changes[m->n++] = *change;
}

static void change_add(struct block_making *m, struct block_change *change)
{
	if (m->taken == 0 || change->ns < m->first_ns)
		m->first_ns = change->ns;
	if (change->process >= m->processes)
		m->processes = change->process + 1u;
	m->came[change->process] = true;
	change->taken = (uint32_t)m->taken++;
	if (!m->all)
		change_hold(m, change);
	else if (!m->fault.text[0] && spill_add(m->all, change, &m->fault) < 0)
		m->fault_errno = errno;
}

/* What is called "/cluster/node/…" is on another host than what is called "/cluster/other/…". */
static void host_note(struct block_run *r, const char *name)
{
	const char *node = *name ? strchr(name + 1, '/') : NULL;
	size_t n = node ? (size_t)(strchrnul(node + 1, '/') - name) : strlen(name);

	if (!r->host)
		r->host = memory_format("%.*s", (int)n, name);
	r->several |= strncmp(r->host, name, n) != 0 || r->host[n] != '\0';
}

void blocks_of_events_take(struct block_making *m, const struct evspace_event *ev)
{
	struct block_change change = {.ns = ev->start_ns,
				      .error_ns = (float)ev->error_ns,
				      .process = (uint16_t)ev->rank,
				      .run = m->run};
	bool said = strcmp(ev->op, "evspace_state") == 0;
	const char *channel = first_channel(ev->name);

	/* regions and the like are no communication */
	if (!ev->end_ns || ev->flags & (EVSPACE_COMPLETION | EVSPACE_RUNNING) ||
	    (op_channel(ev->op_number) == CHANNEL_USER && !said))
		return;
	if (!channel || ev->rank < 0 || ev->rank >= (int32_t)ENTRIES_PROCESSES_MAX) {
		m->apart++;
		return;
	}
	host_note(&m->runs[m->run], ev->name);
	if (said) {
		m->said = m->runs[m->run].said = change.said = true;
		change.site = ev->seq_or_tag;
		change_add(m, &change);
		return;
	}
	change.site = site_of(m, channel, ev->op);
	change_add(m, &change);
	change.ns = ev->end_ns > ev->start_ns ? ev->end_ns : ev->start_ns + 1;
	change.behind = true;
	change_add(m, &change);
}

void blocks_of_events_lose(struct block_making *m, struct evspace_client *client)
{
	struct evspace_loss loss;

	evspace_rewind(client);
	while (evspace_loss(client, &loss)) {
		const char *channel = first_channel(loss.name);

		if (!channel || loss.rank < 0 || strncmp(channel, "completion", 10) == 0)
			continue;
		if (strncmp(channel, "user", 4) == 0)
			m->lost_said += loss.lost;
		else
			m->lost += loss.lost;
	}
}

bool blocks_of_events_full(const struct block_making *m)
{
	return m->fault.text[0] || m->n == CHANGES_MOST;
}

/* What has come has no room. */
static int fault_tell(const struct block_making *m, struct error *e)
{
	errno = m->fault_errno;
	return errorf(e, "%s", m->fault.text);
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
	struct read_progress progress = {0};
	struct evspace_event ev;
	uint64_t before = m->taken;
	int rc = -1;

	free(address);
	while (client && (rc = evspace_next(client, -1)) == 1 && !blocks_of_events_full(m)) {
		while (evspace_event(client, &ev))
			blocks_of_events_take(m, &ev);
		blocks_of_events_lose(m, client);
		progress_show(&progress, "blocks entered", m->taken - before,
			      client_replay_share(client));
	}
	if (client && rc < 0) {
		failure = evspace_failed(client);
		errorf(e, "%s", evspace_why(client));
	}
	evspace_close(client);
	if (m->fault.text[0])
		return fault_tell(m, e);
	errno = rc < 0 && failure == EVSPACE_DISK ? EPROTO : EINVAL;
	if (rc < 0 || m->taken > before)
		return rc < 0 ? -1 : 0;
	return errorf(e, "%s: there is no call of a rank in it", folder);
}

int blocks_of_events_read(struct block_making *m, const char *const *folders, unsigned n,
			  const struct evspace_options *of, struct error *e)
{
	for (unsigned i = 0; i < n; i++) {
		m->run = (uint8_t)i;
		if (events_take(m, folders[i], of, e) < 0)
			return -1;
	}
	for (unsigned i = 0; i < n && m->said; i++) {
		errno = EINVAL;
		if (!m->runs[i].said)
			return errorf(e,
				      "%s: no process says its blocks (evspace_block()) there, but "
				      "in others of the archives: they are runs of one program",
				      folders[i]);
	}
	return 0;
}

/* ---- entries ---- */

/* As text, numbers in it by value: line 9 before line 10. */
static int by_name(const struct block_site *a, const struct block_site *b)
{
	return strverscmp(a->name, b->name);
}

/* Of one process at one time, what ends is before what begins. */
static int by_time(const void *a, const void *b)
{
	const struct block_change *x = a, *y = b;

	if (x->run != y->run)
		return x->run > y->run ? 1 : -1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? 1 : -1;
	if (x->process != y->process)
		return x->process > y->process ? 1 : -1;
	if (x->behind != y->behind)
		return x->behind ? -1 : 1;
	return (x->taken > y->taken) - (x->taken < y->taken);
}

static void sites_number(struct block_making *m, struct block_sites *sites)
{
	m->place = memory_new(m->n_sites + 1, sizeof(*m->place));
	HASH_SORT(m->sites, by_name);
	sites->names = memory_new(m->n_sites + 1, sizeof(*sites->names));
	for (struct block_site *s = m->sites; s; s = s->hh.next) {
		m->place[s->seen] = (uint32_t)sites->n;
		sites->names[sites->n++] = memory_copy(s->name);
	}
}

/* Calls are no blocks of a program that says its own. */
static bool is_block(const struct block_making *m, const struct block_change *c)
{
	return c->said || !m->said;
}

/* Times of one host are compared as they are. Of a clock of which nothing is known it is less than
 * 300 years. */
static double bound_of(const struct block_making *m, const struct block_change *c)
{
	return m->runs[c->run].several && c->error_ns > 0 ? fmin((double)c->error_ns, 1e19) : 0;
}

static int change_next(void *arg, struct entry *entry, struct error *e)
{
	struct block_making *m = arg;
	struct block_change c;
	int got;

	do
		got = spill_next(m->all, &c, e);
	while (got > 0 && !is_block(m, &c));
	if (got <= 0)
		return got;
	if (m->of_run != c.run)
		m->zero_ns = c.ns - 1;
	m->of_run = c.run;
	*entry = (struct entry){.time = (double)(c.ns - m->zero_ns),
				.bound = bound_of(m, &c),
				.block = c.said ? c.site : 2 * m->place[c.site] + 1 + c.behind,
				.process = c.process};
	if (entry->block < ENTRIES_BLOCKS_MAX)
		return 1;
	errno = EINVAL;
	return errorf(e, "process %u is in block %u: the last one is %u", entry->process,
		      entry->block, ENTRIES_BLOCKS_MAX - 1);
}

static void changes_again(void *arg)
{
	struct block_making *m = arg;

	spill_again(m->all);
	m->of_run = -1;
}

int blocks_of_events_end(struct block_making *m, struct entries *entries, const char *name,
			 struct block_sites *sites, struct error *e)
{
	*sites = (struct block_sites){
		.apart = m->apart, .lost = m->said ? m->lost_said : m->lost, .known = m->sited};
	*entries = (struct entries){.name = name, .source = {change_next, changes_again, m}};
	if (m->fault.text[0])
		return fault_tell(m, e);
	errno = EINVAL;
	if (m->taken == 0)
		return errorf(e, "%s: there is no call of a rank in it", name);
	for (unsigned i = 0; i < m->processes && m->selects; i++) {
		if (!m->came[i])
			return errorf(e,
				      "--select leaves out process %u, and states are of all from "
				      "0 to %u: --subset has the entropy of some",
				      i, m->processes - 1);
	}
	if (!m->said)
		sites_number(m, sites);
	changes_again(m);
	return 0;
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

/* Put those before @until_ns in front, but for what is no block. Returns how many. */
static size_t changes_part(struct block_making *m, int64_t until_ns)
{
	size_t n = 0, later = 0;

	for (size_t i = 0; i < m->n; i++) {
		struct block_change change = m->changes[i];

		if (!is_block(m, &change))
			continue;
		m->changes[later] = change;
		if (change.ns >= until_ns) {
			later++;
			continue;
		}
		m->changes[later++] = m->changes[n];
		m->changes[n++] = change;
	}
	m->n = later;
	return n;
}

void blocks_of_events_drain(struct block_making *m, int64_t until_ns, struct block_sites *sites,
			    block_take *take, void *arg)
{
	size_t n;

	if (m->n == 0)
		return;
	if (!m->said)
		sites_append(m, sites);
	n = changes_part(m, until_ns);
	qsort(m->changes, n, sizeof(*m->changes), by_time);
	for (size_t i = 0; i < n; i++) {
		const struct block_change *c = &m->changes[i];

		take(arg, c->ns, bound_of(m, c), c->process,
		     c->said ? c->site : 2 * c->site + 1 + c->behind);
	}
	m->n -= n;
	memmove(m->changes, m->changes + n, m->n * sizeof(*m->changes));
}

/* ---- life ---- */

/* The file, if there is one, is where files without a name belong. */
struct block_making *blocks_of_events_new(bool drained, bool selects)
{
	struct block_making *m = memory_new(1, sizeof(*m));
	const char *folder = getenv("TMPDIR");
	char *beside;

	m->selects = selects;
	if (drained)
		return m;
	beside = memory_format("%s/phase", folder && *folder ? folder : P_tmpdir);
	m->all = spill_new(sizeof(struct block_change), by_time, SORT_MEMORY, beside);
	free(beside);
	return m;
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
	for (size_t i = 0; i < sizeof(m->runs) / sizeof(m->runs[0]); i++)
		free(m->runs[i].host);
	free(m->changes);
	free(m->place);
	spill_free(m->all);
	free(m);
}

void block_sites_fini(struct block_sites *sites)
{
	for (size_t i = 0; i < sites->n; i++)
		free(sites->names[i]);
	free(sites->names);
	*sites = (struct block_sites){0};
}
