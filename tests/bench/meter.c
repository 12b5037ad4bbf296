/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads CPU clocks, wave counts and traffic of a tree's processes before and after some time. */
#include "tests/bench/meter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "tests/bench/bench.h"
#include "tests/bench/traffic.h"

/* Connections are warm, names are said, buffers have their size. */
#define WARM_WAVES 200u
#define WARM_S	   20

struct reading {
	double seconds, consumer, root, others;
	uint64_t waves, bytes, consumer_bytes;
	bool has_bytes;
};

struct tally *tally_new(void)
{
	const size_t n = sizeof(struct tally);
	void *at;

	/* cppcheck-suppress invalidFunctionArg ; anonymous memory has descriptor -1 */
	at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		abort();
	return at;
}

void tally_free(struct tally *tally)
{
	if (tally)
		munmap(tally, sizeof(*tally));
}

void tally_fail(struct tally *tally, const char *why)
{
	if (atomic_load_explicit(&tally->failed, memory_order_relaxed))
		return;
	snprintf(tally->why, sizeof(tally->why), "%s", why);
	atomic_store_explicit(&tally->failed, 1, memory_order_release);
}

bool tally_failed(const struct tally *tally)
{
	return atomic_load_explicit(&tally->failed, memory_order_acquire);
}

int meter_cpu(pid_t pid, double *sum, struct error *e)
{
	struct timespec t;
	clockid_t clock;
	int code = clock_getcpuclockid(pid, &clock);

	if (code == 0 && clock_gettime(clock, &t) < 0)
		code = errno;
	errno = code;
	if (code)
		return errorf(e, "no CPU time of process %d: %s", (int)pid, strerror(code));
	*sum += (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
	return 0;
}

static int reading_take(const struct tree_processes *tree, struct reading *r, struct error *e)
{
	*r = (struct reading){.seconds = bench_seconds()};
	r->waves = atomic_load_explicit(&tree->tally->waves, memory_order_relaxed);
	if (meter_cpu(tree->consumer, &r->consumer, e) < 0 ||
	    meter_cpu(tree->root, &r->root, e) < 0)
		return -1;
	for (size_t i = 0; i < tree->n_others; i++) {
		if (meter_cpu(tree->others[i], &r->others, e) < 0)
			return -1;
	}
	r->has_bytes = traffic_sum(tree->ends, tree->n_ends, &r->bytes, NULL) == 0 &&
		       traffic_sum(tree->ends + tree->root_end, tree->n_ends > 0,
				   &r->consumer_bytes, NULL) == 0;
	return 0;
}

static bool is_warm(void *arg)
{
	const struct tree_processes *tree = arg;

	return tally_failed(tree->tally) ||
	       atomic_load_explicit(&tree->tally->waves, memory_order_relaxed) >= WARM_WAVES;
}

/* The reason that the consumer gave, if it has, instead of what is in @e. */
static int fail(const struct tree_processes *tree, struct error *e)
{
	return tally_failed(tree->tally) ? errorf(e, "the consumer: %s", tree->tally->why) : -1;
}

int meter_run(const struct tree_processes *tree, double seconds, struct spent *cost,
	      struct error *e)
{
	struct tree_processes copy = *tree;
	struct reading a, b;
	double waves, us;

	if (bench_until(is_warm, &copy, WARM_S, "the first waves", e) < 0 ||
	    reading_take(tree, &a, e) < 0 || bench_wait(seconds, e) < 0 ||
	    reading_take(tree, &b, e) < 0 || tally_failed(tree->tally))
		return fail(tree, e);
	if (b.waves == a.waves) {
		errno = ETIMEDOUT;
		return errorf(e, "no wave came within %g s", seconds);
	}
	waves = (double)(b.waves - a.waves);
	us = 1e6 / waves;
	*cost = (struct spent){
		.waves_per_s = waves / (b.seconds - a.seconds),
		.cpu_us = (b.consumer + b.root + b.others - a.consumer - a.root - a.others) * us,
		.root_us = (b.root - a.root) * us,
		.consumer_us = (b.consumer - a.consumer) * us,
		.bytes = a.has_bytes && b.has_bytes ? (double)(b.bytes - a.bytes) / waves : -1,
		.consumer_bytes = a.has_bytes && b.has_bytes
					  ? (double)(b.consumer_bytes - a.consumer_bytes) / waves
					  : -1,
	};
	return 0;
}
