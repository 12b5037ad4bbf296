/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which processes and elements a node's sources read: those on it, and those others
 * fetch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node-agent/pastset/pastset.h"
#include "node-agent/source/row.h"
#include "node-agent/source/source.h"
#include "pathmap/base/quantity.h"
#include "pathmap/plan/holding.h"
#include "tree/data/process.h"
#include "tree/link/rate-limit.h"

/* Is the rank on this node by the list of ranks? Without a list, every rank may be. */
static bool source_may_hold(const struct source_host *host, const struct plan_place *place,
			    int rank)
{
	if (!(place ? place->placed : host->placed))
		return true;
	return rank >= 0 && holding_has(place ? place->holds : host->holds, (unsigned)rank);
}

bool source_holds(const struct source_host *host, const struct plan_place *place,
		  const struct store_segment *s)
{
	char own[sizeof(s->host)] = "";

	if (strcmp(s->host, host->node) == 0 && process_is_monitor(s->rank))
		return true;
	/* the agent of another node, which may run on the same host */
	if (s->rank == PROCESS_AGENT)
		return false;
	/* maps do not place tasks, nor worlds that the program spawns */
	if ((place ? place->placed : host->placed) && !process_is_task(s->rank) &&
	    !process_is_monitor(s->rank) && !s->world)
		return source_may_hold(host, place, s->rank);
	gethostname(own, sizeof(own) - 1);
	return strcmp(s->host, host->node) == 0 || strcmp(s->host, own) == 0;
}

/* ---- elements of programs ---- */

/* Does an agent of @node serve the same event space? */
static bool shares_space(const struct source_host *host, const char *node)
{
	char path[SOURCE_SOCKET];

	source_socket(host->store, node, path);
	return access(path, F_OK) == 0;
}

/* Does it, and hold ranks, so that views have it as a leaf? */
static bool is_leaf_here(const struct source_host *host, const char *node)
{
	char *holds;
	bool any;

	if (!shares_space(host, node))
		return false;
	holds = holding_list(host->map, node);
	any = holds[0] != '\0';
	free(holds);
	return any;
}

bool source_is_first(const struct source_host *host)
{
	const char *const *nodes;
	size_t n = pathmap_nodes(host->map, &nodes);

	for (size_t i = 0; i < n && strcmp(nodes[i], host->node) != 0; i++)
		if (is_leaf_here(host, nodes[i]))
			return false;
	return true;
}

bool source_shows(const struct source_host *host, const struct plan_place *place,
		  const struct pastset_header *said, bool first)
{
	int32_t rank = pastset_rank(said);
	const char *of = said->made_by;

	if (!place->placed || strcmp(of, host->node) == 0)
		return true;
	if (!of[0] && rank >= 0) {
		if (source_may_hold(host, place, rank))
			return true;
		of = pathmap_rank_node(host->map, (unsigned)rank);
	}
	return first && !(of && of[0] && strcmp(of, host->node) != 0 && is_leaf_here(host, of));
}

/* ---- contradicting maps ---- */

/* Most ranks that a message names, of one run and one node. */
#define MOVED_NAMED 8u

struct moved {
	const char *run;
	char node[128];
	int ranks[MOVED_NAMED];
	size_t n, more;
};

/* Would the other map move the process from here? Writes where to into @node (128 bytes). */
static bool is_moved(const struct source_host *host, const struct plan_place *place,
		     const struct store_segment *s, char node[128])
{
	if (process_is_task(s->rank) || s->world || s->rank < 0 || !source_holds(host, place, s) ||
	    !holding_other(place->elsewhere, (unsigned)s->rank, node, 128))
		return false;
	/* Without `place`, each agent of an event space shows all of it, so that one has it
	 * already. */
	if (!place->placed && shares_space(host, node))
		return false;
	return s->alive || rows_streamed(host, s);
}

static void moved_add(struct moved *m, const struct store_segment *s, const char *node)
{
	size_t at = 0;

	if (m->n == 0) {
		m->run = s->run;
		snprintf(m->node, sizeof(m->node), "%s", node);
	}
	if (strcmp(m->run, s->run) != 0 || strcmp(m->node, node) != 0 || m->n == MOVED_NAMED) {
		m->more++;
		return;
	}
	while (at < m->n && m->ranks[at] < s->rank)
		at++;
	/* a restarted rank has several processes */
	if (at < m->n && m->ranks[at] == s->rank)
		return;
	memmove(&m->ranks[at + 1], &m->ranks[at], (m->n++ - at) * sizeof(m->ranks[0]));
	m->ranks[at] = s->rank;
}

static int moved_refuse(const struct moved *m, const char *here, struct error *e)
{
	const char *them = m->n == 1 ? "it" : "them";
	char ranks[MOVED_NAMED * 12] = "", more[40] = "";
	size_t used = 0;

	for (size_t i = 0; i < m->n; i++)
		used += (size_t)snprintf(ranks + used, sizeof(ranks) - used, "%s%d", i ? "," : "",
					 m->ranks[i]);
	if (m->more)
		snprintf(more, sizeof(more), " (and %zu more)", m->more);
	errno = SOURCE_ELSEWHERE;
	return errorf(e,
		      "rank%s %s of run %s%s %s here, where the program put %s; a map cannot move "
		      "%s to %s: leave %s on %s in mapping.map, or apply this map when the run has "
		      "ended and nobody reads it",
		      plural(m->n, "s"), ranks, m->run, more, m->n == 1 ? "is" : "are", them, them,
		      m->node, them, here);
}

int source_check(const struct source_host *host, const Evspace__Open *open,
		 const struct plan_place *place, struct error *e)
{
	const struct store_segment *s;
	struct moved m = {.n = 0};
	char node[128];

	if (!place->elsewhere || !place->elsewhere[0])
		return 0;
	TAILQ_FOREACH (s, &host->store->segments, link) {
		if ((!open->run[0] || strcmp(s->run, open->run) == 0) &&
		    is_moved(host, place, s, node))
			moved_add(&m, s, node);
	}
	return m.n ? moved_refuse(&m, host->node, e) : 0;
}

/* An unreadable file is assigned by its name alone. */
uint32_t source_unreadable(const struct source_host *host, const struct plan_place *place,
			   const char *run)
{
	const struct store_refusal *r;
	uint32_t n = 0;

	TAILQ_FOREACH (r, &host->store->refusals, link) {
		if (strcmp(r->run, run) == 0 && !r->unwanted &&
		    (r->unreadable || (r->pid > 0 && !r->filed)) &&
		    (r->rank < 0 || process_is_task(r->rank) ||
		     source_may_hold(host, place, r->rank)))
			n++;
	}
	return n;
}

void source_log(const struct source_host *host, const struct error *e)
{
	unsigned long unsaid;

	if (!host->said || !rate_limit_take(host->said, &unsaid))
		return;
	fprintf(stderr, "evspace: %s", e->text);
	if (unsaid)
		fprintf(stderr, " (and %lu before that, not shown)", unsaid);
	fputc('\n', stderr);
}

const struct clock_host *source_clock(const struct source_host *host)
{
	uint64_t ns =
		clock_host_check(host->clock, clock_host_slept_ns(), clock_pair_take(clock_kind()));

	if (ns)
		fprintf(stderr,
			"evspace: %s was suspended for %.1f s: its clock is calibrated anew; "
			"tuples recorded before and read from now on may have wrong times\n",
			host->node, (double)ns / 1e9);
	return host->clock;
}

bool source_ticks_alike(const struct store_segment *s)
{
	return s->segment.said.clock_kind == clock_kind();
}

struct clock_line source_line(const struct source_host *host, const struct store_segment *s)
{
	enum clock_kind kind = s->segment.said.clock_kind;

	return clock_line_through(kind, s->segment.said.born, clock_pair_take(kind),
				  host->epoch_ns);
}

bool source_selects(char *const *patterns, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (pattern_match(patterns[i], name))
			return true;
	}
	return false;
}

/* The overflow element has no channel; state lines and regions have no capacity, and are read in
 * place. */
bool source_remote(const struct source_host *host, const struct store_segment *s,
		   const struct segment_element *e, char node[SOURCE_NODE])
{
	const char *cluster = pathmap_cluster(host->map, host->node);
	const char *channel = channel_name(e->channel);
	char name[2 * NAME_BYTES];
	struct recording is;

	if (e->thread == SEGMENT_NO_THREAD || e->capacity == 0)
		return false;
	snprintf(name, sizeof(name), "/%s/%s/%.*s/t%u/%s", cluster && cluster[0] ? cluster : "-",
		 host->node, process_own(s->name, s->pid), s->name, e->thread, channel);
	is = pathmap_element(host->map, name, channel);
	if (!is.collected || !is.remote[0] || strcmp(is.remote, host->node) == 0)
		return false;
	snprintf(node, SOURCE_NODE, "%s", is.remote);
	return true;
}

void source_socket(const struct store *store, const char *node, char *path)
{
	snprintf(path, SOURCE_SOCKET, "%s/agent-%s.sock", store->base, node);
}
