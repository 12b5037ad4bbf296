/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the steepest and the flattest line that pass all gates of the probes. */
#include "tree/data/clock-fit.h"

#include <float.h>
#include <math.h>

/** Lines this close to a gate pass it: what doubles lose, below a nanosecond. */
#define TOUCH_NS 1e-2

/** Old probes are forgotten if they leave less than this share of the room. */
#define BENT 0.75

/** Where lines must pass: at or below all tops, at or above all floors. Times are those before the
 * newest answer, so at most 0; leads are relative to @base. */
struct gates {
	double top_at[CLOCK_FIT_PROBES], top[CLOCK_FIT_PROBES];
	double floor_at[CLOCK_FIT_PROBES], floor[CLOCK_FIT_PROBES];
	uint64_t base;
	double least; /* delay there and back of the fastest probe */
	unsigned n;
};

static const struct clock_probe *fit_probe(const struct clock_fit *fit, unsigned age)
{
	return &fit->kept[(fit->probes - 1 - age) % CLOCK_FIT_PROBES];
}

/* Differences of times are as signed numbers, whatever a peer says. */
static double apart(uint64_t a, uint64_t b)
{
	return (double)(int64_t)(a - b);
}

static void gates_make(struct gates *g, const struct clock_fit *fit)
{
	const struct clock_probe *newest = fit_probe(fit, 0);

	g->base = newest->sent_ns - newest->came_ns;
	g->least = INFINITY;
	g->n = fit->n;
	for (unsigned i = 0; i < g->n; i++) {
		const struct clock_probe *p = fit_probe(fit, i);
		double top = apart(p->got_ns - p->asked_ns, g->base);
		double floor = apart(p->sent_ns - p->came_ns, g->base);

		g->top_at[i] = apart(p->asked_ns, newest->came_ns);
		g->floor_at[i] = apart(p->came_ns, newest->came_ns);
		g->top[i] = top - CLOCK_DRIFT_WANDER * g->top_at[i];
		g->floor[i] = floor + CLOCK_DRIFT_WANDER * g->floor_at[i];
		g->least = fmin(g->least, top - floor);
	}
}

/** At the newest answer, lines of some slope lie between these. */
struct room {
	double low, high;
	double low_at, high_at; /* where the gates are that say so */
};

static struct room gates_room(const struct gates *g, double slope)
{
	struct room room = {.low = -INFINITY, .high = INFINITY};

	for (unsigned i = 0; i < g->n; i++) {
		double top = g->top[i] - slope * g->top_at[i];
		double floor = g->floor[i] - slope * g->floor_at[i];

		if (top < room.high) {
			room.high = top;
			room.high_at = g->top_at[i];
		}
		if (floor > room.low) {
			room.low = floor;
			room.low_at = g->floor_at[i];
		}
	}
	return room;
}

/*
 * The room, as a function of the slope, is a concave line of pieces, so Newton's steps from a slope
 * that is too large (@sign 1) or too small (-1) end where lines just pass, and never jump over it.
 * Returns whether there is a line. At a step that does not end there it is a bit wide, never wrong.
 */
static bool gates_extreme(const struct gates *g, int sign, double *slope, struct room *room)
{
	*slope = sign * CLOCK_DRIFT_MOST;
	for (unsigned i = 0; i < 2 * CLOCK_FIT_PROBES; i++) {
		double more;

		*room = gates_room(g, *slope);
		more = room->low_at - room->high_at; /* room for each bit of slope */
		if (room->high - room->low >= -TOUCH_NS)
			return true;
		if (sign * more >= 0)
			return false;
		*slope -= (room->high - room->low) / more;
		if (sign * *slope < -CLOCK_DRIFT_MOST)
			return false;
	}
	return true;
}

/*
 * All gates lie before the newest answer, so there the highest line is the steepest one. @bent: old
 * probes leave much less room than the fastest one alone, so they may be of another line. Returns
 * whether there is a line.
 */
static bool fit_solve(struct clock_fit *fit, bool *bent)
{
	struct gates g;
	struct room steep, flat;
	double most, least, middle;

	gates_make(&g, fit);
	if (!gates_extreme(&g, 1, &most, &steep) || !gates_extreme(&g, -1, &least, &flat))
		return false;
	*bent = fit->n > 1 && steep.high - flat.low < BENT * g.least;
	middle = (steep.high + flat.low) / 2;
	fit->offset = (struct clock_offset){
		.at_ns = fit_probe(fit, 0)->came_ns,
		.ahead_ns = (int64_t)(g.base + (uint64_t)(int64_t)middle),
		.drift = (most + least) / 2,
		.error_ns = fmax((steep.high - flat.low) / 2, g.least / 2) + 1,
		.error_drift = (most - least) / 2 + CLOCK_DRIFT_WANDER,
	};
	return true;
}

bool clock_fit_take(struct clock_fit *fit, const struct clock_probe *probe)
{
	uint64_t there = probe->sent_ns - probe->got_ns, here = probe->came_ns - probe->asked_ns;
	uint32_t n = fit->n < CLOCK_FIT_PROBES ? fit->n + 1 : fit->n;
	bool bent;

	if (probe->sent_ns < probe->got_ns || probe->came_ns < probe->asked_ns || there > here)
		return false;
	fit->apart = fit->apart || (int64_t)(probe->got_ns - probe->asked_ns) < 0 ||
		     (int64_t)(probe->sent_ns - probe->came_ns) > 0;
	fit->kept[fit->probes++ % CLOCK_FIT_PROBES] = *probe;
	fit->n = n;
	if (!fit_solve(fit, &bent)) {
		fit->steps++;
		fit->n = 1;
		fit_solve(fit, &bent);
	}
	for (; bent; fit_solve(fit, &bent))
		fit->n /= 2;
	return n == 1 || fit->n < n;
}

double clock_offset_error_ns(const struct clock_offset *offset, uint64_t ns)
{
	return offset->error_ns + offset->error_drift * fabs(apart(ns, offset->at_ns));
}

int64_t clock_offset_ahead_ns(const struct clock_offset *offset, uint64_t ns)
{
	double more = floor(offset->drift * apart(ns, offset->at_ns));

	return (int64_t)((uint64_t)offset->ahead_ns + (uint64_t)(int64_t)more);
}

/* The difference, or the bound on its side. */
static int64_t minus(int64_t a, int64_t b)
{
	int64_t d;

	if (__builtin_sub_overflow(a, b, &d))
		d = a;
	return d > CLOCK_BASE_MOST ? CLOCK_BASE_MOST : d < -CLOCK_BASE_MOST ? -CLOCK_BASE_MOST : d;
}

/** Farther away from its base, times of a line with a slope lose nanoseconds. */
#define FAR_NS (INT64_C(1) << 50)

void clock_offset_move(const struct clock_offset *offset, struct clock_line *line,
		       int64_t theirs_ns, int64_t ours_ns)
{
	int64_t base_ns = minus(minus(line->base_ns, minus(theirs_ns, ours_ns)), offset->ahead_ns);
	int64_t since = minus(minus(base_ns, ours_ns), (int64_t)offset->at_ns);

	/* ticks that are nanoseconds may have any base */
	if (offset->drift != 0 && line->ns_per_tick == 1 && (since > FAR_NS || since < -FAR_NS)) {
		line->base_ticks -= (uint64_t)since;
		base_ns = minus(base_ns, since);
		since = 0;
	}
	line->base_ns =
		minus(base_ns, (int64_t)floor((double)since * offset->drift / (1 + offset->drift)));
	line->ns_per_tick /= 1 + offset->drift;
	line->error_ns += fmax(offset->error_ns + offset->error_drift * fabs((double)since),
			       offset->error_drift * CLOCK_REACH_NS);
	if (!(line->error_ns <= DBL_MAX))
		line->error_ns = DBL_MAX;
}
