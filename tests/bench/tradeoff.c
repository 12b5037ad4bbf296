/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The EventSpace paper's trade-off (section 6.2): how much slower the wind tunnel, size small, gets
 * when a consumer pulls one tuple from all trace elements so many times a second.
 *
 * The program runs on, collected from all the time, while consumers are held and let go in turn
 * (SIGSTOP: agents that nobody asks do nothing). Each stretch with one is compared with the stretch
 * without right beside, in random order: that leaves out what differs between two starts of a
 * program, and most of what others do to this machine meanwhile.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "pathmap/plan/plan.h"
#include "tests/bench/bed.h"
#include "tests/bench/bench.h"
#include "tests/bench/figures.h"
#include "tests/bench/floor.h"
#include "tests/bench/puller.h"
#include "tests/bench/space.h"
#include "tests/bench/tunnel.h"
#include "tests/random.h"

#define WARM_S	    20
#define WASH_S	    0.2 /* agents take the class that they are asked for within so long */
#define DEADLINE_MS 1000
#define CAPACITY    200
#define NODES	    12 /* of the paper's view */
#define PAPER_RUN   "paper"

static const char about[] =
	"usage: tradeoff [options]\n"
	"\n"
	"How much slower the wind tunnel (tests/apps/windtunnel --size small, 4 ranks) gets\n"
	"when a consumer pulls the newest tuple of trace elements 106 and 1,000 times a\n"
	"second, one and 16 waves under way, through a tree of two clusters: the 20 of the\n"
	"wind tunnel itself on 4 hosts, and the paper's 1,948 on 12. Agents and consumer are\n"
	"in each scheduling class (--urgency). Beside each is a bare epoll tree of the same\n"
	"shape, rate and class. The program is collected from all the time; stretches of one\n"
	"run with and without are compared in pairs, in random order. All share this\n"
	"machine's cores. Waves have a deadline of 1 s; those that come whole count. The\n"
	"paper: 1.07 at 25 waves a second, 1.50 at 106. All of it takes 20 minutes; --rounds\n"
	"makes intervals narrower. Interrupted, it says what it has measured so far.\n"
	"\n"
	"--case: 20, 1948, normal, batch, idle, 106, 1000, tree or bare; or several of them,\n"
	"as 20,idle.\n";

/* One way to look, who looks, and what was measured in each pair. */
struct step {
	unsigned elements, window;
	double rate;
	enum urgency urgency;
	bool is_floor;
	struct floor *floor;
	pid_t consumer; /* held but for its stretches */
	struct tally *tally;
	double *slowdown, *got; /* got: waves a second */
};

static const unsigned elements[] = {20, 1948}, windows[] = {1, 16};
static const double rates[] = {106, 1000};

#define STEPS_MOST 48
static struct step steps[STEPS_MOST];
static size_t n_steps;

static struct bed bed;
static struct space space;
static struct tunnel *tunnel;
static struct plan *plans[2];
static struct floor_place *places[2];

/* ---- the trees ---- */

/* 14 a thread, 8 and 19 threads a node, but one less on each. */
static unsigned paper_elements(unsigned rank)
{
	static const bool is_first[NODES] = {1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0};

	return is_first[rank] ? 8 * 14 - 1 : 265;
}

static int maps_write(struct error *e)
{
	const char *net = bed.net;
	int port = BED_PORT;

	if (bed_map(&bed, "cluster.map", e,
		    "cluster A { nodes a[0-7]; address %s.[1-8]:%d; gateway ga; }\n"
		    "cluster B { nodes b[0-3]; address %s.[9-12]:%d; gateway gb; }\n"
		    "node ga { address %s.13:%d; }\nnode gb { address %s.14:%d; }\n"
		    "node front { address %s.15:%d; }\n",
		    net, port, net, port, net, port, net, port, net, port) < 0 ||
	    bed_map(&bed, "mapping.map", e,
		    "entry front;\nplace rank[0-1] on a[0-1];\nplace rank[2-3] on b[0-1];\n"
		    "place rank[4-9] on a[2-7];\nplace rank[10-11] on b[2-3];\ntree "
		    "by-cluster;\n") < 0)
		return -1;
	return bed_map(&bed, "application.map", e,
		       "application windtunnel { ranks rank[0-11];\n"
		       "view v20 { select /A/a[0-1]/**/p2p /A/a[0-1]/**/collective "
		       "/A/a[0-1]/**/wait /A/a[0-1]/**/completion /A/a[0-1]/**/env "
		       "/B/b[0-1]/**/p2p /B/b[0-1]/**/collective /B/b[0-1]/**/wait "
		       "/B/b[0-1]/**/completion /B/b[0-1]/**/env; read latest; }\n"
		       "view v1948 { " BED_NEWEST " } }\n");
}

static unsigned place_fill(const struct plan_place *p, size_t parent, unsigned which)
{
	unsigned n = 0, of_leaf = 5;

	if (which == 1)
		of_leaf = p->node[0] == 'a' ? 8 * 14 - 1 : 265;
	places[which][p->index] = (struct floor_place){parent, p->leaf ? of_leaf : 0};
	for (size_t i = 0; i < p->n_children; i++)
		n += place_fill(p->children[i], p->index, which);
	return n + (p->leaf ? of_leaf : 0);
}

static int plans_make(struct error *e)
{
	static const char *const views[] = {"v20", "v1948"};

	for (unsigned i = 0; i < 2; i++) {
		if (plan_make(bed.map, views[i], &plans[i], e) < 0)
			return -1;
		places[i] = memory_new(plans[i]->n_places, sizeof(struct floor_place));
		if (place_fill(plans[i]->root, 0, i) != elements[i])
			return errorf(e, "the view %s has not %u elements", views[i], elements[i]);
	}
	return 0;
}

static int set_up(struct error *e)
{
	unsigned each[NODES];

	for (unsigned i = 0; i < NODES; i++)
		each[i] = paper_elements(i);
	if (bed_begin(&bed, e) < 0 || maps_write(e) < 0 ||
	    space_make(&space, bed.space, PAPER_RUN, NODES, each, CAPACITY, e) < 0 ||
	    bed_start(&bed, e) < 0 || plans_make(e) < 0)
		return -1;
	tunnel = tunnel_new(&bed, NULL, e);
	return tunnel ? 0 : -1;
}

/* ---- what is compared ---- */

/* Is @word one of the comma-separated words of --case? */
static bool says(const char *only, const char *word)
{
	const char *at = strstr(only, word);
	size_t n = strlen(word);

	return at && (at == only || at[-1] == ',') && (at[n] == '\0' || at[n] == ',');
}

/* Of words of the same kind, one must be this. */
static bool kind_says(const char *only, const char *const *kind, const char *word)
{
	bool any = false;

	for (; *kind; kind++)
		any = any || says(only, *kind);
	return !any || says(only, word);
}

static bool step_is_wanted(const struct step *s, const char *only)
{
	static const char *const sizes[] = {"20", "1948", NULL},
				 *const paces[] = {"106", "1000", NULL},
				 *const classes[] = {"normal", "batch", "idle", NULL},
				 *const trees[] = {"tree", "bare", NULL};

	return !only || (kind_says(only, sizes, sizes[s->elements != 20]) &&
			 kind_says(only, paces, paces[s->rate > 106]) &&
			 kind_says(only, classes, urgency_word(s->urgency)) &&
			 kind_says(only, trees, trees[s->is_floor]));
}

static void steps_choose(const struct bench_options *o)
{
	for (unsigned i = 0; i < STEPS_MOST; i++) {
		struct step s = {
			.elements = elements[i / 24],
			.rate = rates[i / 12 % 2],
			.window = windows[i / 6 % 2],
			.urgency = (enum urgency)(URGENCY_NORMAL - i / 2 % 3),
			.is_floor = i % 2,
		};

		if (!step_is_wanted(&s, o->only))
			continue;
		s.slowdown = memory_new(o->rounds, sizeof(double));
		s.got = memory_new(o->rounds, sizeof(double));
		steps[n_steps++] = s;
	}
}

/* ---- consumers ---- */

static bool has_begun(void *arg)
{
	const struct tally *tally = arg;

	return tally_failed(tally) || atomic_load(&tally->waves) > 2;
}

static int floor_start(struct step *s, struct error *e)
{
	unsigned which = s->elements != 20;
	struct floor_options *o = memory_new(1, sizeof(*o)); /* as long as it */

	*o = (struct floor_options){
		.capacity = CAPACITY,
		.window = s->window,
		.rate = s->rate,
		.urgency = s->urgency,
		.net = FLOOR_TCP,
	};
	s->floor = floor_new(places[which], plans[which]->n_places, o, e);
	if (!s->floor)
		return -1;
	s->consumer = floor_processes(s->floor)->consumer;
	s->tally = floor_processes(s->floor)->tally;
	return 0;
}

static int tree_start(struct step *s, struct error *e)
{
	bool paper = s->elements != 20;
	struct puller_options o =
		bed_puller(&bed, paper ? "v1948" : "v20", paper ? PAPER_RUN : TUNNEL_RUN);

	o.window = s->window;
	o.rate = s->rate;
	o.hosts = paper ? NODES : TUNNEL_RANKS;
	o.tuples = s->elements;
	o.deadline_ms = DEADLINE_MS;
	o.lenient = true;
	o.urgency = (enum evspace_urgency)s->urgency;
	s->tally = tally_new();
	s->consumer = puller_start(&o, s->tally, e);
	return s->consumer < 0 ? -1 : 0;
}

/* Start it, and hold it once waves have come. */
static int step_start(struct step *s, struct error *e)
{
	if ((s->is_floor ? floor_start(s, e) : tree_start(s, e)) < 0 ||
	    bench_until(has_begun, s->tally, WARM_S, "the first waves", e) < 0)
		return -1;
	kill(s->consumer, SIGSTOP);
	return 0;
}

/* ---- measuring ---- */

static int watched_measure(const struct step *s, double seconds, double *pace, double *got,
			   struct error *e)
{
	uint64_t waves;
	double since;
	int result;

	kill(s->consumer, SIGCONT);
	if (bench_wait(WASH_S, e) < 0)
		return -1;
	waves = atomic_load(&s->tally->waves);
	since = bench_seconds();
	result = tunnel_pace(tunnel, seconds, pace, e);
	*got = (double)(atomic_load(&s->tally->waves) - waves) / (bench_seconds() - since);
	kill(s->consumer, SIGSTOP);
	return result;
}

/* What is under way when the consumer is held may still come. */
static int alone_measure(double seconds, double *pace, struct error *e)
{
	return bench_wait(WASH_S, e) < 0 ? -1 : tunnel_pace(tunnel, seconds, pace, e);
}

static int pair_measure(const struct step *s, unsigned round, bool first, double seconds,
			struct error *e)
{
	double alone = 0, watched = 0;

	if (first && alone_measure(seconds, &alone, e) < 0)
		return -1;
	if (watched_measure(s, seconds, &watched, &s->got[round], e) < 0)
		return -1;
	if (!first && alone_measure(seconds, &alone, e) < 0)
		return -1;
	s->slowdown[round] = alone / watched;
	return 0;
}

/* The reason that the consumer gave, if it has, instead of what is in @e. */
static int step_fail(const struct step *s, struct error *e)
{
	if (s->tally && tally_failed(s->tally))
		errorf(e, "the consumer: %s", s->tally->why);
	return error_prefix(e, "%u elements, %s, %g waves a second", s->elements,
			    urgency_word(s->urgency), s->rate);
}

/* *@pairs: of each step, also if it is interrupted, or fails. */
static int measure(const struct bench_options *o, unsigned *pairs, struct error *e)
{
	uint64_t random = 1;
	size_t order[STEPS_MOST];

	for (size_t i = 0; i < n_steps; i++) {
		order[i] = i;
		if (step_start(&steps[i], e) < 0)
			return step_fail(&steps[i], e);
	}
	for (unsigned round = 0; round < o->rounds; *pairs = ++round) {
		for (size_t i = n_steps; i-- > 0;) {
			size_t other = random_below(&random, i + 1), at = order[other];
			const struct step *s = &steps[at];

			order[other] = order[i];
			order[i] = at;
			if (pair_measure(s, round, random_below(&random, 2), o->seconds, e) < 0 ||
			    tally_failed(s->tally))
				return step_fail(s, e);
		}
	}
	return 0;
}

/* ---- what came out ---- */

static void step_print(const struct step *s, const struct bench_options *o, unsigned pairs)
{
	double slowdown = figures_median(s->slowdown, pairs), low, high;
	double got = figures_median(s->got, pairs);

	figures_interval(s->slowdown, pairs, &low, &high);
	if (o->json)
		printf("{\"bench\":\"tradeoff\",\"elements\":%u,\"tree\":\"%s\",\"class\":\"%s\","
		       "\"rate_hz\":%g,\"window\":%u,\"slowdown\":%.4f,\"low\":%.4f,\"high\":%.4f,"
		       "\"pairs\":%u,\"waves_per_s\":%.1f,\"agents\":%zu}\n",
		       s->elements, s->is_floor ? "bare" : "evspace", urgency_word(s->urgency),
		       s->rate, s->window, slowdown, low, high, pairs, got, bed.n_agents);
	else
		printf("%8u  %-7s  %-6s  %7g  %6u  %9.1f  %8.3f  %5.3f to %5.3f\n", s->elements,
		       s->is_floor ? "bare" : "evspace", urgency_word(s->urgency), s->rate,
		       s->window, got, slowdown, low, high);
}

static void results_print(const struct bench_options *o, unsigned pairs)
{
	if (!o->json)
		printf("wind tunnel, size small, %d ranks on %ld cores shared with agents and "
		       "consumer; %u pairs of %g s\n\n"
		       "%8s  %-7s  %-6s  %7s  %6s  %9s  %8s  %s\n",
		       TUNNEL_RANKS, sysconf(_SC_NPROCESSORS_ONLN), pairs, o->seconds, "elements",
		       "tree", "class", "waves/s", "window", "delivered", "slowdown", "95 %");
	for (size_t i = 0; i < n_steps; i++)
		step_print(&steps[i], o, pairs);
}

static void step_end(struct step *s)
{
	if (s->is_floor) {
		floor_free(s->floor);
	} else {
		bench_end(s->consumer, SIGKILL);
		tally_free(s->tally);
	}
	free(s->slowdown);
	free(s->got);
}

int main(int argc, char **argv)
{
	static const struct bench_options quick = {.seconds = 0.25, .rounds = 5};
	struct bench_options o = {.seconds = 0.4, .rounds = 20};
	struct error e = {""};
	unsigned pairs = 0;
	int result;

	bench_parse(argc, argv, &o, &quick, about);
	bench_begin();
	steps_choose(&o);
	result = n_steps > 0 ? set_up(&e) : errorf(&e, "there is no case '%s'; try --help", o.only);
	if (result == 0)
		result = measure(&o, &pairs, &e);
	if (result < 0)
		fprintf(stderr, "tradeoff: %s\n", e.text);
	if (pairs > 0)
		results_print(&o, pairs);
	for (size_t i = 0; i < n_steps; i++)
		step_end(&steps[i]);
	tunnel_free(tunnel);
	space_fini(&space);
	bed_end(&bed);
	for (unsigned i = 0; i < 2; i++) {
		free(places[i]);
		plan_free(plans[i]);
	}
	return result < 0 ? 1 : 0;
}
