/* SPDX-License-Identifier: BSD-3-Clause */
/* A wave as a whole, and the counts of all tuples so far; part of evspace-client.h. */
#ifndef EVSPACE_WAVE_H
#define EVSPACE_WAVE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct evspace_client;

/** A leaf (a host with elements of the program) that is missing from a wave. */
struct evspace_missing {
	const char *leaf;   /* "/cluster/node" */
	const char *why;    /* "unreachable", "late", "refused" */
	double since_s;	    /* for how long already, in s */
	const char *reason; /* why it refuses or is late, and what to do; "" if unknown */
};

/** One wave: one look at the whole view. Valid until evspace_next() brings another one. */
struct evspace_wave {
	uint64_t number; /* from 1 */
	int again;	 /* 1: not a new look, but what a host could not deliver in time for the
			  * wave with this number */
	unsigned leaves, answered;
	const struct evspace_missing *missing;
	size_t n_missing;
	uint64_t bytes;	  /* of its records, as they travel */
	uint32_t cpu_us;  /* CPU time of all agents since the last wave of anybody */
	int64_t taken_ns; /* when it arrived: Unix time on the reference agent's clock */
	double latency_s; /* from asking to arrival */
	/* for a stream, unless `again` is set: */
	uint64_t read, lost; /* tuples that it has read, and tuples overwritten before */
	double rate_hz;	     /* waves per second from now on; 0: as many as possible */
	double needed_hz;    /* the rate that would have lost nothing, as far as is known */
	int held_back;	     /* asking as often as is needed would cost too much */
	/* of the hosts that answered: */
	unsigned processes;  /* live ones of the program */
	unsigned unreadable; /* processes that are not collected, or whose files are damaged */
	uint64_t elements;   /* in the view */
	uint64_t written;    /* tuples written to these since the program began */
	uint64_t cost_ns;    /* time that collecting those has cost the program: what those cost
			      * that it timed, for all of them; 0: not known yet */
	uint64_t remapped;   /* in the first wave by another map: that map's generation; else 0 */
	/* All hosts have answered, the wave was asked for once only, and no host owed a wave: it
	 * has all that was left to read. A repeated one may be empty because its tuples are in a
	 * later one. */
	int sure;
	uint32_t waited_us; /* for processors, before the wave: the agent that waited longest */
};

/** Counts of all tuples so far; read = delivered + filtered + reduced, written = read + lost +
 * discarded (they had outlived their element's lifetime, or were dropped by evspace discard). */
struct evspace_counts {
	uint64_t waves, again; /* waves delivered; of these, repeated ones */
	uint64_t read, lost, discarded, filtered, reduced, delivered;
	uint64_t repeated;    /* tuples that came again, and were not delivered again */
	uint64_t unaccounted; /* gaps without a lost count: always 0, else please report a bug */
	unsigned owing;	      /* hosts that owe waves: more may come */
	unsigned unreadable;  /* processes that are not collected, or whose files are damaged */
	uint64_t sent_bytes, received_bytes; /* on the wire */
	uint64_t unpacked_bytes;	     /* received, after decompression */
	uint64_t cpu_us;		     /* CPU time of all agents */
	unsigned leaves;
	unsigned reconnections;
	double seconds; /* since the first wave was asked for */
};

/** The wave of the last evspace_next(), NULL before the first. */
const struct evspace_wave *evspace_wave(const struct evspace_client *client);

/** Get the counts so far. */
void evspace_counts(struct evspace_client *client, struct evspace_counts *counts);

/** How many of the tuples that are counted as filtered were sampled out so far: by `read sample` or
 * `filter entropy`, since they tell next to nothing. */
uint64_t evspace_sampled(const struct evspace_client *client);

/** Counts of the tuples of one host. With `folded` (evspace-client.h), what hosts have sent summed
 * is in evspace_counts() and evspace_wave() alone; here are `lost` and `unreadable` of those few
 * that had the most, in each wave. */
struct evspace_leaf {
	const char *name; /* "/cluster/node", valid until evspace_close() */
	uint64_t read, lost, discarded;
	uint64_t filtered, reduced; /* delivered = read - filtered - reduced */
	int owing;		    /* it owes waves: more may come */
	unsigned unreadable; /* processes that are not collected, or whose files are damaged */
};

/** Get the counts of host number @i, from 0, of the hosts that the view reads. Returns 1, or 0 if
 * there is no such host. */
int evspace_leaf(const struct evspace_client *client, size_t i, struct evspace_leaf *leaf);

/** What a client with a budget spends: its own, or its part of the map's. */
struct evspace_spending {
	double budget;	/* share of the program's time: 0.01 is 1 %; 0: it has none */
	double rate_hz; /* waves a second that it asks for at most now */
	/* what looking at that rate costs, and its interval, valid at all times; infinite while
	 * there are too few pairs of blocks */
	double slowdown, low, high;
	uint64_t pairs;
	double collecting; /* what collecting costs besides, by the program's own measure */
	const char *why;   /* why there is no experiment now; "": there is, or will be one. Valid
			    * until the next call */
};

/** Get what the client spends. Returns 1, or 0 if it has no budget, or is not open yet. */
int evspace_spending(const struct evspace_client *client, struct evspace_spending *spending);

#ifdef __cplusplus
}
#endif

#endif
