/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes means with intervals of timed events, and compares two sums of costs. */
#include "consumers/client/price.h"

#include <math.h>

/** Standard deviations on each side of an interval that holds 95 %, and timed events for it. */
#define NORMAL_95   1.96
#define TIMED_LEAST 2u

/* ---- channels ---- */

/* What is timed of operations that are seen, and are no event, is one of so many. */
#define PASSED_EACH 66

/* The mean of @t and half of its interval. */
static void timed_mean(const struct price_timed *t, double *mean, double *error)
{
	double n = (double)t->n, variance;

	*mean = t->n >= TIMED_LEAST ? t->ns / n : NAN;
	variance = t->n >= TIMED_LEAST ? (t->squares - t->ns * t->ns / n) / (n - 1) : NAN;
	*error = NORMAL_95 * sqrt(fmax(variance, 0) / n);
	if (t->n < TIMED_LEAST)
		*error = NAN;
}

void price_channels(const struct price_timed timed[CHANNEL_PROGRAMS],
		    struct evspace_channel_cost channels[CHANNEL_PROGRAMS],
		    struct evspace_cost_sums *sums)
{
	struct price_timed all = {0};
	double mean, error, squares = 0;

	for (unsigned i = 0; i < CHANNEL_PROGRAMS; i++) {
		all.n += timed[i].n;
		all.ns += timed[i].ns;
		all.squares += timed[i].squares;
	}
	timed_mean(&all, &mean, &error);
	sums->events = 0;
	sums->collecting_s = sums->passing_s = 0;
	for (unsigned i = 0; i < CHANNEL_PROGRAMS; i++) {
		struct evspace_channel_cost *c = &channels[i];
		double events = (double)timed[i].events;

		*c = (struct evspace_channel_cost){.channel = channel_name(i),
						   .events = timed[i].events,
						   .timed = timed[i].n,
						   .cut = timed[i].cut,
						   .passed = timed[i].passed};
		sums->events += c->events;
		timed_mean(&timed[i], &c->event_ns, &c->error_ns);
		c->passed_ns = c->passed ? timed[i].passed_ns / (double)c->passed : NAN;
		sums->passing_s += PASSED_EACH * timed[i].passed_ns * 1e-9;
		/* completions are in the calls that complete them */
		if (c->events == 0 || i == CHANNEL_COMPLETION)
			continue;
		/* too few were timed: as all others */
		sums->collecting_s += events * (isfinite(c->event_ns) ? c->event_ns : mean) * 1e-9;
		squares += pow(events * (isfinite(c->event_ns) ? c->error_ns : error), 2);
	}
	sums->collecting_error_s = sqrt(squares) * 1e-9;
}

/* ---- what a time has cost ---- */

int evspace_cost_between(const struct evspace_cost_sums *before,
			 const struct evspace_cost_sums *after, double busiest_s,
			 struct evspace_spent *spent)
{
	double s = (double)(after->taken_ns - before->taken_ns) * 1e-9;
	double lived = after->lived_s - before->lived_s;
	double events = (double)(after->events - before->events), each, error;
	double passing = fmax(after->passing_s - before->passing_s, 0);

	if (s <= 0 || lived <= 0 || after->events < before->events)
		return -1;
	/* means get better with time: the newest one is that of all events */
	each = after->events ? after->collecting_s / (double)after->events : 0;
	error = after->events ? after->collecting_error_s / (double)after->events : 0;
	*spent = (struct evspace_spent){
		.seconds = s,
		.events_hz = events / s,
		.collecting = (events * each + passing) / lived,
		.looking = fmax(after->agents_s - before->agents_s, 0) / lived,
		.delayed = fmax(after->waited_s - before->waited_s, 0) / lived,
		.link_hz = fmax((double)after->link_bytes - (double)before->link_bytes, 0) / s,
		.switches_hz = fmax((double)after->switches - (double)before->switches, 0) / s,
	};
	spent->slowdown = spent->collecting + spent->looking;
	spent->low = (fmax(events * (each - error), 0) + passing) / lived;
	spent->high =
		(events * (each + error) + passing) / lived + fmax(busiest_s / s, spent->looking);
	return 0;
}
