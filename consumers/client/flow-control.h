/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow control: how many bytes of tuples may be on their way to a client, and how often it asks. */
#ifndef EVSPACE_FLOW_CONTROL_H
#define EVSPACE_FLOW_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Most bytes over all waves and leaves. */
#define FLOW_CONTROL_MOST ((size_t)32 << 20)

/** Plain data, zeroed at first. */
struct flow_control {
	size_t bytes;	/* the credit; 0: before flow_control_begin() */
	uint64_t since; /* the first wave that was asked for with this credit */
};

/** The client has connected. A @slow connection begins with little credit, another one with the
 * most. */
void flow_control_begin(struct flow_control *c, bool slow);

/**
 * Adjust the credit after wave @number, for which leaves have read @bytes of tuples; it came
 * @seconds after it was asked for, and had @deadline_s. The credit is divided into @shares, one for
 * each leaf of each wave under way; @next is the next wave to ask for. A wave that is more than a
 * second late waits in queues: the credit is halved. If a wave came within half a second, and the
 * share may have limited a leaf, the credit is doubled.
 */
void flow_control_wave(struct flow_control *c, uint64_t number, size_t bytes, double seconds,
		       unsigned shares, double deadline_s, uint64_t next);

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
