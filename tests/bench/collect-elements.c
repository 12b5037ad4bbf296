/* SPDX-License-Identifier: BSD-3-Clause */
/* Many elements: what it costs to write to them in turn, to read them, and to make them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "node-agent/segment/element-writer.h"
#include "node-agent/segment/segment-table.h"
#include "node-agent/segment/segment-mark.h"
#include "node-agent/segment/segment-timed.h"
#include "tests/bench/collect-case.h"
#include "tests/bench/collect-path.h"

enum { CAPACITY = 200, MOST = 2240, TURNS = 20000, MANY = 10000 };

static const unsigned counts[] = {1, 16, 256, MOST};

static struct rings {
	char *memory;
	size_t n, stride;
	struct element_writer *writers;
} ours, apart;

static volatile uint64_t sink;

static int rings_init(struct rings *r, size_t n, size_t stride, struct error *e)
{
	*r = (struct rings){.n = n, .stride = stride};
	r->memory = aligned_alloc(4096, (n * stride + 4095) / 4096 * 4096);
	r->writers = calloc(n, sizeof(*r->writers));
	if (!r->memory || !r->writers)
		return errorf(e, "no memory for %zu rings", n);
	memset(r->memory, 0, n * stride);
	for (size_t i = 0; i < n; i++)
		element_writer_init(&r->writers[i], (void *)(r->memory + i * stride), CAPACITY);
	return 0;
}

static void rings_fini(struct rings *r)
{
	free(r->memory);
	free(r->writers);
	*r = (struct rings){.n = 0};
}

/* ---- in turn ---- */

static double tuples_in_turn(struct rings *r)
{
	uint64_t ns = clock_mono_ns();
	size_t at = 0;

	for (uint64_t i = 0; i < TURNS; i++) {
		struct tuple t = {.start = clock_ticks(CLOCK_TICKS_TSC), .bytes = i, .op = 1};

		t.end = clock_ticks(CLOCK_TICKS_TSC);
		element_write(&r->writers[at], &t);
		at = at + 1 == r->n ? 0 : at + 1;
	}
	return (double)(clock_mono_ns() - ns) / TURNS;
}

static double ours_in_turn(void)
{
	return tuples_in_turn(&ours);
}

static double apart_in_turn(void)
{
	return tuples_in_turn(&apart);
}

/* The limit: the same words to as many places, with nothing in between. */
static double stores_in_turn(void)
{
	uint64_t ns = clock_mono_ns();
	size_t at = 0, slot = 0;

	for (uint64_t i = 0; i < TURNS; i++) {
		volatile uint64_t *words = (void *)(apart.memory + at * apart.stride);

		words[8 + slot * 5] = clock_ticks(CLOCK_TICKS_TSC);
		words[9 + slot * 5] = clock_ticks(CLOCK_TICKS_TSC);
		words[10 + slot * 5] = i;
		words[11 + slot * 5] = 1;
		words[12 + slot * 5] = 2;
		words[0] = i;
		if (++at == apart.n) {
			at = 0;
			slot = slot + 1 == CAPACITY ? 0 : slot + 1;
		}
	}
	return (double)(clock_mono_ns() - ns) / TURNS;
}

/* Both kinds of rings for @n; what runs on them fills the caches itself. */
static int both_measure(const struct collect_case *c, size_t n, size_t stride,
			double (*limit)(void), struct error *e)
{
	char part[16];
	int result = -1;

	if (rings_init(&ours, n, element_ring_bytes(CAPACITY), e) == 0 &&
	    rings_init(&apart, n, stride, e) == 0) {
		snprintf(part, sizeof(part), "%zu", n);
		collect_report(c, part, pairs_measure(ours_in_turn, limit, collect_pairs() / 4));
		result = 0;
	}
	rings_fini(&ours);
	rings_fini(&apart);
	return result;
}

int collect_elements_case(const struct collect_case *c, struct error *e)
{
	collect_pin(1);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (both_measure(c, counts[i], element_ring_bytes(CAPACITY), stores_in_turn, e) < 0)
			return -1;
	return 0;
}

int collect_strides_case(const struct collect_case *c, struct error *e)
{
	size_t stride = 1;

	while (stride < element_ring_bytes(CAPACITY))
		stride *= 2;
	collect_pin(1);
	for (size_t i = 1; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (both_measure(c, counts[i], stride, apart_in_turn, e) < 0)
			return -1;
	return 0;
}

/* ---- the newest of many ---- */

static struct tuple newest[MOST];

static double latest_all(void)
{
	uint64_t ns = clock_mono_ns(), number;

	for (size_t i = 0; i < ours.n; i++)
		element_latest(ours.writers[i].ring, CAPACITY, element_inverse(CAPACITY),
			       &newest[i], &number);
	return (double)(clock_mono_ns() - ns) / (double)ours.n;
}

/* The limit: where it is and what it is, without asking whether it is being overwritten. */
static double copy_all(void)
{
	uint64_t ns = clock_mono_ns();

	for (size_t i = 0; i < ours.n; i++) {
		const struct element_ring *ring = ours.writers[i].ring;

		memcpy(&newest[i], &ring->slots[(element_head(ring) - 1) % CAPACITY],
		       sizeof(newest[i]));
	}
	return (double)(clock_mono_ns() - ns) / (double)ours.n;
}

int collect_latest_case(const struct collect_case *c, struct error *e)
{
	enum { ELEMENTS = 1948 };

	collect_pin(1);
	if (rings_init(&ours, ELEMENTS, element_ring_bytes(CAPACITY), e) == 0) {
		for (size_t i = 0; i < ELEMENTS; i++) {
			struct tuple t = {.bytes = i};

			for (size_t k = 0; k <= i % (2 * CAPACITY); k++)
				element_write(&ours.writers[i], &t);
		}
		collect_report(c, NULL, pairs_measure(latest_all, copy_all, collect_pairs()));
		rings_fini(&ours);
		return 0;
	}
	rings_fini(&ours);
	return -1;
}

/* ---- ten thousand in one process ---- */

static int many_make(struct segment *s, struct element_writer *writers, const char *folder,
		     struct error *e)
{
	struct segment_plan plan = {.dir = folder,
				    .run = "bench",
				    .world_size = 1,
				    .world = 1,
				    .split[CHANNEL_P2P] = SPLIT_SITE,
				    .elements = MANY};

	if (segment_create(s, &plan, e) < 0)
		return -1;
	for (uint32_t i = 0; i < MANY; i++) {
		const struct segment_element *element =
			segment_element_add(s, &(struct segment_element){.channel = CHANNEL_P2P,
									 .capacity = CAPACITY,
									 .split = SPLIT_SITE,
									 .key = i});

		if (!element)
			return errorf(e, "there is no room for element %u", i);
		element_writer_init(&writers[i], (void *)((char *)s->header + element->ring_at),
				    CAPACITY);
	}
	return 0;
}

/* Bytes that a process with @elements takes: what the table of docs/collecting.md adds up to. */
static double memory_computed(const struct segment_layout *l)
{
	return 2.0 * SEGMENT_PAGE + l->threads_max * (double)sizeof(struct segment_thread) +
	       (l->threads_max + 1.0) * l->classes_max * sizeof(struct segment_count) +
	       l->elements_max * (double)sizeof(struct segment_element) +
	       l->classes_max * (double)sizeof(struct segment_class) +
	       l->comms_max * (double)sizeof(struct segment_comm) + l->members_max * 4.0 +
	       l->modules_max * (double)sizeof(struct segment_module) +
	       l->labels_max * (double)sizeof(struct segment_label) +
	       (double)segment_timed_bytes(l) +
	       l->elements_max * (double)sizeof(struct segment_mark) +
	       (double)(l->elements_max - 1) * (double)element_ring_bytes(CAPACITY) +
	       (double)element_ring_bytes(1);
}

static int many_measure(double *ns, struct element_writer *writers, double *bytes, double *computed,
			struct error *e)
{
	char folder[128];
	struct segment s;
	struct stat st;
	uint64_t since;

	snprintf(folder, sizeof(folder), "%s/many", collect_bench.base);
	if (mkdir(folder, 0700) < 0)
		return errorf(e, "cannot make the folder %s: %s", folder, strerror(errno));
	since = clock_mono_ns();
	if (many_make(&s, writers, folder, e) < 0)
		return -1;
	*ns = (double)(clock_mono_ns() - since);
	*bytes = stat(s.path, &st) == 0 ? (double)st.st_blocks * 512 : 0;
	*computed = memory_computed(&s.layout);
	segment_close(&s);
	collect_remove(folder);
	return 0;
}

int collect_start_case(const struct collect_case *c, struct error *e)
{
	enum { ROUNDS = 11 };
	double ns[ROUNDS], limits[ROUNDS], bytes[ROUNDS], computed[ROUNDS];
	struct element_writer *writers = calloc(MANY, sizeof(*writers));
	size_t n = collect_bench.quick ? 3 : ROUNDS;
	int result = writers ? 0 : errorf(e, "no memory");

	collect_pin(1);
	for (size_t i = 0; result == 0 && i < n; i++) {
		result = many_measure(&ns[i], writers, &bytes[i], &computed[i], e);
		limits[i] = 50e6;
	}
	free(writers);
	if (result < 0)
		return -1;
	collect_report(c, NULL, pairs_of(ns, limits, n));
	collect_report_bytes(c, "memory", bytes[0], computed[0]);
	collect_report_bytes(c, "element", (double)element_ring_bytes(CAPACITY),
			     CAPACITY * (double)sizeof(struct tuple));
	return 0;
}
