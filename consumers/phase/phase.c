/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace phase: a parallel execution as a path through phase space. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/module.h"
#include "consumers/cli/status-line.h"
#include "consumers/client/client-replay.h"
#include "consumers/phase/components.h"
#include "consumers/phase/entries.h"
#include "consumers/phase/phase.h"
#include "consumers/phase/space.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"

/* How far it is is shown after so many entries, if anything is. */
#define PROGRESS_EACH 65536u

static const char phase_help[] =
	"usage: evspace phase --file FILE|--from DIR|live [options]\n"
	"\n"
	"Show a parallel execution as a path through phase space (Gomez, Cai, Schubert:\n"
	"Entropy of Parallel Execution and Communication): the state is the basic block\n"
	"that each process is in. FILE (- is standard input) has a line for each block\n"
	"that is entered, \"time block process\", sorted by time; when the time falls\n"
	"back, another run of the same program begins. A fourth word says to what bound\n"
	"the time is known. DIR is an archive of all events:\n"
	"a process is in block 0 before its first call, in 2k + 1 during one at call site\n"
	"k (or of operation k, where sites are not recorded), in 2k + 2 behind it. Of a\n"
	"live run it is the same, of all that its elements hold and what comes until it\n"
	"ends, Ctrl-C, or --duration is over. With --watch it says what changes instead,\n"
	"as it comes.\n";

static const char phase_more[] =
	"Entropy of the execution: -sum p log2 p over all its states, p = P!/(N^P prod\n"
	"b!) for P processes and N blocks, of which b processes are in the same one\n"
	"(volume), or without N^P (none). Of the time: the mean entropy of how the\n"
	"processes are spread over the blocks (none), and as a share of the largest\n"
	"(volume). Components: the directions in which states differ most, and what\n"
	"share of the variance they have. A process is told that is in a block for\n"
	"another share of the time than the others.\n"
	"\n"
	"--watch compares each span of time with those before. It tells if the entropy\n"
	"of the blocks that a process enters falls or rises (one that falls repeats\n"
	"itself), that of the states of --subset, or of the time; where most processes\n"
	"gather, or do not any more; and where they go from one block by two routes.\n"
	"\n"
	"examples:\n"
	"  sort -n trace.* | evspace phase --file -\n"
	"  evspace phase --file philosophers.srt --scan 3\n"
	"  evspace phase live --duration 10 --plot now.html\n"
	"  evspace phase live --watch --span 500ms\n"
	"  evspace phase --file simplex.srt --blocks 13 --plot simplex.html\n";

static int from_take(void *into, const char *value, struct error *e)
{
	struct phase *p = into;

	if (p->n_from == BLOCKS_OF_EVENTS_RUNS)
		return errorf(e, "there are %u runs at most", BLOCKS_OF_EVENTS_RUNS);
	p->from[p->n_from++] = value;
	return 0;
}

static int start_take(void *into, const char *value, struct error *e)
{
	return quantity_count(value, 0, ENTRIES_BLOCKS_MAX - 1, &((struct phase *)into)->start, e);
}

static int normalise_take(void *into, const char *value, struct error *e)
{
	if (strcmp(value, "volume") && strcmp(value, "none"))
		return errorf(e, "p is normalised by \"volume\", N^P, or \"none\"");
	((struct phase *)into)->normalise = value;
	return 0;
}

static int plot_take(void *into, const char *path, struct error *e)
{
	((struct phase *)into)->plot = path;
	return space_check(path, e);
}

static const struct option_row phase_rows[] = {
	{"file", "FILE", OPTION_TEXT, .at = offsetof(struct phase, file),
	 .help = "lines \"time block process\", sorted by time"},
	{"from", "DIR", .take = from_take,
	 .help = "the calls in an archive instead (evspace archive); more than once: several runs"},
	{"blocks", "N", OPTION_COUNT, .at = offsetof(struct phase, blocks),
	 .most = ENTRIES_BLOCKS_MAX, .help = "blocks of the program; else to the highest in FILE"},
	{"start", "BLOCK", .take = start_take, .help = "block in which all begin; else 0"},
	{"processes", "P", OPTION_COUNT, .at = offsetof(struct phase, processes),
	 .most = ENTRIES_PROCESSES_MAX, .help = "processes; else to the highest in FILE"},
	{"subset", "LIST", OPTION_TEXT, .at = offsetof(struct phase, subset),
	 .help = "also the entropy of these processes alone, as \"4-6\""},
	{"scan", "K", OPTION_COUNT, .at = offsetof(struct phase, scan), .most = SCAN_MOST,
	 .help = "compare all subsets of K processes: which process is unlike the others"},
	{"normalise", "HOW", .take = normalise_take,
	 .help = "show one entropy alone: \"volume\" or \"none\"; --json has both"},
	{"now", "WHAT", .take = phase_now_take,
	 .help = "at each look (--rate), in how many blocks all processes are, as hosts have added "
		 "it up: of \"calls\" by operation, in and behind it, or blocks that are \"said\" "
		 "(evspace.h)"},
	{"watch", .at = offsetof(struct phase, watch),
	 .help = "say what changes, of a run as it goes on, of an archive or a file likewise"},
	{"span", "TIME", OPTION_TEXT, .at = offsetof(struct phase, span),
	 .help = "of --watch: what is compared with what was before (1s; of a file a number in its "
		 "unit, else a 40th of its longest run)"},
	{"points", "FILE", OPTION_TEXT, .at = offsetof(struct phase, points),
	 .help = "write a line for each state: time, its place x y z in the cube on its diagonal, "
		 "and its components"},
	{"plot", "FILE", .take = plot_take,
	 .help = "draw states, components and entropy: FILE ends in .svg or .png, or in .html for "
		 "a page on which the cube can be turned"},
	{0},
};

static const struct usage phase_usage = {.help = phase_help,
					 .after = phase_more,
					 .own = phase_rows,
					 .takes = OPTIONS_JSON | OPTIONS_LOOK | OPTIONS_VIEW |
						  OPTIONS_WAVES,
					 .lacks = " from view ",
					 .words_max = 1};

/* What is in the file: which processes and blocks. */
static int shape_measure(struct phase *p, struct entries *in, struct error *e)
{
	uint32_t lowest = p->start, highest = lowest;
	unsigned processes = 0;
	struct entry entry;
	int got;

	for (; (got = entries_next(in, &entry, e)) > 0; p->entries++) {
		lowest = entry.block < lowest ? entry.block : lowest;
		highest = entry.block > highest ? entry.block : highest;
		p->last = fmax(p->last, entry.time);
		p->shape.bound = fmax(p->shape.bound, entry.bound);
		processes = entry.process >= processes ? entry.process + 1 : processes;
		if (p->processes > 0 && processes > p->processes)
			return errorf(e, "%.200s:%llu: process %u is out of range: there are %u",
				      in->name, (unsigned long long)in->line, entry.process,
				      p->processes);
		if (p->blocks > 0 && highest - lowest >= p->blocks)
			return errorf(e,
				      "%.200s:%llu: block %u is out of range: there are %u from "
				      "%u on",
				      in->name, (unsigned long long)in->line, entry.block,
				      p->blocks, lowest);
	}
	if (got == 0 && processes == 0)
		return errorf(e, "%.200s has no line \"time block process\"", in->name);
	p->base = lowest;
	p->shape.processes = p->processes > 0 ? p->processes : processes;
	p->shape.blocks = p->blocks > 0 ? p->blocks : highest - lowest + 1;
	p->shape.start = p->start - lowest;
	return got;
}

static int execution_read(struct phase *p, struct execution *x, struct entries *in,
			  void (*row)(void *arg, const struct execution *x), void *arg,
			  struct error *e)
{
	struct unordered *u = p->unordered.x == x ? &p->unordered : NULL;
	struct entry entry;
	int got;

	entries_rewind(in);
	while ((got = entries_next(in, &entry, e)) > 0) {
		if (x->entries % PROGRESS_EACH == 0)
			progress_show(&p->progress, "blocks gone through", x->entries,
				      (double)x->entries / (double)p->entries);
		if (entry.time < x->time && x->seen < p->shape.processes) {
			status_line_clear();
			return entries_unsorted(in, p->shape.processes, e);
		}
		if (u)
			unordered_add(u, entry.time, entry.process, entry.block - p->base,
				      entry.bound);
		execution_add(x, entry.time, entry.process, entry.block - p->base, row, arg);
	}
	status_line_clear();
	if (u)
		unordered_end(u);
	if (got == 0)
		execution_end(x, row, arg);
	return got;
}

/* The components of a @matrix, which is spent, if there is what finds them. */
static int matrix_look(double *matrix, unsigned n, struct phase_components *to, struct error *e)
{
	components_find_function *find = NULL;
	const char *why;

	*(void **)(void *)&find = module_function(COMPONENTS_OBJECT, COMPONENTS_SYMBOL,
						  "LAPACKE (liblapacke-dev)", e);
	if (!find)
		return error_prefix(e, "no components");
	to->n = n < POINTS_COMPONENTS ? n : POINTS_COMPONENTS;
	to->vectors = memory_new((size_t)n * to->n, sizeof(*to->vectors));
	for (unsigned i = 0; i < n; i++)
		to->total += matrix[(size_t)i * n + i];
	why = find(matrix, n, to->n, to->variance, to->vectors);
	to->n = why ? 0 : to->n;
	return why ? errorf(e, "%s", why) : 0;
}

static int components_make(struct phase *p, struct execution *x, struct error *e)
{
	unsigned n = p->shape.processes;
	double *matrix = memory_new((size_t)n * n, sizeof(*matrix));
	int rc;

	moments_covariance(&x->moments, matrix);
	rc = matrix_look(matrix, n, &p->states, e);
	coincidence_run(&x->coincidence, x->block);
	if (rc == 0 && coincidence_share(&x->coincidence, matrix) == 0) {
		p->alike.apart = memory_new(n, sizeof(*p->alike.apart));
		for (unsigned i = 0; i < n && n > 3; i++)
			p->alike.apart[i] = coincidence_apart(matrix, n, i);
		rc = matrix_look(matrix, n, &p->alike, e);
	}
	free(matrix);
	return rc;
}

/* What goes through the states again, when their mean and components are known. */
struct states_look {
	struct points points;
	FILE *out;	    /* of --points; NULL: none */
	struct space space; /* of --plot */
	uint64_t seen;
};

static void state_take(void *arg, const struct execution *x)
{
	struct states_look *look = arg;
	struct point point;

	points_next(&look->points, x, &point);
	if (look->out) {
		fprintf(look->out, "%.17g %.17g %.17g %.17g", point.time, point.at.x, point.at.y,
			point.at.z);
		for (unsigned k = 0; k < look->points.n_components; k++)
			fprintf(look->out, " %.17g", point.score[k]);
		fputc('\n', look->out);
	}
	if (look->space.points && look->seen++ % look->space.each == 0)
		look->space.points[look->space.n++] = point;
}

/* A picture's room, and what is the same for all states. */
static void space_begin(const struct phase *p, const struct execution *x, const char *name,
			struct space *s)
{
	*s = (struct space){.name = name,
			    .processes = p->shape.processes,
			    .n_subset = x->subset.processes,
			    .n_components = p->states.n,
			    .in_subset = p->in_subset,
			    .base = p->base,
			    .blocks = p->shape.blocks,
			    .states = x->rows,
			    .each = (x->rows + SPACE_POINTS - 1) / SPACE_POINTS,
			    .runs = x->runs};
	for (unsigned k = 0; k < p->states.n; k++)
		s->explained[k] = p->states.total > 0 ? p->states.variance[k] / p->states.total : 0;
	s->points = memory_new(SPACE_POINTS, sizeof(*s->points));
}

static int states_look(struct phase *p, const struct execution *x, struct entries *in,
		       struct states_look *look, struct error *e)
{
	struct execution_shape shape = p->shape;
	struct execution again;
	int failed;

	shape.scan = 0;
	shape.components = false;
	shape.times = shape.alike = false;
	points_init(&look->points, x, p->base, p->states.vectors, p->states.n);
	failed = execution_init(&again, &shape, e);
	if (!failed)
		failed = execution_read(p, &again, in, state_take, look, e);
	execution_fini(&again);
	points_fini(&look->points);
	return failed;
}

static void plot_tell(const struct space *s, const char *path)
{
	char each[UNIT_TEXT], states[UNIT_TEXT];

	if (s->each > 1)
		fprintf(stderr, "%s: one in %s of %s states\n", path, unit_count(each, s->each),
			unit_count(states, s->states));
	else
		fprintf(stderr, "%s: %s state%s\n", path, unit_count(states, s->states),
			plural(s->states, "s"));
}

static int states_again(struct phase *p, const struct execution *x, struct entries *in,
			struct error *e)
{
	struct states_look look = {0};
	int failed = 0;

	if (p->points) {
		look.out = fopen(p->points, "we");
		if (!look.out)
			return errorf(e, "%.200s: %s", p->points, strerror(errno));
		fprintf(look.out, "# time x y z components\n");
	}
	if (p->plot)
		space_begin(p, x, in->name, &look.space);
	failed = states_look(p, x, in, &look, e);
	if (look.out && !failed && ferror(look.out))
		failed = errorf(e, "%.200s cannot be written: %s", p->points, strerror(errno));
	if (look.out && fclose(look.out) && !failed)
		failed = errorf(e, "%.200s cannot be written: %s", p->points, strerror(errno));
	if (p->plot && !failed)
		failed = space_write(&look.space, p->plot, e);
	if (p->plot && !failed)
		plot_tell(&look.space, p->plot);
	free(look.space.points);
	return failed;
}

static int phase_show(struct phase *p, struct entries *in, struct error *e)
{
	struct execution x;
	int failed = execution_init(&x, &p->shape, e);

	if (!failed && p->shape.bound > 0)
		unordered_init(&p->unordered, &x);
	if (!failed)
		failed = execution_read(p, &x, in, NULL, NULL, e);
	if (!failed) {
		struct error why;

		if (components_make(p, &x, &why))
			fprintf(stderr, "evspace phase: %s\n", why.text);
		phase_states_print(p, &x);
		phase_sites_print(p);
		phase_entropies_print(p, &x);
		phase_components_print(p);
		phase_unordered_print(p);
		phase_clumps_print(p, &x);
		phase_elsewhere_print(p, &x);
		if (p->scan > 0)
			phase_scan_print(p, &x);
		errno = 0;
		if (p->points || p->plot)
			failed = states_again(p, &x, in, e);
	}
	unordered_fini(&p->unordered);
	execution_fini(&x);
	return failed;
}

static int entries_take(struct phase *p, struct entries *in, struct error *e)
{
	if (p->file)
		return entries_open(in, p->file, e);
	if (p->n_from > 0) {
		p->making = blocks_of_events_new(false, p->follow.common.look.n_select > 0);
		if (blocks_of_events_read(p->making, p->from, p->n_from, &p->follow.common.look, e))
			return -1;
	}
	return blocks_of_events_end(p->making, in, p->n_from > 0 ? p->from[0] : "the run",
				    &p->sites, e);
}

static int phase_run(struct phase *p, struct error *e)
{
	struct entries in;
	int failed = entries_take(p, &in, e), saved;

	if (failed)
		return -1;
	failed = shape_measure(p, &in, e);
	p->shape.scan = p->scan;
	p->shape.components = true;
	p->shape.times = p->shape.alike = true;
	if (!failed)
		failed = phase_subset_read(p, e);
	if (!failed)
		failed = p->watch ? phase_watch_file(p, &in, e) : phase_show(p, &in, e);
	saved = errno;
	entries_close(&in);
	errno = saved;
	return failed;
}

/* What goes on, or an archive as if it did. */
static int phase_follow(struct phase *p, const char *command, bool live, struct error *e)
{
	char *address = NULL;
	int code = EXIT_FINE;

	if (!p->watch && !p->now)
		return phase_live(p, command);
	if (!live)
		p->follow.common.look.connect = address =
			memory_format(CLIENT_REPLAY "%s", p->from[0]);
	if (p->now)
		code = phase_now(p, command);
	else if (phase_watch_run(p, command, &code, e))
		code = -1;
	free(address);
	return code;
}

int phase_main(int argc, char **argv)
{
	struct phase p = {
		.follow = {.command = "phase", .common.look = {.view = "events", .rate_hz = 10}}};
	int code = options_parse(argc, argv, &phase_usage, &p, &p.follow.common), live;
	bool done = false;
	struct error e;

	if (code >= 0)
		return code;
	code = EXIT_FINE;
	/* a limit for files is said as a full disk is */
	signal(SIGXFSZ, SIG_IGN);
	live = phase_source_check(&p, &e);
	if (live > 0 || (live == 0 && (p.watch || p.now) && p.n_from > 0)) {
		code = phase_follow(&p, argv[0], live > 0, &e);
		live = code < 0 ? -1 : live;
		done = p.watch || p.now || !p.came || code > EXIT_BAD_NEWS;
	}
	errno = 0;
	if (live < 0 || (!done && phase_run(&p, &e))) {
		code = error_is_disk(errno) ? EXIT_BAD_NEWS : EXIT_USAGE;
		fflush(stdout);
		fprintf(stderr, "evspace phase: %s\n", e.text);
	}
	block_sites_fini(&p.sites);
	blocks_of_events_free(p.making);
	free(p.in_subset);
	free(p.states.vectors);
	free(p.alike.vectors);
	free(p.alike.apart);
	return code;
}
