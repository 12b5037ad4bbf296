/* SPDX-License-Identifier: BSD-3-Clause */
/* Tempo: how often a stream asks, by how fast the elements fill and by what a wave costs. */
#ifndef EVSPACE_TEMPO_H
#define EVSPACE_TEMPO_H

#include <stdbool.h>
#include <stdint.h>

/** Most cost: this share of a core of the busiest host's agent. */
#define TEMPO_SHARE 0.1

/** Desired fill of the fullest element when it is read: bursts of four times as much fit. */
#define TEMPO_FILL 0.25

/** Least interval between two waves, in s. */
#define TEMPO_LEAST_S 0.001

/** Most waves under way, if one takes longer than the interval. */
#define TEMPO_WINDOW 8u

/** Measures of one wave. */
struct tempo_wave {
	double apart_s;	     /* since the wave before was asked for, 0: there was none */
	double latency_s;    /* from asking until it came */
	double cpu_s;	     /* of the busiest host's agent since the one before */
	double fill;	     /* of the fullest element: 1 is full, more means that it has lost
			      * tuples; 0: unknown, or nothing was new */
	uint64_t read, lost; /* tuples */
};

/** Plain data. */
struct tempo {
	double base_s;	   /* interval without hurry */
	double needed_s;   /* interval that loses nothing, at most base_s */
	double interval_s; /* present interval */
	unsigned window;   /* waves under way for that */
	bool held_back;	   /* the cost is at its bound, and that is not enough */
	double cpu_s;	   /* of a wave, on average */
};

void tempo_begin(struct tempo *t, double base_s);

/** Take a wave: updates t->interval_s and t->window, faster at once, slower step by step. If agents
 * do not report how full their elements were, only losses count. */
void tempo_wave(struct tempo *t, const struct tempo_wave *w);

#endif
