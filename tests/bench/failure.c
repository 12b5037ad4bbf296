/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long until waves are whole again when something fails: an inner node killed, stopped or cut
 * off, a leaf stopped or killed, and each of them back again. Whole means: with all leaves that are
 * left. Certificates and TLS as always; nobody helps but the agents themselves.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/client/evspace-client.h"
#include "pathmap/base/memory.h"
#include "tests/bench/bed.h"
#include "tests/bench/bench.h"
#include "tests/bench/figures.h"
#include "tests/bench/space.h"

#define LEAVES	   6
#define RUN	   "run"
#define RATE	   200.0
#define WHOLE_S	   20
#define CALM_WAVES 20
#define INNER	   "a0"
#define LEAF	   "a1"

static const char about[] =
	"usage: failure [options]\n"
	"\n"
	"A consumer pulls 200 waves a second through front over a0 (over a1, a2) and b0 (over b1,\n"
	"b2), all six of them leaves. Then a0 (an inner node), or a1 (a leaf), fails, and comes\n"
	"back. Printed is how long it takes from there to the first wave that has all leaves that\n"
	"are left, or all: a median of several times. Limits: killed 100 ms, cut off or stopped 1 "
	"s,\n"
	"a leaf one wave's deadline of 1 s.\n";

static struct bed bed;
static struct space space;
static struct evspace_client *client;
static bool has_wires; /* they can be cut: we are in a network namespace of our own */

/* What may happen to a host, and its opposite. */
enum what { KILL, START, STOP, GO_ON, CUT, MEND };

struct step {
	const char *name;
	const char *node;
	enum what what;
	unsigned answered; /* leaves of the first wave that counts */
	double limit_ms;   /* 0: none is set */
	double *ms;	   /* one of each round */
};

static struct step steps[] = {
	{"inner node killed", INNER, KILL, LEAVES - 1, 100, NULL},
	{"... started again", INNER, START, LEAVES, 0, NULL},
	{"inner node stopped", INNER, STOP, LEAVES - 1, 1000, NULL},
	{"... goes on", INNER, GO_ON, LEAVES, 0, NULL},
	{"inner node cut off", INNER, CUT, LEAVES - 1, 1000, NULL},
	{"... wire mended", INNER, MEND, LEAVES, 0, NULL},
	{"leaf stopped", LEAF, STOP, LEAVES - 1, 1000, NULL},
	{"... goes on", LEAF, GO_ON, LEAVES, 0, NULL},
	{"leaf killed", LEAF, KILL, LEAVES - 1, 1000, NULL},
	{"... started again", LEAF, START, LEAVES, 0, NULL},
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

/* ---- the bed ---- */

/* A network of our own has a loopback interface only, and a filter that nobody else minds. */
static bool wires_begin(void)
{
	return unshare(CLONE_NEWNET) == 0 && system("ip link set lo up 2>/dev/null") == 0 &&
	       system("nft add table ip cut 2>/dev/null && nft 'add chain ip cut wires { type "
		      "filter "
		      "hook output priority 0; }' 2>/dev/null") == 0;
}

static int wire_set(const char *node, bool cut, struct error *e)
{
	char address[64], command[256];

	snprintf(address, sizeof(address), "%s", pathmap_address(bed.map, node));
	address[strcspn(address, ":")] = '\0';
	snprintf(command, sizeof(command),
		 cut ? "nft 'add rule ip cut wires ip daddr %s drop; add rule ip cut wires ip "
		       "saddr %s "
		       "drop'"
		     : "nft flush chain ip cut wires # %s %s",
		 address, address);
	return system(command) == 0 ? 0 : errorf(e, "nft cannot cut the wire of %s", node);
}

static int set_up(struct error *e)
{
	const unsigned elements[LEAVES] = {6, 6, 6, 6, 6, 6};

	if (bed_begin(&bed, e) < 0 ||
	    bed_map(&bed, "application.map", e, "application bench { ranks rank[0-%d]; }\n",
		    LEAVES - 1) < 0 ||
	    bed_map(&bed, "cluster.map", e,
		    "cluster A { nodes a[0-2]; address %s.[1-3]:%d; }\n"
		    "cluster B { nodes b[0-2]; address %s.[4-6]:%d; }\n"
		    "node front { address %s.7:%d; }\n",
		    bed.net, BED_PORT, bed.net, BED_PORT, bed.net, BED_PORT) < 0 ||
	    bed_map(&bed, "mapping.map", e,
		    "entry front;\nplace rank[0-2] on a[0-2];\nplace rank[3-5] on b[0-2];\n"
		    "tree by-cluster;\n") < 0)
		return -1;
	if (space_make(&space, bed.space, RUN, LEAVES, elements, 200, e) < 0)
		return -1;
	return bed_start(&bed, e);
}

static int client_start(struct error *e)
{
	struct evspace_options o = {.connect = pathmap_address(bed.map, pathmap_entry(bed.map)),
				    .tls = bed.tls,
				    .identity = BED_CONSUMER,
				    .run = RUN,
				    .view = "events",
				    .rate_hz = RATE,
				    .window = 1};
	enum evspace_failure failure;

	client = evspace_open(&o, &failure, e->text, sizeof(e->text));
	return client ? 0 : -1;
}

/* ---- what happens ---- */

static int happen(const struct step *step, struct error *e)
{
	const struct bed_agent *agent = bed_agent(&bed, step->node);

	switch (step->what) {
	case KILL:
		return bed_stop(&bed, step->node, SIGKILL, e);
	case START:
		return bed_restart(&bed, step->node, NULL, e);
	case STOP:
		return kill(agent->pid, SIGSTOP);
	case GO_ON:
		return kill(agent->pid, SIGCONT);
	default:
		return wire_set(step->node, step->what == CUT, e);
	}
}

/* The next wave for the first time asked for. */
static const struct evspace_wave *wave_next(struct error *e)
{
	int result;

	do {
		result = evspace_next(client, WHOLE_S * 1000);
	} while (result == 1 && evspace_wave(client)->again);
	if (result == 1)
		return evspace_wave(client);
	errorf(e, "%s", result < 0 ? evspace_why(client) : "no wave comes any more");
	return NULL;
}

static bool is_named(const struct evspace_wave *w, const char *node)
{
	for (size_t i = 0; i < w->n_missing; i++) {
		const char *name = strrchr(w->missing[i].leaf, '/');

		if (name && strcmp(name + 1, node) == 0)
			return true;
	}
	return false;
}

/* Wait for a wave with so many leaves, whoever is missing named; @times in a row. */
static int wait_for(const struct step *step, unsigned times, struct error *e)
{
	double until = bench_seconds() + WHOLE_S;
	unsigned n = 0;

	while (n < times) {
		const struct evspace_wave *w = wave_next(e);

		if (!w || bench_wait(1e-6, e) < 0)
			return -1;
		n = w->answered == step->answered ? n + 1 : 0;
		if (n && step->answered < LEAVES && !is_named(w, step->node))
			return errorf(e, "%s: %s is missing, and not named", step->name,
				      step->node);
		if (bench_seconds() > until) {
			errno = ETIMEDOUT;
			return errorf(e, "%s: no wave with %u of %u leaves in %d s", step->name,
				      step->answered, LEAVES, WHOLE_S);
		}
	}
	return 0;
}

static int step_measure(const struct step *step, unsigned round, struct error *e)
{
	double began = bench_seconds();

	if (happen(step, e) < 0)
		return -1;
	/* An agent that is started again is there when it listens. */
	if (step->what == START)
		began = bench_seconds();
	if (wait_for(step, 1, e) < 0)
		return -1;
	step->ms[round] = (bench_seconds() - began) * 1000;
	return wait_for(step, CALM_WAVES, e);
}

static bool step_is_possible(const struct step *step)
{
	return has_wires || (step->what != CUT && step->what != MEND);
}

static int measure(unsigned rounds, struct error *e)
{
	const struct step whole = {.name = "at first", .answered = LEAVES};

	if (wait_for(&whole, CALM_WAVES, e) < 0)
		return -1;
	for (unsigned round = 0; round < rounds; round++) {
		for (size_t i = 0; i < STEPS; i++) {
			if (step_is_possible(&steps[i]) && step_measure(&steps[i], round, e) < 0)
				return -1;
		}
	}
	return 0;
}

/* ---- what came out ---- */

static void results_print(const struct bench_options *o)
{
	const char *of = "";

	if (!o->json)
		printf("%d leaves, %.0f waves/s, TLS; medians of %u\n\n%-20s  %11s  %9s  %8s  %s\n",
		       LEAVES, RATE, o->rounds, "case", "recovery ms", "most", "limit ms",
		       "coverage");
	for (size_t i = 0; i < STEPS; i++) {
		const struct step *s = &steps[i];
		double most = 0;

		of = s->name[0] == '.' ? of : s->name;
		if (!step_is_possible(s))
			continue;
		for (unsigned k = 0; k < o->rounds; k++)
			most = s->ms[k] > most ? s->ms[k] : most;
		if (o->json)
			printf("{\"bench\":\"failure\",\"case\":\"%s%s\",\"recovery_ms\":%.1f,"
			       "\"most_ms\":%.1f,\"limit_ms\":%g,\"coverage\":\"%u of %d\","
			       "\"rounds\":%u}\n",
			       of, s->name == of ? "" : s->name + 3,
			       figures_median(s->ms, o->rounds), most, s->limit_ms, s->answered,
			       LEAVES, o->rounds);
		else
			printf("%-20s  %11.1f  %9.1f  %8.0f  %u of %d\n", s->name,
			       figures_median(s->ms, o->rounds), most, s->limit_ms, s->answered,
			       LEAVES);
	}
	if (!has_wires)
		fprintf(stderr,
			"failure: no wire is cut: that needs a network namespace and nft\n");
}

int main(int argc, char **argv)
{
	static const struct bench_options quick = {.seconds = 1, .rounds = 3};
	struct bench_options o = {.seconds = 1, .rounds = 9};
	struct error e = {""};
	int result;

	bench_parse(argc, argv, &o, &quick, about);
	for (size_t i = 0; i < STEPS; i++)
		steps[i].ms = memory_new(o.rounds, sizeof(double));
	has_wires = wires_begin();
	bench_begin();
	result = set_up(&e);
	if (result == 0)
		result = client_start(&e);
	if (result == 0)
		result = measure(o.rounds, &e);
	if (result == 0)
		results_print(&o);
	else
		fprintf(stderr, "failure: %s\n", e.text);
	evspace_close(client);
	space_fini(&space);
	for (size_t i = 0; i < bed.n_agents; i++)
		if (bed.agents[i].pid > 0)
			kill(bed.agents[i].pid, SIGCONT);
	bed_end(&bed);
	for (size_t i = 0; i < STEPS; i++)
		free(steps[i].ms);
	return result < 0;
}
