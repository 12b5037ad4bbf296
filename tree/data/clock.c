/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses this host's ticks, and converts ticks to nanoseconds. */
#include "tree/data/clock.h"

#include <fcntl.h>
#include <float.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define NS_PER_S 1000000000

/** A counter that is slower is no better than CLOCK_MONOTONIC. */
#define COUNTER_LEAST_HZ 1000000u

/** Error of a pair: two reads of the ticks around one of CLOCK_MONOTONIC, besides a tick. */
#define PAIR_ERROR_NS 50.0

/** The CPU time is read again after this time. */
#define CPU_AGE_NS 1000000u

bool clock_trusts_tsc(const char *folder)
{
	char path[256], text[256], *rest = text;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/available_clocksource", folder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return true;
	text[n] = '\0';
	for (const char *name; (name = strsep(&rest, " \n"));)
		if (strcmp(name, CLOCK_SOURCE) == 0)
			return true;
	return false;
}

static enum clock_kind kind_of_host(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;

	/* Intel SDM 18.17.1 and AMD APM vol. 3 E.4.7: "the TSC runs at a constant rate in all
	 * states" */
	if (__get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8 &&
	    clock_trusts_tsc(CLOCK_SOURCES))
		return CLOCK_TICKS_TSC;
#elif defined(__aarch64__)
	uint64_t hz;

	/* Arm ARM D12.1: it runs at a fixed frequency, which firmware says; 0: it does not */
	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
	if (hz >= COUNTER_LEAST_HZ && clock_trusts_tsc(CLOCK_SOURCES))
		return CLOCK_TICKS_TSC;
#endif
	return CLOCK_TICKS_MONO;
}

enum clock_kind clock_kind(void)
{
	static _Atomic int known = CLOCK_NONE;
	int kind = atomic_load_explicit(&known, memory_order_relaxed);

	if (kind == CLOCK_NONE) {
		kind = (int)kind_of_host();
		atomic_store_explicit(&known, kind, memory_order_relaxed);
	}
	return (enum clock_kind)kind;
}

const char *clock_kind_name(void)
{
#if defined(__aarch64__)
	static const char counter[] = "cntvct";
#else
	static const char counter[] = "tsc";
#endif

	return clock_kind() == CLOCK_TICKS_MONO ? "monotonic" : counter;
}

const char *clock_boot_id(char *buf, size_t n)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, buf, n - 1);

	if (fd >= 0)
		close(fd);
	buf[got < 0 ? 0 : got] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return buf;
}

uint64_t clock_mono_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

int64_t clock_real_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

uint64_t clock_cpu_us(void)
{
	static _Atomic uint64_t asked_ns, us;
	uint64_t now = clock_mono_ns(),
		 asked = atomic_load_explicit(&asked_ns, memory_order_acquire);
	struct timespec t;

	if (asked == 0 || now - asked >= CPU_AGE_NS) {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
		us = (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
		atomic_store_explicit(&asked_ns, now, memory_order_release);
	}
	return us;
}

struct clock_pair clock_pair_take(enum clock_kind kind)
{
	static _Atomic uint64_t narrowest[CLOCK_TICKS_MONO + 1]; /* seen so far */
	uint64_t least = atomic_load_explicit(&narrowest[kind], memory_order_relaxed);
	struct clock_pair best = {0, 0};
	uint64_t width = UINT64_MAX;

	/* Each wave takes a pair, so stop at one that is about as narrow as any seen. */
	for (int i = 0; i < 5 && width > least + least / 4; i++) {
		uint64_t before = clock_ticks(kind);
		uint64_t ns = clock_mono_ns();
		uint64_t after = clock_ticks(kind);

		if (after - before < width) {
			width = after - before;
			best.ticks = before + width / 2;
			best.mono_ns = ns;
		}
	}
	if (least == 0 || width < least)
		atomic_store_explicit(&narrowest[kind], width, memory_order_relaxed);
	return best;
}

struct clock_line clock_line_through(enum clock_kind kind, struct clock_pair early,
				     struct clock_pair late, int64_t epoch_ns)
{
	double ticks = (double)(int64_t)(late.ticks - early.ticks);
	double ns = (double)(int64_t)(late.mono_ns - early.mono_ns);
	struct clock_line line = {
		.base_ns = epoch_ns + (int64_t)late.mono_ns,
		.base_ticks = late.ticks,
	};

	if (kind == CLOCK_TICKS_MONO) {
		line.ns_per_tick = 1;
	} else if (ticks > 0 && ns > 0) {
		line.ns_per_tick = ns / ticks;
		line.error_ns = PAIR_ERROR_NS + line.ns_per_tick;
		/* the slope is off by two pairs' errors over their distance */
		if (ns < 2 * CLOCK_REACH_NS)
			line.error_ns *= 2 * CLOCK_REACH_NS / ns;
	} else {
		line.error_ns = DBL_MAX;
	}
	return line;
}

int clock_line_same(const struct clock_line *a, const struct clock_line *b)
{
	/* if ticks are nanoseconds, the base is no matter */
	if (a->ns_per_tick == 1 && b->ns_per_tick == 1)
		return (uint64_t)a->base_ns - a->base_ticks == (uint64_t)b->base_ns - b->base_ticks;
	return a->base_ns == b->base_ns && a->base_ticks == b->base_ticks &&
	       a->ns_per_tick == b->ns_per_tick;
}

int64_t clock_line_ns(const struct clock_line *line, uint64_t ticks)
{
	double ns = (double)(int64_t)(ticks - line->base_ticks) * line->ns_per_tick;

	/* a double holds nanoseconds since 1970 to 256 ns only */
	if (line->ns_per_tick == 1)
		return (int64_t)((uint64_t)line->base_ns + (ticks - line->base_ticks));
	/* a tick count from a damaged ring must not overflow the conversion */
	if (ns >= 9e18 || ns <= -9e18)
		return ns > 0 ? INT64_MAX : INT64_MIN;
	return (int64_t)((uint64_t)line->base_ns +
			 (uint64_t)(int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5));
}

uint64_t clock_line_ticks(const struct clock_line *line, int64_t ns)
{
	int64_t since;
	double ticks;

	if (__builtin_sub_overflow(ns, line->base_ns, &since))
		since = ns > 0 ? INT64_MAX : INT64_MIN;
	ticks = (double)since / line->ns_per_tick;
	/* no time, and no line without a slope, may overflow the conversion */
	if (!(ticks < 9e18 && ticks > -9e18))
		ticks = ns > line->base_ns ? 9e18 : -9e18;
	return line->base_ticks + (uint64_t)(int64_t)ticks;
}
