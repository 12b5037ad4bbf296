/* SPDX-License-Identifier: BSD-3-Clause */
/* What elements of programs cost: a write beside bare stores, waking a reader beside a bare futex.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "node-agent/pastset/evspace-element.h"
#include "tests/bench/bench.h"
#include "tests/bench/pairs.h"
#include "tree/data/clock.h"

#define WRITES	 1000u
#define WAKES	 20u
#define CAPACITY 200u

/* Long enough for a reader that has said so to be asleep. */
#define ASLEEP_NS 100000

static const char about[] =
	"usage: element [options]\n"
	"\n"
	"What elements of programs (evspace-element.h) cost. Pairs take turns; medians.\n"
	"\n"
	"  element      a write of 16 bytes : reading the clock, and bare stores into a ring\n"
	"  element-64   of 64 bytes\n"
	"  element-256  of 256 bytes\n"
	"  waits        of 16 bytes to an element that waits for a reader, which keeps up\n"
	"  wake         from a write until a reader in another process that slept has the\n"
	"               tuple : from a store and a bare futex wake until it runs\n";

/* A case of writing. */
struct writing {
	const char *name, *fields;
	uint32_t words;
	int wait_ms;
};

static const struct writing writings[] = {
	{"element", "a u64[2]", 2, 0},
	{"element-64", "a u64[8]", 8, 0},
	{"element-256", "a u64[32]", 32, 0},
	{"waits", "a u64[2]", 2, -1},
};

static const struct writing *now;
static struct evspace_element *element, *reader;

/* ---- writing ---- */

static double write_element(void)
{
	uint64_t tuple[32] = {0}, sum = 0;

	for (unsigned part = 0; part < WRITES / CAPACITY; part++) {
		uint64_t ns = clock_mono_ns();

		for (unsigned i = 0; i < CAPACITY; i++) {
			tuple[0] = i;
			evspace_element_write(element, tuple);
		}
		sum += clock_mono_ns() - ns;
		for (unsigned i = 0; reader && i < CAPACITY; i++)
			evspace_element_next(reader, tuple, NULL, 0);
	}
	return (double)sum / WRITES;
}

/* The same ring without anybody to be told. */
static double write_bare(void)
{
	static _Atomic uint64_t ring[CAPACITY * 33], head;
	uint64_t ns = clock_mono_ns();

	for (unsigned i = 0; i < WRITES; i++) {
		_Atomic uint64_t *to = &ring[i % CAPACITY * 33];

		atomic_store_explicit(to, clock_ticks(clock_kind()), memory_order_relaxed);
		for (uint32_t k = 1; k <= now->words; k++)
			atomic_store_explicit(&to[k], i, memory_order_relaxed);
		atomic_store_explicit(&head, head + 1, memory_order_release);
	}
	return (double)(clock_mono_ns() - ns) / WRITES;
}

/* ---- waking ---- */

/* What the one that sleeps and the one that wakes share. */
static struct shared {
	_Atomic uint32_t word;	 /* of the bare futex */
	_Atomic uint32_t sleeps; /* one goes to sleep for the time that this says */
	_Atomic uint64_t woken;	 /* CLOCK_MONOTONIC, 0: not yet */
	_Atomic uint32_t bare;	 /* which way */
} * shared;

static void sleeper_run(void)
{
	const struct evspace_element_plan plan = {.name = "wake"};
	struct evspace_element *in = evspace_element_open(&plan, NULL, 0);
	uint64_t tuple[2];

	for (uint32_t turn = 1; in; turn += 2) {
		uint32_t bare, word = atomic_load(&shared->word);

		while (atomic_load(&shared->sleeps) != turn)
			sched_yield();
		bare = atomic_load(&shared->bare);
		atomic_store(&shared->sleeps, turn + 1);
		if (!bare)
			evspace_element_next(in, tuple, NULL, -1);
		while (bare && atomic_load(&shared->word) == word)
			syscall(SYS_futex, &shared->word, FUTEX_WAIT, word, NULL, NULL, 0);
		atomic_store(&shared->woken, clock_mono_ns());
	}
	_exit(1);
}

/* Ns from telling the sleeper until it runs. */
static double wake(uint32_t bare)
{
	static uint32_t turn = 1;
	uint64_t tuple[2] = {turn}, sum = 0, ns, woken;

	for (unsigned i = 0; i < WAKES; i++, turn += 2) {
		atomic_store(&shared->woken, 0);
		atomic_store(&shared->bare, bare);
		atomic_store(&shared->sleeps, turn);
		while (atomic_load(&shared->sleeps) == turn)
			sched_yield();
		nanosleep(&(struct timespec){.tv_nsec = ASLEEP_NS}, NULL);
		ns = clock_mono_ns();
		if (bare) {
			atomic_fetch_add(&shared->word, 1);
			syscall(SYS_futex, &shared->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
		} else {
			evspace_element_write(element, tuple);
		}
		while ((woken = atomic_load(&shared->woken)) == 0)
			sched_yield();
		sum += woken - ns;
	}
	return (double)sum / WAKES;
}

static double wake_element(void)
{
	return wake(0);
}

static double wake_bare(void)
{
	return wake(1);
}

/* ---- all of it ---- */

static void report(const char *name, const struct pairs *p, double aim,
		   const struct bench_options *o)
{
	printf(o->json ? "{\"bench\":\"element\",\"case\":\"%s\",\"ns\":%.2f,\"floor_ns\":%.2f,"
			 "\"ratio\":%.3f,\"aim\":%g}\n"
		       : "%-12s %10.1f %10.1f %8.3f %8g\n",
	       name, p->ns, p->limit_ns, p->ratio, aim);
	fflush(stdout);
}

static struct evspace_element *element_make(const struct evspace_element_plan *plan,
					    struct error *e)
{
	struct evspace_element *made = evspace_element_make(plan, e->text, sizeof(e->text));

	return made;
}

static int write_case(const struct writing *w, size_t pairs, const struct bench_options *o,
		      struct error *e)
{
	const struct evspace_element_plan plan = {
		.name = w->name, .fields = w->fields, .capacity = CAPACITY, .wait_ms = w->wait_ms};
	struct pairs p;

	now = w;
	element = element_make(&plan, e);
	if (!element)
		return -1;
	reader = w->wait_ms ? evspace_element_open(&plan, NULL, 0) : NULL;
	p = pairs_measure(write_element, write_bare, pairs);
	report(w->name, &p, 25, o);
	evspace_element_close(reader);
	evspace_element_close(element);
	return 0;
}

static int wake_case(size_t pairs, const struct bench_options *o, struct error *e)
{
	const struct evspace_element_plan plan = {
		.name = "wake", .fields = "a u64[2]", .capacity = CAPACITY};
	struct pairs p;
	pid_t child;

	/* cppcheck-suppress invalidFunctionArg ; anonymous memory has descriptor -1 */
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return errorf(e, "no shared memory: %s", strerror(errno));
	element = element_make(&plan, e);
	if (!element)
		return -1;
	child = bench_fork();
	if (child == 0)
		sleeper_run();
	p = pairs_measure(wake_element, wake_bare, pairs);
	report("wake", &p, 1.3, o);
	bench_end(child, SIGKILL);
	evspace_element_close(element);
	munmap(shared, sizeof(*shared));
	return 0;
}

static int measure(const struct bench_options *o, size_t pairs, struct error *e)
{
	if (!o->json)
		printf("%-12s %10s %10s %8s %8s\n", "case", "ns", "floor ns", "ratio", "aim");
	for (size_t i = 0; i < sizeof(writings) / sizeof(writings[0]); i++) {
		if (o->only && strcmp(o->only, writings[i].name) != 0)
			continue;
		if (write_case(&writings[i], pairs, o, e) < 0)
			return -1;
	}
	if (o->only && strcmp(o->only, "wake") != 0)
		return 0;
	return wake_case(pairs / 5, o, e);
}

int main(int argc, char **argv)
{
	static const struct bench_options quick = {.seconds = 1, .rounds = PAIRS_QUICK};
	struct bench_options o = {.seconds = 1, .rounds = PAIRS_FULL};
	char folder[] = "/dev/shm/evspace-bench-element.XXXXXX";
	const char *gone[] = {"/bin/rm", "-rf", folder, NULL};
	struct error e = {""};
	int result;

	bench_parse(argc, argv, &o, &quick, about);
	bench_begin();
	if (!mkdtemp(folder)) {
		fprintf(stderr, "element: cannot make the folder %s: %s\n", folder,
			strerror(errno));
		return 1;
	}
	setenv("EVSPACE_DIR", folder, 1);
	setenv("EVSPACE_RUN", "bench", 1);
	result = measure(&o, o.rounds, &e);
	if (result < 0)
		fprintf(stderr, "element: %s\n", e.text);
	(void)bench_run((char *const *)(uintptr_t)gone, "/dev/null", &e);
	return result < 0 ? 1 : 0;
}
