/* SPDX-License-Identifier: BSD-3-Clause */
/* Pulls a number of waves, and takes the time. */
#include "tests/bench/burst.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "consumers/client/evspace-client.h"
#include "tests/bench/bench.h"

#define DEADLINE_MS 10000
#define WITHIN_S    60

static int pull(struct evspace_client *c, unsigned waves, struct error *e)
{
	for (unsigned i = 0; i < waves; i++) {
		if (evspace_next(c, DEADLINE_MS) != 1)
			return errorf(e, "%s", evspace_why(c));
		if (evspace_wave(c)->n_missing > 0)
			return errorf(e, "wave %u is not whole", i + 1);
	}
	return 0;
}

/* What is written last is the number of waves; `tuples` has the microseconds. */
static _Noreturn void burst(const struct puller_options *o, unsigned waves, struct tally *tally)
{
	const struct evspace_options options = {
		.connect = o->connect,
		.tls = o->tls,
		.identity = o->name,
		.run = o->run,
		.view = o->view,
		.window = o->window,
		.deadline_ms = DEADLINE_MS,
	};
	struct error e = {""};
	enum evspace_failure failure;
	struct evspace_client *c = evspace_open(&options, &failure, e.text, sizeof(e.text));
	double begun;

	/* Until all hosts are connected, and the names of all elements are said. */
	while (c && evspace_next(c, DEADLINE_MS) == 1 && evspace_wave(c)->n_missing > 0)
		;
	if (!c || !evspace_wave(c)) {
		tally_fail(tally, e.text);
		_exit(1);
	}
	begun = bench_seconds();
	if (pull(c, waves, &e) < 0) {
		tally_fail(tally, e.text);
		_exit(1);
	}
	atomic_store_explicit(&tally->tuples, (uint32_t)((bench_seconds() - begun) * 1e6),
			      memory_order_relaxed);
	atomic_store_explicit(&tally->waves, waves, memory_order_release);
	evspace_close(c);
	pause();
	_exit(0);
}

static bool is_over(void *arg)
{
	struct tally *tally = arg;

	return tally_failed(tally) || atomic_load_explicit(&tally->waves, memory_order_acquire) > 0;
}

int burst_measure(const struct puller_options *o, unsigned waves, double *per_second,
		  struct error *e)
{
	struct tally *tally = tally_new();
	pid_t pid = bench_fork();
	int result;

	if (pid == 0)
		burst(o, waves, tally);
	result = pid < 0 ? errorf(e, "cannot fork: %s", strerror(errno))
			 : bench_until(is_over, tally, WITHIN_S, "the last wave", e);
	if (result == 0 && tally_failed(tally))
		result = errorf(e, "the consumer: %s", tally->why);
	if (result == 0)
		*per_second = waves * 1e6 / tally->tuples;
	bench_end(pid, SIGKILL);
	tally_free(tally);
	return result;
}
