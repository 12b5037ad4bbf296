/* SPDX-License-Identifier: BSD-3-Clause */
/* A wave as a whole, and what came of all tuples so far; part of evspace-client.h. */
#ifndef EVSPACE_WAVE_H
#define EVSPACE_WAVE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct evspace_client;

/** A leaf (a host with elements of the program) that a wave lacks. */
struct evspace_missing {
	const char *leaf;   /* "/cluster/node" */
	const char *why;    /* "unreachable", "late", "refused" */
	double since_s;	    /* for how long already */
	const char *reason; /* why it refuses, and what to do; "": no more is known */
};

/** One wave: one look at the whole view. Valid until evspace_next() brings another. */
struct evspace_wave {
	uint64_t number; /* from 1 */
	int again;	 /* what a leaf could not deliver in its time, now delivered */
	unsigned leaves, answered;
	const struct evspace_missing *missing;
	size_t n_missing;
	uint64_t bytes;	  /* of its batch */
	uint32_t cpu_us;  /* CPU time of all agents since the wave before */
	int64_t taken_ns; /* event-space time of the reference agent when it arrived */
	double latency_s; /* from asking to arrival */
	/* of a stream's wave, which was not asked for again: */
	uint64_t read, lost; /* tuples that it has read, and those that were overwritten before */
	double rate_hz;	     /* waves a second asked for from now on; 0: as many as there can be */
	double needed_hz;    /* that would have been enough to lose nothing, as far as is known */
	int held_back;	     /* it would be more often, but for what that costs */
	/* of the hosts that answered: */
	unsigned processes;  /* of the program that live */
	unsigned unreadable; /* processes that are not collected, or whose files are damaged */
	uint64_t elements;   /* in the view */
	uint64_t written;    /* tuples that these have been given since the program began */
	uint64_t cost_ns;    /* what collecting those has cost the program, by its own measure */
	uint64_t remapped;   /* the first one by another map: that map's generation; else 0 */
	/* Asked for once only, and when no host owed anything: what is left to read, it brings. One
	 * that was asked for again may be empty because its tuples are in a later one. */
	int sure;
};

/**
 * What came of all tuples so far; read = delivered + filtered + reduced, written = read + lost +
 * discarded (they had outlived their element's lifetime, or were dropped by evspace discard).
 */
struct evspace_counts {
	uint64_t waves, again; /* waves delivered; of these, asked for again */
	uint64_t read, lost, discarded, filtered, reduced, delivered;
	uint64_t repeated;    /* tuples that came once more, and were not delivered again */
	uint64_t unaccounted; /* gaps that no lost count explains: always 0, else report a bug */
	unsigned owing;	      /* hosts that have not answered all waves yet: more may come */
	unsigned unreadable;  /* processes that are not collected, or whose files are damaged */
	uint64_t sent_bytes, received_bytes; /* on the wire */
	uint64_t unpacked_bytes;	     /* received, without compression */
	uint64_t cpu_us;		     /* CPU time of all agents */
	unsigned leaves;
	unsigned reconnections;
	double seconds; /* since the first wave was asked for */
};

/** The wave that evspace_next() brought last, NULL before the first. */
const struct evspace_wave *evspace_wave(const struct evspace_client *client);

/** The counts so far. */
void evspace_counts(struct evspace_client *client, struct evspace_counts *counts);

/** What came of the tuples of one host. */
struct evspace_leaf {
	const char *name; /* "/cluster/node", valid until evspace_close() */
	uint64_t read, lost, discarded;
	uint64_t filtered, reduced; /* delivered = read - filtered - reduced */
	int owing;		    /* it has not answered all waves yet: more may come */
	unsigned unreadable; /* processes that are not collected, or whose files are damaged */
};

/** The account of host number @i from 0, of those that the view is read from. Returns 1, or 0 when
 * there are no more. */
int evspace_leaf(const struct evspace_client *client, size_t i, struct evspace_leaf *leaf);

#ifdef __cplusplus
}
#endif

#endif
