/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kills processes that write tuples as fast as they can, at random moments, and looks at what they
 * leave: nothing is torn, and what is held and what was overwritten is what was written.
 *
 *	killed DIR N [SEED]	start and kill N writers, which use the collector without MPI
 *	killed --check DIR	look at what tests/apps/steady has left there, killed by somebody
 *else
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "node-agent/collect/core/collect.h"
#include "node-agent/segment/segment-class.h"
#include "node-agent/segment/segment-read.h"
#include "tree/data/op-table.h"

enum { THREADS = 2, CHANNELS = 2, CAPACITY = 200, NS_PER_MS = 1000000 };

static const unsigned channels[CHANNELS] = {CHANNEL_P2P, CHANNEL_COLLECTIVE};

/* What the writers know themselves, in memory that they share with who kills them: how many tuples
 * each thread has surely written to each channel. */
struct oracle {
	_Atomic uint64_t written[THREADS][CHANNELS];
};

static struct oracle *oracle;

/** What was found in one segment, or in all. */
struct findings {
	uint64_t written, held, lost, torn;
};

/* ---- the writer ---- */

/* Every word of a tuple follows from its number. */
static void tuple_of(uint64_t n, struct tuple *t)
{
	uint64_t mixed = n * 0x9e3779b97f4a7c15u;

	*t = (struct tuple){
		.bytes = n,
		.peer = (int32_t)(mixed >> 40),
		.seq_or_tag = (uint32_t)(mixed >> 7),
		.comm = (uint32_t)(mixed >> 13),
		.op = (uint16_t)(1 + n % 5),
		.flags = (uint16_t)(n % 7),
	};
}

static void *writer_run(void *arg)
{
	const struct collect_caller caller = COLLECT_CALLER;
	_Atomic uint64_t *written = arg;

	for (uint64_t n = 0;; n++) {
		const unsigned c = n % CHANNELS;
		struct tuple t;

		tuple_of(n / CHANNELS, &t);
		if (collect_enter(caller, &collect_none, channels[c]) != COLLECT_RECORD)
			_exit(3);
		collect_begin(&t);
		collect_stamp(&t);
		collect_end(caller, &t, &collect_none, channels[c]);
		atomic_store_explicit(&written[c], n / CHANNELS + 1, memory_order_release);
	}
	return NULL;
}

static void writer_main(const char *dir)
{
	struct segment_plan plan = {
		.dir = dir, .run = "run", .world_size = 1, .world = 1, .threads = THREADS};
	pthread_t other;
	struct error e;

	for (int i = 0; i < CHANNEL_MAX; i++)
		plan.capacity[i] = CAPACITY;
	if (collect_start(&plan, &e) < 0) {
		fprintf(stderr, "killed: %s\n", e.text);
		_exit(3);
	}
	if (pthread_create(&other, NULL, writer_run, oracle->written[1]) != 0)
		_exit(3);
	writer_run(oracle->written[0]);
}

/* ---- what is left ---- */

static bool tuple_right(const struct tuple *t, uint64_t n)
{
	struct tuple want;

	tuple_of(n, &want);
	return t->bytes == want.bytes && t->peer == want.peer && t->op == want.op &&
	       t->seq_or_tag == want.seq_or_tag && t->comm == want.comm && t->flags == want.flags &&
	       t->start <= t->end && t->start > 0;
}

/* tests/apps/steady: as many ints as the tag says, to itself; each tag is one more than the last.
 */
static bool tuple_steady(const struct tuple *t, const struct tuple *before)
{
	return t->bytes == (t->seq_or_tag % 61) * sizeof(int) && t->start <= t->end &&
	       (!before || t->seq_or_tag == (before->seq_or_tag + 1) % 30000);
}

/* Read all of an element; @found grows. Returns how many tuples were ever written. */
static uint64_t element_look(const struct segment *s, const struct segment_element *e, bool steady,
			     struct findings *found)
{
	const struct element_ring *ring = segment_ring(s, e);
	struct tuple *tuples = calloc(e->capacity, sizeof(*tuples));
	struct element_range range;
	uint64_t head;

	if (!ring || !tuples)
		abort();
	head = element_head(ring);
	element_read(ring, e->capacity, 0, head, tuples, e->capacity, &range);
	for (uint32_t i = 0; i < range.count; i++) {
		if (steady ? e->channel == CHANNEL_P2P &&
				     !tuple_steady(&tuples[i], i ? &tuples[i - 1] : NULL)
			   : !tuple_right(&tuples[i], range.first + i))
			found->torn++;
	}
	found->written += head;
	found->held += range.count;
	found->lost += range.lost;
	free(tuples);
	return head;
}

/* The counters, the writer's own count and the ring agree but for the tuple in the making. */
static bool numbers_agree(const struct segment *s, const struct segment_element *e, uint64_t head,
			  uint64_t written)
{
	struct segment_sum sum = {.calls = 0};

	segment_channel_sum(s, e->thread, e->channel, &sum);
	if (head - written <= 1 && sum.calls - head <= 1)
		return true;
	printf("thread %u channel %u: %" PRIu64 " in the ring, %" PRIu64 " counted, %" PRIu64
	       " by its own count\n",
	       e->thread, e->channel, head, sum.calls, written);
	return false;
}

static int segment_look(const struct segment *s, bool steady, struct findings *found)
{
	int status = 0;

	for (uint32_t i = 1; i < segment_elements(s); i++) {
		const struct segment_element *e = segment_element(s, i);
		uint64_t head, written;

		if (!e)
			continue;
		head = element_look(s, e, steady, found);
		written = steady ? head : oracle->written[e->thread][e->channel == channels[1]];
		if (!numbers_agree(s, e, head, written))
			status = -1;
	}
	return status;
}

/* Look at the segments in @dir, and remove them. Returns how many there were, or -1. */
static int folder_look(const char *dir, bool steady, struct findings *found)
{
	struct dirent **entries;
	/* cppcheck-suppress nullPointer */
	int n = scandir(dir, &entries, NULL, NULL), seen = 0;

	for (int i = 0; i < n; i++) {
		const char *dot = strrchr(entries[i]->d_name, '.');
		char path[512];
		struct segment s;
		struct error e;

		if (dot && strcmp(dot, SEGMENT_SUFFIX) == 0 && seen >= 0) {
			seen++;
			if (segment_open(&s, dir, entries[i]->d_name, &e) < 0) {
				printf("%s\n", e.text);
				seen = -1;
			} else {
				if (segment_look(&s, steady, found) < 0)
					seen = -1;
				segment_close(&s);
			}
			snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
			unlink(path);
		}
		free(entries[i]);
	}
	free(entries);
	return n < 0 ? -1 : seen;
}

/* ---- killing ---- */

static bool has_begun(void)
{
	for (int i = 0; i < THREADS; i++)
		for (int c = 0; c < CHANNELS; c++)
			if (!atomic_load(&oracle->written[i][c]))
				return false;
	return true;
}

/* Every other one while it lives: up to 3 ms after its threads have begun. The rest at any time. */
static int kill_one(const char *dir, int round, struct findings *found)
{
	struct timespec wait = {0, random() % (3 * NS_PER_MS)};
	int status, seen;
	pid_t pid;

	memset(oracle, 0, sizeof(*oracle));
	pid = fork();
	if (pid == 0)
		writer_main(dir);
	while (pid > 0 && round % 2 && !has_begun() && waitpid(pid, &status, WNOHANG) == 0)
		nanosleep(&(struct timespec){0, 50000}, NULL);
	nanosleep(&wait, NULL);
	if (pid < 0 || kill(pid, SIGKILL) < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	if (!WIFSIGNALED(status)) {
		printf("a writer ended by itself: %x\n", (unsigned)status);
		return -1;
	}
	seen = folder_look(dir, false, found);
	return seen < 0 || (round % 2 && seen != 1) ? -1 : 0;
}

static int report(const struct findings *f)
{
	printf("written %" PRIu64 ", held %" PRIu64 ", lost %" PRIu64 ", torn %" PRIu64 "\n",
	       f->written, f->held, f->lost, f->torn);
	return f->torn || f->held + f->lost != f->written || !f->written;
}

int main(int argc, char **argv)
{
	struct findings found = {.written = 0};

	if (argc == 3 && strcmp(argv[1], "--check") == 0)
		return folder_look(argv[2], true, &found) < 1 || report(&found);
	if (argc < 3) {
		fprintf(stderr, "usage: killed DIR N [SEED] | --check DIR\n");
		return 2;
	}
	/* cppcheck-suppress invalidFunctionArg */
	oracle = mmap(NULL, sizeof(*oracle), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (oracle == MAP_FAILED)
		return 2;
	srandom(argc > 3 ? (unsigned)atoi(argv[3]) : (unsigned)getpid());
	for (int round = 0; round < atoi(argv[2]); round++) {
		if (kill_one(argv[1], round, &found) < 0) {
			printf("at kill %d\n", round);
			return 1;
		}
	}
	return report(&found);
}
