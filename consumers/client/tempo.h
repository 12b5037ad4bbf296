/* SPDX-License-Identifier: BSD-3-Clause */
/* Tempo: how often a stream asks, by how fast the elements fill and by what a wave costs. */
#ifndef EVSPACE_TEMPO_H
#define EVSPACE_TEMPO_H

#include <stdbool.h>
#include <stdint.h>

/** What it may cost: this share of a core of the busiest host's agent. */
#define TEMPO_SHARE 0.1

/** As full as this is the fullest element when it is read: bursts of four times as much find room.
 */
#define TEMPO_FILL 0.25

/** Between two waves, in s, at least. */
#define TEMPO_LEAST_S 0.001

/** Waves under way at most, where one takes longer than they are apart. */
#define TEMPO_WINDOW 8u

/** What a wave was like. */
struct tempo_wave {
	double apart_s;	     /* since the one before was asked for, 0: there was none */
	double latency_s;    /* from asking until it came */
	double cpu_s;	     /* of the busiest host's agent since the one before */
	double fill;	     /* of the fullest element: 1 is all that it holds, above that it has
				lost; 0: it is not said, or nothing was new */
	uint64_t read, lost; /* tuples */
};

/** Plain data. */
struct tempo {
	double base_s;	   /* between two waves while there is no hurry */
	double needed_s;   /* so that nothing is lost, at most base_s */
	double interval_s; /* as it shall be now */
	unsigned window;   /* waves under way for that */
	bool held_back;	   /* it costs what it may, and that is not enough */
	double cpu_s;	   /* of a wave, on average */
};

void tempo_begin(struct tempo *t, double base_s);

/**
 * Take a wave in: t->interval_s and t->window are for the next ones. Faster at once, slower bit by
 * bit. Agents that do not say how full their elements were are judged by what was lost alone.
 */
void tempo_wave(struct tempo *t, const struct tempo_wave *w);

#endif
