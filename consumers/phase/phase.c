/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace phase: a parallel execution as a path through phase space. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/cli/module.h"
#include "consumers/cli/options.h"
#include "consumers/phase/axes.h"
#include "consumers/phase/blocks-of-events.h"
#include "consumers/phase/components.h"
#include "consumers/phase/entries.h"
#include "consumers/phase/execution.h"
#include "pathmap/base/interval.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"

/* Components that are shown, and whose scores --points writes. */
#define COMPONENTS 3u
/* A process is unlike the others if chance would make one so less often than that. */
#define UNLIKELY 0.01

static const char phase_help[] =
	"usage: evspace phase --file FILE|--from DIR [options]\n"
	"\n"
	"Show a parallel execution as a path through phase space (Gomez, Cai, Schubert:\n"
	"Entropy of Parallel Execution and Communication): the state is the basic block\n"
	"that each process is in. FILE (- is standard input) has a line for each block\n"
	"that is entered, \"time block process\", sorted by time; when the time falls\n"
	"back, another run of the same program begins. DIR is an archive of all events:\n"
	"a process is in block 0 before its first call, in 2k + 1 during one at call site\n"
	"k (or of operation k, where sites are not recorded), in 2k + 2 behind it.\n";

static const char phase_more[] =
	"Entropy of the execution: -sum p log2 p over all its states, p = P!/(N^P prod\n"
	"b!) for P processes and N blocks, of which b processes are in the same one\n"
	"(volume), or without N^P (none). Of the time: the mean entropy of how the\n"
	"processes are spread over the blocks (none), and as a share of the largest\n"
	"(volume). Components: the directions in which states differ most, and what\n"
	"share of the variance they have.\n"
	"\n"
	"examples:\n"
	"  sort -n trace.* | evspace phase --file -\n"
	"  evspace phase --file philosophers.srt --scan 3\n"
	"  evspace phase --file simplex.srt --blocks 13 --points points && gnuplot\n";

struct phase {
	struct common common;
	const char *file, *from, *subset, *points;
	struct block_sites sites; /* of an archive */
	const char *normalise;	  /* NULL: both */
	unsigned blocks, processes, scan;
	unsigned start;
	uint32_t base; /* the lowest block's number */
	struct execution_shape shape;
	bool *in_subset;
	double variance[COMPONENTS], total;
	double *vectors; /* COMPONENTS times as many as processes; NULL: no components */
	unsigned n_components;
};

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

static const struct option_row phase_rows[] = {
	{"file", "FILE", OPTION_TEXT, .at = offsetof(struct phase, file),
	 .help = "lines \"time block process\", sorted by time"},
	{"from", "DIR", OPTION_TEXT, .at = offsetof(struct phase, from),
	 .help = "the calls in an archive instead (evspace archive)"},
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
	{"points", "FILE", OPTION_TEXT, .at = offsetof(struct phase, points),
	 .help = "write a line for each state: time, its place x y z in the cube on its diagonal, "
		 "and its components"},
	{0},
};

static const struct usage phase_usage = {
	.help = phase_help, .after = phase_more, .own = phase_rows, .takes = OPTIONS_JSON};

/* What is in the file: which processes and blocks. */
static int shape_measure(struct phase *p, struct entries *in, struct error *e)
{
	uint32_t lowest = p->start, highest = lowest;
	unsigned processes = 0;
	struct entry entry;
	int got;

	while ((got = entries_next(in, &entry, e)) > 0) {
		lowest = entry.block < lowest ? entry.block : lowest;
		highest = entry.block > highest ? entry.block : highest;
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

static int subset_read(struct phase *p, struct error *e)
{
	const char *text = p->subset;
	struct interval next;
	bool any = false;

	if (!text)
		return 0;
	p->in_subset = memory_new(p->shape.processes, sizeof(*p->in_subset));
	while (interval_next(&text, &next)) {
		if (next.to > p->shape.processes)
			return errorf(e, "--subset: there are processes 0 to %u",
				      p->shape.processes - 1);
		for (uint64_t i = next.from; i < next.to; i++)
			any = p->in_subset[i] = true;
	}
	if (*text || !any)
		return errorf(e, "--subset %.80s: it is a list of processes, as \"4-6,8\"",
			      p->subset);
	p->shape.subset = p->in_subset;
	return 0;
}

static int execution_read(struct phase *p, struct execution *x, struct entries *in,
			  void (*row)(void *arg, const struct execution *x), void *arg,
			  struct error *e)
{
	struct entry entry;
	int got;

	entries_rewind(in);
	while ((got = entries_next(in, &entry, e)) > 0) {
		if (entry.time < x->time && x->seen < p->shape.processes)
			return errorf(e,
				      "%.200s:%llu: the time falls back before all %u processes "
				      "have entered a block; sort each run by time (sort -n)",
				      in->name, (unsigned long long)in->line, p->shape.processes);
		execution_add(x, entry.time, entry.process, entry.block - p->base, row, arg);
	}
	if (got == 0)
		execution_end(x, row, arg);
	return got;
}

/* The components, if there is what finds them. */
static int components_make(struct phase *p, struct execution *x, struct error *e)
{
	unsigned n = p->shape.processes;
	components_find_function *find = NULL;
	double *covariance;
	const char *why;

	*(void **)(void *)&find = module_function(COMPONENTS_OBJECT, COMPONENTS_SYMBOL,
						  "LAPACKE (liblapacke-dev)", e);
	if (!find)
		return error_prefix(e, "no components");
	p->n_components = n < COMPONENTS ? n : COMPONENTS;
	p->vectors = memory_new((size_t)n * p->n_components, sizeof(*p->vectors));
	covariance = memory_new((size_t)n * n, sizeof(*covariance));
	moments_covariance(&x->moments, covariance);
	for (unsigned i = 0; i < n; i++)
		p->total += covariance[(size_t)i * n + i];
	why = find(covariance, n, p->n_components, p->variance, p->vectors);
	free(covariance);
	return why ? errorf(e, "%s", why) : 0;
}

/* A number that may be negative; null: not finite. */
static json_t *json_value(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* The entropy @of what, by both normalisations. */
static void entropy_print(const struct phase *p, const char *of, double volume, double none,
			  bool share)
{
	if (p->common.json) {
		json_print(json_pack("{s:s,s:s,s:s,s:b,s:o}", "figure", "entropy", "of", of,
				     "normalise", "volume", "bits", !share, "value",
				     json_value(volume)),
			   stdout);
		json_print(json_pack("{s:s,s:s,s:s,s:b,s:o}", "figure", "entropy", "of", of,
				     "normalise", "none", "bits", 1, "value", json_value(none)),
			   stdout);
		return;
	}
	printf("entropy of the %-10s", of);
	if (!p->normalise || p->normalise[0] == 'v')
		printf("  %12.6g%s (volume)", volume, share ? " of the largest" : " bits");
	if (!p->normalise || p->normalise[0] == 'n')
		printf("  %12.6g bits (none)", none);
	printf("\n");
}

static void entropies_print(const struct phase *p, const struct execution *x)
{
	struct multiplicity_entropy whole = multiplicity_entropy(&x->whole);
	uint32_t most = p->shape.blocks < p->shape.processes ? p->shape.blocks : p->shape.processes;
	double largest = most > 1 ? log2(most) : 1;

	entropy_print(p, "execution", whole.by_volume, whole.by_ways, false);
	if (x->subset.processes > 0) {
		struct multiplicity_entropy subset = multiplicity_entropy(&x->subset);

		entropy_print(p, "subset", subset.by_volume, subset.by_ways, false);
	}
	entropy_print(p, "time", whole.by_histogram / largest, whole.by_histogram, true);
}

static void components_print(const struct phase *p)
{
	for (unsigned i = 0; i < p->n_components; i++) {
		double explained = p->total > 0 ? p->variance[i] / p->total : (double)NAN;

		if (p->common.json)
			json_print(json_pack("{s:s,s:i,s:o,s:o}", "figure", "component", "n",
					     (int)i + 1, "explained", json_value(explained),
					     "variance", json_value(p->variance[i])),
				   stdout);
		else if (p->total > 0)
			printf("component %u            %12.6g of the variance\n", i + 1,
			       explained);
	}
}

static void states_print(const struct phase *p, const struct execution *x)
{
	if (p->common.json) {
		json_print(json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "figure", "states", "count",
				     json_count(x->rows), "entries", json_count(x->entries),
				     "processes", json_count(p->shape.processes), "blocks",
				     json_count(p->shape.blocks), "runs", json_count(x->runs),
				     "clashes", json_count(x->clashes)),
			   stdout);
		return;
	}
	printf("%llu states of %u process%s in %u block%s, %llu run%s\n",
	       (unsigned long long)x->rows, p->shape.processes, plural(p->shape.processes, "es"),
	       p->shape.blocks, plural(p->shape.blocks, "s"), (unsigned long long)x->runs,
	       plural(x->runs, "s"));
	if (x->clashes > 0)
		printf("%llu block%s left out: the process entered another one at the same time\n",
		       (unsigned long long)x->clashes, plural(x->clashes, "s"));
}

static void sites_print(const struct phase *p)
{
	const struct block_sites *s = &p->sites;

	for (size_t i = 0; i < s->n; i++) {
		if (p->common.json)
			json_print(json_pack("{s:s,s:i,s:i,s:o}", "figure", "site", "in",
					     (int)(2 * i + 1), "behind", (int)(2 * i + 2), "name",
					     json_text(s->names[i])),
				   stdout);
		else
			printf("blocks %zu and %zu: in and behind %s\n", 2 * i + 1, 2 * i + 2,
			       s->names[i]);
	}
	if (p->common.json && s->n > 0)
		json_print(json_pack("{s:s,s:o,s:o}", "figure", "order", "unsure",
				     json_count(s->unsure), "left_out", json_count(s->apart)),
			   stdout);
	else if (s->unsure > 0)
		printf("of %llu entries it is not known whether they are before those next to "
		       "them: clocks are not known better\n",
		       (unsigned long long)s->unsure);
	if (s->apart > 0)
		fprintf(stderr, "evspace phase: %llu calls of further threads are left out\n",
			(unsigned long long)s->apart);
}

/* "4,5,6" */
static void subset_text(const struct scan *s, size_t subset, char *text, size_t room)
{
	size_t length = 0;

	for (unsigned i = 0; i < s->size && length < room; i++)
		length += (size_t)snprintf(text + length, room - length, "%s%u", i ? "," : "",
					   s->subsets[subset].process[i]);
}

static void process_print(const struct phase *p, const struct scan *s,
			  const struct scan_process *found, unsigned process)
{
	const struct scan_subset *least = &s->subsets[found->least];
	char text[SCAN_MOST * 12];

	subset_text(s, found->least, text, sizeof(text));
	if (p->common.json)
		json_print(json_pack("{s:s,s:i,s:f,s:f,s:f,s:s,s:f}", "figure", "unlike", "process",
				     (int)process, "entropy", found->mean, "others", found->others,
				     "unlikely", found->unlikely, "subset", text, "subset_entropy",
				     least->entropy),
			   stdout);
	else
		printf("process %u is unlike the others: subsets with it have %.4g bits, those of "
		       "others %.4g (by chance: %.1g); the least of them, %s, has %.4g\n",
		       process, found->mean, found->others, found->unlikely, text, least->entropy);
}

static void scan_print(const struct phase *p, struct execution *x)
{
	struct scan_process *found = memory_new(p->shape.processes, sizeof(*found));
	unsigned n = 0;

	scan_end(&x->scan, found);
	for (unsigned i = 0; i < p->shape.processes; i++)
		if (found[i].unlikely < UNLIKELY) {
			process_print(p, &x->scan, &found[i], i);
			n++;
		}
	if (n == 0 && !p->common.json)
		printf("no process is unlike the others in subsets of %u\n", p->scan);
	free(found);
}

/* What --points writes. */
struct points {
	const struct phase *phase;
	struct axes_point *unit; /* by process */
	double *mean;
	FILE *out;
};

static void point_write(void *arg, const struct execution *x)
{
	const struct points *points = arg;
	const struct phase *p = points->phase;
	struct axes_point at = {0, 0, 0};
	double score[COMPONENTS] = {0};

	for (unsigned i = 0; i < p->shape.processes; i++) {
		at = axes_add(at, points->unit[i], x->block[i] + p->base);
		for (unsigned k = 0; k < p->n_components; k++)
			score[k] += p->vectors[(size_t)k * p->shape.processes + i] *
				    (x->block[i] - points->mean[i]);
	}
	fprintf(points->out, "%.17g %.10g %.10g %.10g", x->time, at.x, at.y, at.z);
	for (unsigned k = 0; k < p->n_components; k++)
		fprintf(points->out, " %.10g", score[k]);
	fputc('\n', points->out);
}

static int points_write(struct phase *p, const struct execution *x, struct entries *in,
			struct error *e)
{
	unsigned n = p->shape.processes;
	struct points points = {.phase = p, .out = fopen(p->points, "we")};
	struct execution_shape shape = {
		.processes = n, .blocks = p->shape.blocks, .start = p->shape.start};
	struct execution again;
	int failed;

	if (!points.out)
		return errorf(e, "%.200s: %s", p->points, strerror(errno));
	points.unit = memory_new(n, sizeof(*points.unit));
	points.mean = memory_new(n, sizeof(*points.mean));
	for (unsigned i = 0; i < n; i++) {
		points.unit[i] = axes_unit(i, n);
		points.mean[i] = moments_mean(&x->moments, i);
	}
	fprintf(points.out, "# time x y z components\n");
	failed = execution_init(&again, &shape, e);
	if (!failed)
		failed = execution_read(p, &again, in, point_write, &points, e);
	execution_fini(&again);
	if (!failed && ferror(points.out))
		failed = errorf(e, "%.200s cannot be written: %s", p->points, strerror(errno));
	if (fclose(points.out) && !failed)
		failed = errorf(e, "%.200s cannot be written: %s", p->points, strerror(errno));
	free(points.unit);
	free(points.mean);
	return failed;
}

static int phase_show(struct phase *p, struct entries *in, struct error *e)
{
	struct execution x;
	int failed = execution_init(&x, &p->shape, e);

	if (!failed)
		failed = execution_read(p, &x, in, NULL, NULL, e);
	if (!failed) {
		struct error why;

		if (components_make(p, &x, &why))
			fprintf(stderr, "evspace phase: %s\n", why.text);
		states_print(p, &x);
		sites_print(p);
		entropies_print(p, &x);
		components_print(p);
		if (p->scan > 0)
			scan_print(p, &x);
		if (p->points)
			failed = points_write(p, &x, in, e);
	}
	execution_fini(&x);
	return failed;
}

static int phase_run(struct phase *p, struct error *e)
{
	struct entries in;
	int failed;

	if (!p->file == !p->from)
		return errorf(e, "it needs --file FILE, with lines \"time block process\", or "
				 "--from DIR, with an archive");
	if (p->from)
		failed = blocks_of_events(&in, p->from, &p->sites, e);
	else
		failed = entries_open(&in, p->file, e);
	if (failed)
		return -1;
	failed = shape_measure(p, &in, e);
	p->shape.scan = p->scan;
	p->shape.components = true;
	if (!failed)
		failed = subset_read(p, e);
	if (!failed)
		failed = phase_show(p, &in, e);
	entries_close(&in);
	return failed;
}

int phase_main(int argc, char **argv)
{
	struct phase p = {0};
	int code = options_parse(argc, argv, &phase_usage, &p, &p.common);
	struct error e;

	if (code >= 0)
		return code;
	code = EXIT_FINE;
	if (phase_run(&p, &e)) {
		fflush(stdout);
		fprintf(stderr, "evspace phase: %s\n", e.text);
		code = EXIT_USAGE;
	}
	block_sites_fini(&p.sites);
	free(p.in_subset);
	free(p.vectors);
	return code;
}
