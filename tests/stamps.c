/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes stamps, and compares the times that a consumer sees with what they say. */
#include "tests/stamps.h"

#include <math.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "node-agent/segment/element-writer.h"
#include "node-agent/segment/segment.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/data/op.h"

#define STAMPS_MOST (1u << 20)

uint64_t stamps_kernel_ns(void)
{
	struct timespec now = {0};

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- writing ---- */

static int writer_begin(struct segment *segment, struct element_writer *writer,
			struct segment_plan *plan, struct error *e)
{
	const struct segment_element wanted = {.channel = CHANNEL_P2P,
					       .capacity = plan->capacity[CHANNEL_P2P]};
	const struct segment_element *element;

	if (segment_create(segment, plan, e) < 0)
		return -1;
	if (!segment_thread_add(segment, 1))
		return errorf(e, "no room for a thread");
	element = segment_element_add(segment, &wanted);
	if (!element)
		return errorf(e, "no room for an element of %u tuples", wanted.capacity);
	element_writer_init(writer, (void *)((char *)segment->header + element->ring_at),
			    wanted.capacity);
	return 0;
}

int stamps_write(const char *folder, int rank, int ranks, double hz, double seconds,
		 struct error *e)
{
	struct segment_plan plan = {.run = "run",
				    .world = 1,
				    .quota = UINT64_MAX,
				    .threads = 1,
				    .dir = folder,
				    .rank = rank,
				    .world_size = ranks};
	const struct timespec pause = {0, (long)(1e9 / hz)};
	uint64_t end = stamps_kernel_ns() + (uint64_t)(seconds * 1e9);
	struct element_writer writer = {0};
	struct segment segment;
	enum clock_kind kind;

	plan.capacity[CHANNEL_P2P] = (uint32_t)(hz * seconds) + 2;
	if (writer_begin(&segment, &writer, &plan, e) < 0)
		return -1;
	kind = (enum clock_kind)segment.header->clock_kind;
	while (stamps_kernel_ns() < end) {
		struct tuple tuple = {.peer = 1, .op = op_find("MPI_Send")};

		tuple.start = clock_ticks(kind);
		tuple.bytes = stamps_kernel_ns();
		tuple.end = clock_ticks(kind);
		element_write(&writer, &tuple);
		nanosleep(&pause, NULL);
	}
	segment_close(&segment);
	return 0;
}

/* ---- comparing ---- */

/* What the entry's time is more than the kernel's, by one stamp: within these. */
struct stamp {
	double least, most; /* without the error */
	double error;
	int32_t rank;
};

struct stamps_seen {
	struct stamp *all;
	size_t n;
	int64_t near; /* what the entry's time is more than the kernel's, about */
};

static void seen_take(struct stamps_seen *seen, const struct evspace_event *event)
{
	int64_t ns = (int64_t)event->bytes;

	if (seen->n == STAMPS_MOST)
		return;
	/* differences are small, so that doubles hold them */
	if (seen->n == 0)
		seen->near = event->start_ns - ns;
	seen->all[seen->n++] = (struct stamp){(double)(event->start_ns - ns - seen->near),
					      (double)(event->end_ns - ns - seen->near),
					      event->error_ns, event->rank};
}

static int bound_order(const void *a, const void *b)
{
	const struct stamp *x = a, *y = b;

	return (x->error > y->error) - (x->error < y->error);
}

/* What a rank's stamps say if the difference is between @low and @high. */
static struct stamps rank_compare(const struct stamps_seen *seen, int32_t rank, double low,
				  double high)
{
	struct stamps sum = {.n = 0};
	uint64_t half = 0;

	for (size_t i = 0; i < seen->n; i++) {
		const struct stamp *s = &seen->all[i];
		double off = fmax(s->least - s->error - high, low - s->most - s->error);

		if (s->rank != rank)
			continue;
		sum.n++;
		sum.within += off <= 0;
		sum.off_ns = fmax(sum.off_ns, off);
	}
	/* they are in the order of their errors */
	for (size_t i = 0; i < seen->n; i++)
		if (seen->all[i].rank == rank && half++ == sum.n / 2)
			sum.bound_ns = seen->all[i].error;
	return sum;
}

/* The first rank's stamps say what the difference is; those of others must allow that. */
static int seen_compare(struct stamps_seen *seen, struct stamps *stamps, struct error *e)
{
	double low = -INFINITY, high = INFINITY;

	for (size_t i = 0; i < seen->n; i++) {
		const struct stamp *s = &seen->all[i];

		if (s->rank != 0)
			continue;
		low = fmax(low, s->least - s->error);
		high = fmin(high, s->most + s->error);
	}
	if (!(low <= high) || !isfinite(low) || !isfinite(high))
		return errorf(e, "the entry's own times say nothing: between %g and %g ns", low,
			      high);
	qsort(seen->all, seen->n, sizeof(*seen->all), bound_order);
	for (int32_t rank = 0; rank < STAMPS_RANKS; rank++)
		stamps[rank] = rank_compare(seen, rank, low, high);
	return stamps[1].n > 0 ? 0 : errorf(e, "no stamp of another host came");
}

int stamps_check(const struct evspace_options *look, double seconds,
		 struct stamps stamps[STAMPS_RANKS], struct error *e)
{
	struct stamps_seen seen = {.all = memory_new(STAMPS_MOST, sizeof(struct stamp))};
	uint64_t end = clock_mono_ns() + (uint64_t)(seconds * 1e9);
	enum evspace_failure failure;
	struct evspace_client *client;
	struct evspace_event event;
	int rc = -1;

	client = evspace_open(look, &failure, e->text, sizeof(e->text));
	while (client && clock_mono_ns() < end) {
		if (evspace_next(client, 200) < 0) {
			errorf(e, "%s", evspace_why(client));
			end = 0;
		}
		while (evspace_event(client, &event))
			seen_take(&seen, &event);
	}
	evspace_close(client);
	if (client && end > 0)
		rc = seen_compare(&seen, stamps, e);
	free(seen.all);
	return rc;
}
