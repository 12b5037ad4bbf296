/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums up the runs of a store: processes, events, bytes, and since when they have ended. */
#include "node-agent/store/store-run.h"

#include <stdlib.h>
#include <string.h>

#include "node-agent/segment/segment-read.h"
#include "node-agent/store/store-index.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/data/span.h"

struct store_run_look {
	const struct store_segment *s;
	struct store_run *run;
};

static int read_segment(void *arg)
{
	const struct store_run_look *look = arg;
	const struct segment *s = &look->s->segment;
	struct store_run *run = look->run, sum = *run;
	uint32_t n = segment_elements_readable(s);

	for (uint32_t i = 0; i < n; i++) {
		const struct segment_element *entry = segment_element(s, i);
		const struct element_ring *ring;
		struct segment_element copy;
		uint64_t head;

		if (!entry)
			continue;
		memcpy(&copy, entry, sizeof(copy));
		ring = segment_ring(s, &copy);
		if (!ring)
			continue;
		head = element_head(ring);
		sum.events += head;
		if (copy.thread == SEGMENT_NO_THREAD)
			sum.overflowed += head;
	}
	sum.finished += atomic_load(&s->header->finished) != 0;
	if (s->said.world_size > sum.world_size)
		sum.world_size = s->said.world_size;
	if (!sum.born_real_ns || s->said.born_real_ns < sum.born_real_ns)
		sum.born_real_ns = s->said.born_real_ns;
	if (!sum.program[0])
		snprintf(sum.program, sizeof(sum.program), "%s", s->said.program);
	*run = sum;
	return 0;
}

static struct store_run *find_or_add(struct store_run **runs, size_t *n, const char *name)
{
	size_t i;

	for (i = *n; i > 0; i--)
		if (!strcmp((*runs)[i - 1].name, name))
			return &(*runs)[i - 1];
	*runs = memory_room(*runs, *n, sizeof(**runs));
	memset(&(*runs)[*n], 0, sizeof(**runs));
	snprintf((*runs)[*n].name, sizeof((*runs)[*n].name), "%s", name);
	return &(*runs)[(*n)++];
}

static void add_segment(struct store_run *run, const struct store_segment *s)
{
	struct store_run_look look = {.s = s, .run = run};

	/* a truncated file counts as a process without numbers */
	(void)segment_guarded(read_segment, &look);
	run->processes++;
	run->alive += s->alive;
	run->bytes += s->segment.size;
	/* until runs_end(): when the last process ended */
	if (!s->alive && s->died_mono_ns > run->idle_ns)
		run->idle_ns = s->died_mono_ns;
}

static void add_mirror(struct store_run *run, const struct store_mirror *m)
{
	uint64_t died = mirror_died(&m->mirror);

	run->mirrors++;
	run->mirrors_alive += died == 0;
	run->bytes += m->mirror.size;
	if (died > run->idle_ns)
		run->idle_ns = died;
}

static void add_element(struct store_run *run, const struct store_element *m)
{
	run->elements++;
	run->made += m->file.said.made_by[0] != '\0';
	run->bytes += m->file.size;
	if (!run->program[0])
		snprintf(run->program, sizeof(run->program), "%s", m->file.said.program);
}

static int compare_birth(const void *a, const void *b)
{
	const struct store_run *x = a, *y = b;
	int monitors = (strcmp(x->name, SPAN_RUN) == 0) - (strcmp(y->name, SPAN_RUN) == 0);

	if (monitors)
		return monitors;
	if (x->born_real_ns != y->born_real_ns)
		return x->born_real_ns < y->born_real_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

void store_runs_sort(struct store_run *runs, size_t n)
{
	if (n)
		qsort(runs, n, sizeof(*runs), compare_birth);
}

/* Set how long runs are idle, and sort them. */
static void runs_end(struct store_run *runs, size_t n)
{
	uint64_t now = clock_mono_ns();

	for (size_t i = 0; i < n; i++)
		runs[i].idle_ns = runs[i].alive || runs[i].mirrors_alive || !runs[i].idle_ns
					  ? 0
					  : now - runs[i].idle_ns;
	store_runs_sort(runs, n);
}

size_t store_runs_held(const struct store *store,
		       bool (*holds)(const void *arg, const struct store_segment *s),
		       const void *arg, struct store_run **runs)
{
	const struct store_segment *s;
	size_t n = 0;

	*runs = NULL;
	TAILQ_FOREACH (s, &store->segments, link) {
		if (holds(arg, s))
			add_segment(find_or_add(runs, &n, s->run), s);
	}
	runs_end(*runs, n);
	return n;
}

size_t store_runs(const struct store *store, struct store_run **runs)
{
	const struct store_segment *s;
	const struct store_mirror *m;
	const struct store_element *element;
	const struct store_refusal *refusal;
	size_t n = 0;

	*runs = NULL;
	TAILQ_FOREACH (s, &store->segments, link)
		add_segment(find_or_add(runs, &n, s->run), s);
	TAILQ_FOREACH (m, &store->mirrors, link)
		add_mirror(find_or_add(runs, &n, m->mirror.origin.run), m);
	TAILQ_FOREACH (element, &store->elements, link)
		add_element(find_or_add(runs, &n, element->run), element);
	TAILQ_FOREACH (refusal, &store->refusals, link)
		find_or_add(runs, &n, refusal->run)->bytes += refusal->bytes;
	runs_end(*runs, n);
	return n;
}

/* The run of the newest mirror, for nodes that only have mirrors. */
static const char *mirror_run_newest(const struct store *store)
{
	const struct store_mirror *m, *best = NULL;

	TAILQ_FOREACH (m, &store->mirrors, link) {
		if (!best || m->mirror.born.mono_ns > best->mirror.born.mono_ns)
			best = m;
	}
	return best ? best->mirror.origin.run : "";
}

const char *store_run_newest(const struct store *store, bool living)
{
	const struct store_segment *s, *best = NULL;

	TAILQ_FOREACH (s, &store->segments, link) {
		/* monitors' run must be named to be read */
		if (strcmp(s->run, SPAN_RUN) == 0 || (living && !s->alive))
			continue;
		if (!best || s->alive > best->alive ||
		    (s->alive == best->alive && s->born.mono_ns > best->born.mono_ns))
			best = s;
	}
	return best ? best->run : mirror_run_newest(store);
}
