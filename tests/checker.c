/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A consumer that compares what it gets with what tests/writer has written: at every moment at
 * which all that was read has come, its figures must be those of the tuples that the hosts say they
 * have read; who is not named as missing must have read all that was there when it was asked; and
 * in the end all must have come, as it stands in the segments. Prints what fails, and what it has
 * seen.
 */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/client/evspace-client.h"
#include "pathmap/base/memory.h"
#include "tests/oracle.h"
#include "tree/data/clock.h"

#define END_WITHIN_S 60
#define FAULTS_SHOWN 20
#define SAY_AGAIN_MS 100
#define HEADS	     256 /* more than twice as many waves as can be under way */
#define ROOM_LEAST   16	 /* tuples that a leaf always has room for in a wave (tree/scope/ask.c) */

/* One leaf, which holds one rank. */
struct leaf {
	char *name; /* "a0" */
	int rank;
	struct oracle_element element;
	uint64_t heads[HEADS]; /* written, after each of the last waves */
	uint64_t read, before; /* the latter: when the wave before was taken */
	unsigned there;	       /* waves in a row that it is not missing in */
	uint64_t written;      /* when it was looked whether all is here: the writer may go on */
	bool owing, missing;
	double missing_s;
	struct oracle so_far; /* of what it has read */
};

static struct checker {
	struct evspace_client *client;
	struct leaf *leaves;
	int n_leaves;
	struct oracle got;
	uint64_t waves, whole, checked, faults, gap_wave;
	uint64_t last_ns, whole_ns, said_ns, gap_ns, blind_ns;
	unsigned answered; /* of the last wave */
	unsigned window;
	bool verbose;
	bool folded; /* hosts' counts are summed: they must be those of what came, and all in the
			end */
} me;

static volatile sig_atomic_t ending;

static void on_signal(int number)
{
	(void)number;
	ending = 1;
}

static void fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void fault(const char *format, ...)
{
	va_list args;

	if (++me.faults > FAULTS_SHOWN)
		return;
	va_start(args, format);
	printf("fault: wave %" PRIu64 ": ", evspace_wave(me.client)->number);
	vprintf(format, args);
	printf("\n");
	va_end(args);
}

static struct leaf *leaf_find(const char *name)
{
	const char *node = strrchr(name, '/');

	for (int i = 0; i < me.n_leaves; i++) {
		if (strcmp(me.leaves[i].name, node ? node + 1 : name) == 0)
			return &me.leaves[i];
	}
	return NULL;
}

/* ---- what came ---- */

static void take_totals(void)
{
	struct evspace_total total;

	while (evspace_total(me.client, &total)) {
		me.got.count += total.count;
		me.got.sum += total.sum;
		me.got.squares += (total.variance + total.mean * total.mean) * (double)total.count;
	}
}

static void take_bins(void)
{
	struct evspace_bin bin;

	while (evspace_bin(me.client, &bin)) {
		me.got.count += bin.count;
		me.got.sum += bin.sum;
	}
}

static void take_events(void)
{
	struct evspace_event event;

	while (evspace_event(me.client, &event))
		oracle_add(&me.got, event.bytes);
}

static void take_missing(const struct evspace_wave *w)
{
	for (int i = 0; i < me.n_leaves; i++)
		me.leaves[i].missing = false;
	for (size_t i = 0; i < w->n_missing; i++) {
		struct leaf *leaf = leaf_find(w->missing[i].leaf);

		if (!leaf) {
			fault("%s is missing, which is no leaf", w->missing[i].leaf);
			continue;
		}
		leaf->missing = true;
		leaf->missing_s = w->missing[i].since_s;
		if (!(leaf->missing_s >= 0 && leaf->missing_s < 3600))
			fault("%s is missing since %g s", leaf->name, leaf->missing_s);
	}
	for (int i = 0; i < me.n_leaves; i++)
		me.leaves[i].there = me.leaves[i].missing ? 0 : me.leaves[i].there + 1;
	if (w->answered + w->n_missing != w->leaves)
		fault("%u of %u leaves answered, and %zu are named as missing", w->answered,
		      w->leaves, w->n_missing);
}

/* ---- what must have come ---- */

static void leaves_look(void)
{
	struct evspace_leaf counts;
	struct leaf *leaf;

	for (size_t i = 0; evspace_leaf(me.client, i, &counts); i++) {
		leaf = leaf_find(counts.name);
		if (!leaf)
			continue;
		leaf->owing = counts.owing;
		if (me.folded)
			continue;
		if (counts.lost || counts.discarded || counts.filtered)
			fault("%s has lost %" PRIu64 " tuples", leaf->name, counts.lost);
		if (counts.read < leaf->read || counts.read > oracle_written(&leaf->element))
			fault("%s has read %" PRIu64 " tuples after %" PRIu64 ", of %" PRIu64,
			      leaf->name, counts.read, leaf->read, oracle_written(&leaf->element));
		else
			oracle_take(&leaf->so_far, leaf->rank, leaf->read,
				    counts.read - leaf->read);
		leaf->read = counts.read;
	}
}

/* What came is what hosts say together that they have read, after each wave. */
static void folded_check(void)
{
	struct evspace_counts counts;

	evspace_counts(me.client, &counts);
	me.checked++;
	if (counts.read != me.got.count || counts.lost || counts.discarded || counts.filtered)
		fault("all have read %" PRIu64 " tuples and lost %" PRIu64 ", and %" PRIu64 " came",
		      counts.read, counts.lost, me.got.count);
}

/* Whoever is not missing, and owes nothing, has read what was there before it was asked. Of waves
 * that are under way together the one that was asked for first may be empty, as another one was
 * made before it (CURSOR_NEVER): so this is of what was asked for a window earlier. And a leaf that
 * brings much may have had no room for more. */
static void left_out_check(void)
{
	const uint64_t ago = 2 * me.window + 1;

	for (int i = 0; i < me.n_leaves; i++) {
		struct leaf *leaf = &me.leaves[i];
		uint64_t there = me.waves > ago ? leaf->heads[(me.waves - ago) % HEADS] : 0;

		if (leaf->there > me.window && !leaf->owing && leaf->read < there &&
		    leaf->read - leaf->before < ROOM_LEAST)
			fault("%s was asked when %" PRIu64
			      " tuples were there, and has read %" PRIu64,
			      leaf->name, there, leaf->read);
		leaf->before = leaf->read;
	}
}

static struct oracle expected(void)
{
	struct oracle all = {0};

	for (int i = 0; i < me.n_leaves; i++) {
		all.count += me.leaves[i].so_far.count;
		all.sum += me.leaves[i].so_far.sum;
		all.squares += me.leaves[i].so_far.squares;
	}
	return all;
}

/* Only when nothing that was read is still on its way: the hosts' accounts are ahead of us, and who
 * owes a wave has given later ones. */
static void figures_check(void)
{
	struct oracle all = expected();

	for (int i = 0; i < me.n_leaves; i++) {
		if (me.leaves[i].owing)
			return;
	}
	if (all.count != me.got.count)
		return;
	me.checked++;
	if (all.sum != me.got.sum)
		fault("the sum of %" PRIu64 " tuples is %" PRIu64 ", not %" PRIu64, all.count,
		      all.sum, me.got.sum);
	if (me.got.squares > 0 &&
	    fabs(oracle_variance(&all) - oracle_variance(&me.got)) > 1e-6 * oracle_variance(&all))
		fault("the variance of %" PRIu64 " tuples is %g, not %g", all.count,
		      oracle_variance(&all), oracle_variance(&me.got));
}

static void say_coverage(const struct evspace_wave *w, double gap_s)
{
	uint64_t now = clock_mono_ns();

	if (!me.verbose || (w->answered == me.answered && gap_s < 0.2 &&
			    now - me.said_ns < SAY_AGAIN_MS * UINT64_C(1000000)))
		return;
	me.said_ns = now;
	printf("wave %" PRIu64 ": %u of %u after %.3f s, missing", w->number, w->answered,
	       w->leaves, gap_s);
	for (size_t i = 0; i < w->n_missing; i++)
		printf(" %s (%s for %.3f s)", w->missing[i].leaf, w->missing[i].why,
		       w->missing[i].since_s);
	printf("%s\n", w->n_missing ? "" : " none");
	fflush(stdout);
}

static void wave_take(void)
{
	const struct evspace_wave *w = evspace_wave(me.client);
	uint64_t now = clock_mono_ns();

	take_totals();
	evspace_rewind(me.client);
	take_bins();
	evspace_rewind(me.client);
	take_events();
	leaves_look();
	if (me.folded)
		folded_check();
	else
		figures_check();
	if (w->again)
		return;
	take_missing(w);
	if (!me.folded)
		left_out_check();
	say_coverage(w, me.last_ns ? (double)(now - me.last_ns) * 1e-9 : 0);
	me.waves++;
	if (me.last_ns && now - me.last_ns > me.gap_ns) {
		me.gap_ns = now - me.last_ns;
		me.gap_wave = w->number;
	}
	me.last_ns = now;
	me.answered = w->answered;
	if (w->answered == w->leaves) {
		if (me.whole_ns && now - me.whole_ns > me.blind_ns)
			me.blind_ns = now - me.whole_ns;
		me.whole_ns = now;
		me.whole++;
	}
	for (int i = 0; i < me.n_leaves; i++)
		me.leaves[i].heads[me.waves % HEADS] = oracle_written(&me.leaves[i].element);
}

/* ---- the end ---- */

static bool is_all_here(void)
{
	uint64_t written = 0;
	bool here = true;

	for (int i = 0; i < me.n_leaves; i++) {
		me.leaves[i].written = oracle_written(&me.leaves[i].element);
		written += me.leaves[i].written;
		here = here && !me.leaves[i].owing && !me.leaves[i].missing;
	}
	return here && me.got.count == written;
}

/* What stands in the segments, tuple by tuple. */
static void end_check(void)
{
	struct oracle all = {0};
	struct evspace_counts counts;
	struct error e;

	evspace_counts(me.client, &counts);
	for (int i = 0; i < me.n_leaves; i++) {
		const struct leaf *leaf = &me.leaves[i];

		if (oracle_read(&leaf->element, leaf->rank, leaf->written, &all, &e) < 0)
			fault("%s", e.text);
		if (!me.folded && leaf->read != leaf->written)
			fault("%s has read %" PRIu64 " of %" PRIu64 " tuples%s", leaf->name,
			      leaf->read, leaf->written, leaf->owing ? ", and owes some" : "");
	}
	if (all.count != me.got.count || all.sum != me.got.sum)
		fault("%" PRIu64 " tuples with %" PRIu64 " bytes are in the segments; %" PRIu64
		      " with %" PRIu64 " came",
		      all.count, all.sum, me.got.count, me.got.sum);
	if (counts.unaccounted)
		fault("%" PRIu64 " tuples are unaccounted for", counts.unaccounted);
	printf("%" PRIu64 " waves, %" PRIu64 " of them whole, %" PRIu64 " again; %" PRIu64
	       " checks; %" PRIu64 " tuples of %" PRIu64 ", %" PRIu64 " bytes; longest %.3f s "
	       "between two waves (%" PRIu64 "), %.3f s between two whole ones; %u reconnections; "
	       "%" PRIu64 " faults\n",
	       me.waves, me.whole, counts.again, me.checked, me.got.count, all.count, me.got.sum,
	       (double)me.gap_ns * 1e-9, me.gap_wave, (double)me.blind_ns * 1e-9,
	       counts.reconnections, me.faults);
}

static int run(double seconds)
{
	uint64_t until = clock_mono_ns() + (uint64_t)(seconds * 1e9), last = 0;

	for (;;) {
		uint64_t now = clock_mono_ns();
		int result = evspace_next(me.client, 1000);

		if (result < 0) {
			printf("fault: %s\n", evspace_why(me.client));
			return 1;
		}
		if (result > 0)
			wave_take();
		if (!last && (ending || now >= until))
			last = now + END_WITHIN_S * UINT64_C(1000000000);
		if (last && (is_all_here() || now > last))
			break;
	}
	end_check();
	return me.faults > 0;
}

static int leaves_open(char **names, int n, const char *folder)
{
	struct error e;

	me.leaves = memory_new((size_t)n, sizeof(*me.leaves));
	me.n_leaves = n;
	for (int i = 0; i < n; i++) {
		char *equal = strchr(names[i], '=');

		me.leaves[i].rank = equal ? atoi(equal + 1) : i;
		if (equal)
			*equal = '\0';
		me.leaves[i].name = names[i];
		if (oracle_open(&me.leaves[i].element, folder, me.leaves[i].rank, &e) < 0) {
			fprintf(stderr, "witness: %s\n", e.text);
			return -1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct evspace_options o = {.run = "run", .window = 1, .backlog = 1, .patience_ms = 60000};
	struct sigaction action = {.sa_handler = on_signal};
	const char *folder = "";
	enum evspace_failure failure;
	double seconds = 1e9;
	char why[500];
	int c, result;

	while ((c = getopt(argc, argv, "c:d:fn:r:s:vw:")) != -1) {
		switch (c) {
		case 'c':
			o.connect = optarg;
			break;
		case 'd':
			folder = optarg;
			break;
		case 'f':
			o.folded = me.folded = true;
			break;
		case 'n':
			o.window = (unsigned)atoi(optarg);
			break;
		case 'r':
			o.rate_hz = strtod(optarg, NULL);
			break;
		case 's':
			seconds = strtod(optarg, NULL);
			break;
		case 'v':
			me.verbose = true;
			break;
		case 'w':
			o.view = optarg;
			break;
		default:
			fprintf(stderr,
				"usage: witness -c ENTRY -d RUN-FOLDER -w VIEW [-f] [-n WINDOW] "
				"[-r HZ] [-s SECONDS] [-v] LEAF[=RANK]...\n");
			return 2;
		}
	}
	sigaction(SIGTERM, &action, NULL);
	if (leaves_open(argv + optind, argc - optind, folder) < 0)
		return 1;
	me.window = o.window;
	me.client = evspace_open(&o, &failure, why, sizeof(why));
	if (!me.client) {
		fprintf(stderr, "witness: %s\n", why);
		return 1;
	}
	result = run(seconds);
	evspace_close(me.client);
	for (int i = 0; i < me.n_leaves; i++)
		oracle_close(&me.leaves[i].element);
	free(me.leaves);
	return result;
}
