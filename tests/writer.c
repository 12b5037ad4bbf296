/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program without MPI whose ranks, all in this process, write a known number into each tuple:
 * what consumers sum up can be compared with what must come out. With BLOCKS each is of a block
 * that the rank enters (evspace_block()): the n-th one of rank r, from 1 and 0 on, is n (r + 1) mod
 * BLOCKS.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "node-agent/segment/element-writer.h"
#include "pathmap/base/memory.h"
#include "tests/oracle.h"
#include "tree/data/clock.h"
#include "tree/data/op.h"

#define TICK_MS 10

struct rank {
	struct segment segment;
	struct element_writer writer;
	uint64_t written;
};

static volatile sig_atomic_t stopping;

/* 0: messages */
static uint32_t blocks;

static int channel(void)
{
	return blocks ? CHANNEL_USER : CHANNEL_P2P;
}

static void on_signal(int number)
{
	(void)number;
	stopping = 1;
}

static int rank_begin(struct rank *r, struct segment_plan *plan, int number, struct error *e)
{
	const struct segment_element *element;
	uint32_t capacity = plan->capacity[channel()];

	plan->rank = number;
	if (segment_create(&r->segment, plan, e) < 0)
		return -1;
	if (!segment_thread_add(&r->segment, 1))
		return errorf(e, "no room for a thread");
	element = segment_element_add(
		&r->segment,
		&(struct segment_element){.channel = (uint16_t)channel(), .capacity = capacity});
	if (!element)
		return errorf(e, "no room for an element of %u tuples", capacity);
	element_writer_init(&r->writer, (void *)((char *)r->segment.header + element->ring_at),
			    capacity);
	return 0;
}

static void rank_write(struct rank *r, int number, uint64_t n)
{
	struct tuple tuple = {.peer = blocks ? TUPLE_NO_PEER : 1,
			      .op = op_find(blocks ? "evspace_state" : "MPI_Send")};

	for (uint64_t i = 0; i < n; i++) {
		tuple.start = clock_ticks((enum clock_kind)r->segment.header->clock_kind);
		tuple.end = tuple.start + 1000;
		tuple.bytes = blocks ? 0 : oracle_bytes(number, r->written);
		r->written++;
		if (blocks)
			tuple.seq_or_tag = (uint32_t)(r->written * ((uint64_t)number + 1) % blocks);
		element_write(&r->writer, &tuple);
	}
}

/* Until the time is over, or a signal. */
static void write_all(struct rank *ranks, int n, double rate, double seconds)
{
	const struct timespec tick = {0, TICK_MS * 1000000};
	uint64_t began = clock_mono_ns(), all = (uint64_t)(rate * seconds), due = 0;

	while (!stopping && due < all) {
		due = (uint64_t)(rate * (double)(clock_mono_ns() - began) * 1e-9);
		due = due < all ? due : all;
		for (int i = 0; i < n; i++)
			rank_write(&ranks[i], i, due - ranks[i].written);
		nanosleep(&tick, NULL);
	}
}

int main(int argc, char **argv)
{
	struct segment_plan plan = {.run = "run", .world = 1, .quota = UINT64_MAX, .threads = 1};
	struct sigaction action = {.sa_handler = on_signal};
	struct error e = {""};
	struct rank *ranks;
	double rate, seconds;
	int n;

	if (argc != 5 && argc != 6) {
		fprintf(stderr,
			"usage: writer RUN-FOLDER RANKS TUPLES-PER-SECOND SECONDS [BLOCKS]\n");
		return 2;
	}
	n = atoi(argv[2]);
	rate = strtod(argv[3], NULL);
	seconds = strtod(argv[4], NULL);
	blocks = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 0;
	plan.dir = argv[1];
	plan.world_size = n;
	/* Nothing is overwritten, so that nothing may be lost. */
	plan.capacity[channel()] = (uint32_t)(rate * seconds) + 2;
	plan.channels = blocks ? 1u << CHANNEL_USER : 0;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	mkdir(argv[1], 0700);
	ranks = memory_new((size_t)n, sizeof(*ranks));
	for (int i = 0; i < n; i++) {
		if (rank_begin(&ranks[i], &plan, i, &e) < 0) {
			fprintf(stderr, "writer: %s\n", e.text);
			return 1;
		}
	}
	write_all(ranks, n, rate, seconds);
	for (int i = 0; i < n; i++)
		segment_close(&ranks[i].segment);
	free(ranks);
	return 0;
}
