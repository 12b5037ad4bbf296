/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks: raw ticks for collectors, and the line that turns ticks into nanoseconds
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
	CLOCK_TICKS_TSC,  /* the invariant time stamp counter */
	CLOCK_TICKS_MONO, /* CLOCK_MONOTONIC in nanoseconds */
};

/** The same moment on both clocks. */
struct clock_pair {
	uint64_t ticks;
	uint64_t mono_ns; /* CLOCK_MONOTONIC */
};

/**
 * A line from ticks to nanoseconds of event-space time: ns = base_ns + (ticks - base_ticks) *
 * ns_per_tick, right within error_ns. Event-space time is the Unix time of the reference agent at
 * its start, carried on by its CLOCK_MONOTONIC, so that a stepped wall clock moves nothing.
 */
struct clock_line {
	int64_t base_ns;
	uint64_t base_ticks;
	double ns_per_tick;
	double error_ns;
};

/** Where the kernel says which clock sources it would use. */
#define CLOCK_SOURCES "/sys/devices/system/clocksource/clocksource0"

/**
 * Does the kernel trust the time stamp counter, by this folder of its clock sources? A TSC that it
 * has found unstable is not among the available ones. Where the folder cannot be read, as in some
 * containers, what the processor says of itself has to do.
 */
bool clock_trusts_tsc(const char *folder);

/** The kind of ticks of this process: the TSC, if processor and kernel trust it. Then constant. */
enum clock_kind clock_kind(void);

/** CLOCK_MONOTONIC in nanoseconds. */
uint64_t clock_mono_ns(void);

/** The same @ms milliseconds ago, 0: before it began. */
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
#endif
	(void)kind;
	return clock_mono_ns();
}

/** This host's boot id (the kernel's; the same id means the same clock), "" if unknown. Returns
 * @buf. */
const char *clock_boot_id(char *buf, size_t n);

/** CLOCK_REALTIME in nanoseconds. */
int64_t clock_real_ns(void);

/**
 * CPU time of this process in microseconds, as of a millisecond ago at most: to ask the kernel
 * costs as much as to read some dozens of elements. For one thread.
 */
uint64_t clock_cpu_us(void);

/** A pair taken now: the best of a few tries, the clock read between two reads of the ticks. */
struct clock_pair clock_pair_take(enum clock_kind kind);

/**
 * The line through two pairs of one host, @epoch_ns being event-space time at CLOCK_MONOTONIC 0.
 * error_ns grows with the distance from the pairs relative to their span. Pairs closer than 1 ms
 * give a line with a correspondingly large error.
 */
struct clock_line clock_line_through(enum clock_kind kind, struct clock_pair early,
				     struct clock_pair late, int64_t epoch_ns);

/** Lines begin, and hosts say that their clocks did, no further from 1970 than this. */
#define CLOCK_BASE_MOST (INT64_C(1) << 62)

/** Make all times of @line later by @shift_ns, known to @error_ns alone; what a peer said of its
 * clock may be anything: its base stays within CLOCK_BASE_MOST, and its error finite. */
void clock_line_shift(struct clock_line *line, double shift_ns, double error_ns);

/** The line of times that are nanoseconds of event-space time already. */
#define CLOCK_LINE_NS ((struct clock_line){.ns_per_tick = 1})

/** Do both lines make the same times of the same ticks? (Their errors may differ.) */
int clock_line_same(const struct clock_line *a, const struct clock_line *b);

/** Event-space time of @ticks on @line, in nanoseconds. Exact where a tick is a nanosecond. */
int64_t clock_line_ns(const struct clock_line *line, uint64_t ticks);

/**
 * Ticks of @line at the event-space time @ns, cut off: the inverse of clock_line_ns(). Times that
 * are further away than 9e18 ticks are that far away.
 */
uint64_t clock_line_ticks(const struct clock_line *line, int64_t ns);

/** This host's clock for those who relate ticks to time for long. */
struct clock_host {
	struct clock_pair born; /* the far end of lines, of clock_kind() */
	uint64_t woke_ns;	/* CLOCK_MONOTONIC when it last woke, 0: it never slept */
	uint64_t slept_ns;	/* how long it had slept in all until @born */
};

/** From now on. */
void clock_host_init(struct clock_host *host);

/** How long this host has been suspended since it booted: CLOCK_BOOTTIME goes on then. */
uint64_t clock_host_slept_ns(void);

/**
 * @slept_ns (clock_host_slept_ns()) and @now were taken just now. Has the host been suspended since
 * @host->born? Then CLOCK_MONOTONIC stood still, and the TSC has gone on, stood still or begun
 * anew: ticks of before say nothing of those that follow, and lines begin at @now. Returns for how
 * long it slept, in ns; 0: it did not.
 */
uint64_t clock_host_check(struct clock_host *host, uint64_t slept_ns, struct clock_pair now);

/** The better far end for a line: the older one of @born and @other, if the host has not slept
 * since. */
static inline struct clock_pair clock_host_older(const struct clock_host *host,
						 struct clock_pair born, struct clock_pair other)
{
	return other.mono_ns < born.mono_ns && other.mono_ns >= host->woke_ns ? other : born;
}

#endif
