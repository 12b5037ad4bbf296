/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints what evspace phase has found, as text or as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/json.h"
#include "consumers/phase/phase.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"

/* A process is unlike the others if chance would make one so less often than that. */
#define UNLIKELY 0.01
/* ... if it is elsewhere: a rank that gets no processor for a while is so, too. */
#define ELSEWHERE_UNLIKELY 1e-4
/* A component is one process's if that has so many times the part of the next one. */
#define ALONE 2
/* Clumps that are told, and the share of the time that one has at least. */
#define CLUMPS	    4u
#define CLUMP_LEAST 0.05

/* The entropy @of what, by both normalisations. */
static void entropy_print(const struct phase *p, const char *of, double volume, double none,
			  bool share)
{
	if (p->follow.common.json) {
		json_print(json_pack("{s:s,s:s,s:s,s:b,s:o}", "figure", "entropy", "of", of,
				     "normalise", "volume", "bits", !share, "value",
				     json_number(volume)),
			   stdout);
		json_print(json_pack("{s:s,s:s,s:s,s:b,s:o}", "figure", "entropy", "of", of,
				     "normalise", "none", "bits", 1, "value", json_number(none)),
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

/* Of the time. */
static double largest_spread(const struct phase *p)
{
	uint32_t most = p->shape.blocks < p->shape.processes ? p->shape.blocks : p->shape.processes;

	return most > 1 ? log2(most) : 1;
}

void phase_entropies_print(const struct phase *p, const struct execution *x)
{
	struct multiplicity_entropy whole = multiplicity_entropy(&x->whole);
	double largest = largest_spread(p);

	entropy_print(p, "execution", whole.by_volume, whole.by_ways, false);
	if (x->subset.processes > 0) {
		struct multiplicity_entropy subset = multiplicity_entropy(&x->subset);

		entropy_print(p, "subset", subset.by_volume, subset.by_ways, false);
	}
	entropy_print(p, "time", whole.by_histogram / largest, whole.by_histogram, true);
}

/* A process that a component goes along most. */
struct singled {
	unsigned process;
	double part,
		next; /* its part of the component's square, which is 1, and that of the next */
};

static struct singled component_process(const struct phase_components *c, unsigned k,
					unsigned processes)
{
	const double *vector = c->vectors + (size_t)k * processes;
	struct singled s = {0};

	for (unsigned i = 0; i < processes; i++) {
		double square = vector[i] * vector[i];

		if (square > s.part) {
			s.next = s.part;
			s.part = square;
			s.process = i;
		} else {
			s.next = fmax(s.next, square);
		}
	}
	return s;
}

/* Is it with the others less than half as long as these are with each other? */
static bool is_apart(const struct coincidence_apart *a)
{
	return a->unlikely < UNLIKELY && 2 * a->share < a->others;
}

static void components_print(const struct phase *p, const struct phase_components *c,
			     const char *figure, const char *text)
{
	for (unsigned i = 0; i < c->n; i++) {
		double explained = c->total > 0 ? c->variance[i] / c->total : (double)NAN;
		struct singled s = component_process(c, i, p->shape.processes);
		bool alone = p->shape.processes > 3 && s.part > ALONE * s.next &&
			     (!c->apart || is_apart(&c->apart[s.process]));

		if (p->follow.common.json) {
			json_print(json_pack("{s:s,s:i,s:o,s:o,s:i,s:o,s:b}", "figure", figure, "n",
					     (int)i + 1, "explained", json_number(explained),
					     "variance", json_number(c->variance[i]), "process",
					     (int)s.process, "part", json_number(s.part), "alone",
					     alone),
				   stdout);
			continue;
		}
		if (!(c->total > 0))
			continue;
		printf("component %u            %12.6g of %s", i + 1, explained, text);
		if (alone)
			printf(", %.0f%% of it process %u's", 100 * s.part, s.process);
		printf("\n");
	}
}

void phase_components_print(const struct phase *p)
{
	components_print(p, &p->states, "component", "the variance");
	components_print(p, &p->alike, "alike", "the time in the same block");
}

void phase_block_text(const struct phase *p, uint32_t block, char text[PHASE_BLOCK])
{
	if (block == 0 || (block - 1) / 2 >= p->sites.n)
		snprintf(text, PHASE_BLOCK, "block %u", block);
	else
		snprintf(text, PHASE_BLOCK, "block %u, %s %s", block, block % 2 ? "in" : "behind",
			 p->sites.names[(block - 1) / 2]);
}

void phase_clumps_print(const struct phase *p, struct execution *x)
{
	struct clump found[CLUMPS];
	unsigned n = clumps_find(&x->clumps, CLUMP_LEAST, found, CLUMPS);
	char text[PHASE_BLOCK];

	for (unsigned i = 0; i < n; i++) {
		uint32_t block = found[i].block + p->base;

		phase_block_text(p, block, text);
		if (p->follow.common.json)
			json_print(json_pack("{s:s,s:i,s:o,s:f,s:f}", "figure", "clump", "block",
					     (int)block, "where", json_text(text), "share",
					     found[i].share, "chance", found[i].chance),
				   stdout);
		else
			printf("most processes are in %s for %.3g of the time (by chance: "
			       "%.3g)\n",
			       text, found[i].share, found[i].chance);
	}
}

void phase_elsewhere_print(const struct phase *p, struct execution *x)
{
	struct occupancy_unlike *found = memory_new(p->shape.processes, sizeof(*found));
	char text[PHASE_BLOCK];
	unsigned n;

	occupancy_run(&x->occupancy, x->block);
	n = occupancy_find(&x->occupancy, ELSEWHERE_UNLIKELY, found);
	for (unsigned i = 0; i < n; i++) {
		uint32_t block = found[i].block + p->base;

		phase_block_text(p, block, text);
		if (p->follow.common.json)
			json_print(json_pack("{s:s,s:o,s:o,s:o,s:f,s:f,s:f}", "figure", "elsewhere",
					     "process", json_count(found[i].process), "block",
					     json_count(block), "where", json_text(text), "share",
					     found[i].share, "others", found[i].others, "unlikely",
					     found[i].unlikely),
				   stdout);
		else
			printf("process %u is in %s for %.3g of the time, the others for %.3g (by "
			       "chance: %.1g)\n",
			       found[i].process, text, found[i].share, found[i].others,
			       found[i].unlikely);
	}
	free(found);
}

void phase_states_print(const struct phase *p, const struct execution *x)
{
	if (p->follow.common.json) {
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

void phase_sites_print(const struct phase *p)
{
	const struct block_sites *s = &p->sites;

	for (size_t i = 0; i < s->n; i++) {
		if (p->follow.common.json)
			json_print(json_pack("{s:s,s:i,s:i,s:o}", "figure", "site", "in",
					     (int)(2 * i + 1), "behind", (int)(2 * i + 2), "name",
					     json_text(s->names[i])),
				   stdout);
		else
			printf("blocks %zu and %zu: in and behind %s\n", 2 * i + 1, 2 * i + 2,
			       s->names[i]);
	}
	if (p->follow.common.json && (s->n > 0 || s->lost > 0))
		json_print(json_pack("{s:s,s:o,s:o,s:o}", "figure", "order", "unsure",
				     json_count(p->unordered.unsure), "left_out",
				     json_count(s->apart), "lost", json_count(s->lost)),
			   stdout);
	if (s->apart > 0)
		fprintf(stderr,
			"evspace phase: %llu calls of further threads, or of spawned processes, "
			"are "
			"left out\n",
			(unsigned long long)s->apart);
	if (s->lost > 0)
		fprintf(stderr,
			"evspace phase: %llu event%s lost or discarded: where processes were in "
			"between is not known, and they are taken to stay where they were before\n",
			(unsigned long long)s->lost, s->lost == 1 ? " was" : "s were");
	if (s->n > 0 && !s->known)
		fprintf(stderr, "evspace phase: blocks are operations, as call sites were not "
				"recorded: evspace run --elements p2p=site,wait=site,"
				"collective=site, or `element site` of a map, tells these apart\n");
}

/* What a figure may be. */
static void range_print(const struct phase *p, const char *of, const char *normalise,
			struct unordered_range r)
{
	const char *what = normalise ? normalise : "";

	if (p->follow.common.json)
		json_print(json_pack("{s:s,s:s,s:s?,s:o,s:o}", "figure", "range", "of", of,
				     "normalise", normalise, "least", json_number(r.least), "most",
				     json_number(r.most)),
			   stdout);
	else if (!normalise || !p->normalise || strcmp(normalise, p->normalise) == 0)
		printf("  %-12s %-6s  %12.6g to %.6g\n", of, what, r.least, r.most);
}

static void ranges_print(const struct phase *p, const char *of, const struct unordered_part *part)
{
	range_print(p, of, "volume", unordered_entropy(part, UNORDERED_VOLUME));
	range_print(p, of, "none", unordered_entropy(part, UNORDERED_WAYS));
}

static void off_print(const struct phase *p, const char *of, const char *text, const char *unit,
		      double most)
{
	if (p->follow.common.json)
		json_print(json_pack("{s:s,s:s,s:o}", "figure", "off", "of", of, "most",
				     json_number(most)),
			   stdout);
	else
		printf("%s off by %.3g%s at most\n", text, most, unit);
}

/* Of any process. */
static double scan_off(const struct unordered *u, unsigned processes)
{
	double most = 0;

	for (unsigned i = 0; i < processes; i++)
		most = fmax(most, unordered_scanned(u, i));
	return most;
}

void phase_unordered_print(const struct phase *p)
{
	const struct unordered *u = &p->unordered;
	struct unordered_range time;
	double largest = largest_spread(p);
	char of[32];

	if (u->unsure == 0)
		return;
	if (!p->follow.common.json)
		printf("of %llu entr%s it is not known whether they are before those next to "
		       "them: clocks are not known better;\nwhatever the order, with as many "
		       "states in each chain, these are, by bounds:\n",
		       (unsigned long long)u->unsure, u->unsure == 1 ? "y" : "ies");
	range_print(p, "states", NULL, unordered_states(u));
	ranges_print(p, "execution", &u->whole);
	if (p->in_subset)
		ranges_print(p, "subset", &u->subset);
	time = unordered_entropy(&u->whole, UNORDERED_HISTOGRAM);
	range_print(p, "time", "volume",
		    (struct unordered_range){time.least / largest, time.most / largest});
	range_print(p, "time", "none", time);
	for (unsigned i = 0; i < p->states.n && p->states.total > 0; i++) {
		snprintf(of, sizeof(of), "component %u", i + 1);
		range_print(p, of, NULL,
			    unordered_explained(u, p->states.variance[i], p->states.total));
	}
	off_print(p, "share", "shares of the time are", "", unordered_share(u));
	if (p->scan > 0)
		off_print(p, "scan", "mean entropies of subsets are", " bits",
			  scan_off(u, p->shape.processes));
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
	if (p->follow.common.json)
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

void phase_scan_print(const struct phase *p, struct execution *x)
{
	struct scan_process *found = memory_new(p->shape.processes, sizeof(*found));
	unsigned n = 0;

	scan_end(&x->scan, found);
	for (unsigned i = 0; i < p->shape.processes; i++)
		if (found[i].unlikely < UNLIKELY) {
			process_print(p, &x->scan, &found[i], i);
			n++;
		}
	if (n == 0 && !p->follow.common.json)
		printf("no process is unlike the others in subsets of %u\n", p->scan);
	free(found);
}
