/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks: raw ticks for collectors, and the line that converts ticks to nanoseconds
 * (docs/architecture.md). */
#ifndef EVSPACE_CLOCK_H
#define EVSPACE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/** What a tick is. */
enum clock_kind {
	CLOCK_NONE,
	CLOCK_TICKS_TSC,  /* the invariant time stamp counter; CNTVCT_EL0 on aarch64 */
	CLOCK_TICKS_MONO, /* CLOCK_MONOTONIC in nanoseconds */
};

/** The same moment on both clocks. */
struct clock_pair {
	uint64_t ticks;
	uint64_t mono_ns; /* CLOCK_MONOTONIC */
};

/**
 * A line from ticks to nanoseconds of event-space time: ns = base_ns + (ticks - base_ticks) *
 * ns_per_tick, correct within error_ns at the base, and within as much more for each CLOCK_REACH_NS
 * before or after it: a drift is not known exactly. Event-space time is the Unix time of the
 * reference agent at its start, continued by its CLOCK_MONOTONIC, so that steps of the wall clock
 * do not change it.
 */
struct clock_line {
	int64_t base_ns;
	uint64_t base_ticks;
	double ns_per_tick;
	double error_ns;
};

/** So far from a line's base its error may be twice error_ns. */
#define CLOCK_REACH_NS 5e9

/** Bound of the error of a time that is @away_ns from the base of its line. */
static inline double clock_error_ns(double error_ns, double away_ns)
{
	return error_ns * (1 + (away_ns < 0 ? -away_ns : away_ns) / CLOCK_REACH_NS);
}

/** The kernel's folder of clock sources. */
#define CLOCK_SOURCES "/sys/devices/system/clocksource/clocksource0"

/** What the kernel calls the counter of CLOCK_TICKS_TSC. */
#if defined(__aarch64__)
#define CLOCK_SOURCE "arch_sys_counter"
#else
#define CLOCK_SOURCE "tsc"
#endif

/**
 * Does the kernel trust the time stamp counter, according to @folder, a folder of clock sources? An
 * unstable TSC is not among the available ones. If the folder cannot be read, as in some
 * containers, the processor's own word counts.
 */
bool clock_trusts_tsc(const char *folder);

/** The kind of ticks of this process: the TSC, if processor and kernel trust it. Constant for a
 * process. */
enum clock_kind clock_kind(void);

/** Its name: "tsc", "cntvct" or "monotonic". */
const char *clock_kind_name(void);

/** CLOCK_MONOTONIC in nanoseconds. */
uint64_t clock_mono_ns(void);

/** CLOCK_MONOTONIC @ms milliseconds ago, 0 if that is before its start. */
static inline uint64_t clock_mono_ago_ns(uint64_t ms)
{
	uint64_t now = clock_mono_ns();

	return ms < now / 1000000u ? now - ms * 1000000u : 0;
}

/** Now, in ticks of @kind. */
static inline uint64_t clock_ticks(enum clock_kind kind)
{
#if defined(__x86_64__)
	if (__builtin_expect(kind == CLOCK_TICKS_TSC, 1))
		return __rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	/* as RDTSC it waits for nothing before it */
	if (__builtin_expect(kind == CLOCK_TICKS_TSC, 1)) {
		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
	}
#endif
	(void)kind;
	return clock_mono_ns();
}

/** This host's boot id, from the kernel, "" if unknown; hosts with the same id share a clock.
 * Returns @buf. */
const char *clock_boot_id(char *buf, size_t n);

/** CLOCK_REALTIME in nanoseconds. */
int64_t clock_real_ns(void);

/** CPU time of this process in microseconds, up to a millisecond old, since asking the kernel costs
 * as much as reading some dozens of elements. For one thread. */
uint64_t clock_cpu_us(void);

/** A pair taken now: the best of a few tries, each a read of the clock between two reads of the
 * ticks. */
struct clock_pair clock_pair_take(enum clock_kind kind);

/**
 * The line through two pairs of one host; @epoch_ns is the event-space time at CLOCK_MONOTONIC 0.
 * The closer the pairs are, the larger is the error.
 */
struct clock_line clock_line_through(enum clock_kind kind, struct clock_pair early,
				     struct clock_pair late, int64_t epoch_ns);

/** Bound of the base of lines, and of the start of peers' clocks, as distance from 1970 in ns. */
#define CLOCK_BASE_MOST (INT64_C(1) << 62)

/** The line for times that are already nanoseconds of event-space time. */
#define CLOCK_LINE_NS ((struct clock_line){.ns_per_tick = 1})

/** Do both lines convert ticks to the same times? (Their errors may differ.) */
int clock_line_same(const struct clock_line *a, const struct clock_line *b);

/** Event-space time of @ticks by @line, in nanoseconds. Exact if a tick is a nanosecond. */
int64_t clock_line_ns(const struct clock_line *line, uint64_t ticks);

/** Ticks of @line at the event-space time @ns, rounded towards zero: the inverse of
 * clock_line_ns(). Limited to 9e18 ticks from the base. */
uint64_t clock_line_ticks(const struct clock_line *line, int64_t ns);

#endif
