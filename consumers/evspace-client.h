/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client library: open a view of a running parallel program, and take its waves one by one.
 *
 *	struct evspace_options look = {.view = "events", .backlog = 1, .rate_hz = 10};
 *	struct evspace_client *client = evspace_open(&look, &failure, why, sizeof(why));
 *
 *	while (evspace_next(client, -1) == 1) {
 *		struct evspace_event event;
 *
 *		while (evspace_event(client, &event))
 *			printf("%s %s\n", event.name, event.op);
 *	}
 *	evspace_close(client);
 */
#ifndef EVSPACE_CLIENT_H
#define EVSPACE_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "evspace-record.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A scope over a view, as one consumer sees it. Blocking, for one thread; evspace_stop() alone may
 * be called from a signal handler. The connection is made again by itself when it breaks.
 */
struct evspace_client;

/** What to look at, and how. Zero and NULL mean the default. Strings are copied. */
struct evspace_options {
	const char *connect;  /* "HOST:PORT" or "unix:PATH" of the entry agent; NULL: this host's
				 only agent */
	const char *tls;      /* folder of certificates (deploy/certs); NULL: $EVSPACE_TLS,
				 ~/.config/evspace/tls */
	const char *identity; /* NAME of NAME.pem there; NULL: "observe", else the only one */
	const char *run;      /* NULL: the only live run */
	const char *view;     /* NULL: "events" */
	const char *const
		*select; /* patterns: only names that match one of them; NULL: all of the view */
	size_t n_select;
	int backlog;	      /* streams: from what the elements still hold, not from now on */
	double rate_hz;	      /* waves per second asked for; 0: as many as there can be */
	unsigned window;      /* waves under way at once, 1 to 64 (streams: 32); 0: 1 */
	unsigned deadline_ms; /* for each wave; 0: 1000 */
	unsigned patience_ms; /* how long a broken connection is tried again; 0: 30000 */
};

/** Why a call failed. */
enum evspace_failure {
	EVSPACE_FINE = 0,
	EVSPACE_NO_CONNECTION, /* no agent there, it refused us, or it was lost and not found again
				*/
	EVSPACE_WRONG, /* what was asked for does not exist, or is not clear (several runs) */
};

/** A leaf (a host with elements of the program) that a wave lacks. */
struct evspace_missing {
	const char *leaf; /* "/cluster/node" */
	const char *why;  /* "unreachable", "late", "refused" */
	double since_s;	  /* for how long already */
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
	/* of the hosts that answered: */
	unsigned processes; /* of the program that live */
	uint64_t elements;  /* in the view */
	uint64_t written;   /* tuples that these have been given since the program began */
	uint64_t cost_ns;   /* what collecting those has cost the program, by its own measure */
	uint64_t remapped;  /* the first one by another map: that map's generation; else 0 */
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
	unsigned owing;	      /* hosts that could not deliver all that they have read yet */
	uint64_t sent_bytes, received_bytes;
	uint64_t cpu_us; /* CPU time of all agents */
	unsigned leaves;
	unsigned reconnections;
	double seconds; /* since the first wave was asked for */
};

/**
 * Connect and open the view. Returns the client, or NULL with *@failure and one line of text, with
 * the remedy, in @why (@n bytes).
 */
struct evspace_client *evspace_open(const struct evspace_options *options,
				    enum evspace_failure *failure, char *why, size_t n);

/** Close the scope (its cursors are given up) and the connection. NULL is fine. */
void evspace_close(struct evspace_client *client);

/**
 * Wait for the next wave. Waves come in order of their numbers; one that was asked for again comes
 * behind that of its number, and before later waves of its hosts unless they fail once more. In a
 * stream every tuple comes once, or is counted as lost. Returns 1 when there is a wave, 0 when
 * @timeout_ms have passed (-1: wait for ever) or evspace_stop() was called, and -1 with
 * evspace_why() when the connection is lost for good.
 */
int evspace_next(struct evspace_client *client, int timeout_ms);

/** The wave that evspace_next() brought last, NULL before the first. */
const struct evspace_wave *evspace_wave(const struct evspace_client *client);

/** The counts so far. */
void evspace_counts(struct evspace_client *client, struct evspace_counts *counts);

/** What came of the tuples of one host. */
struct evspace_leaf {
	const char *name; /* "/cluster/node", valid until evspace_close() */
	uint64_t read, lost, discarded;
	uint64_t filtered, reduced; /* delivered = read - filtered - reduced */
	int owing;		    /* it could not deliver all that it has read yet */
};

/** The account of host number @i from 0, of those that the view is read from. Returns 1, or 0 when
 * there are no more. */
int evspace_leaf(const struct evspace_client *client, size_t i, struct evspace_leaf *leaf);

/** The run that is watched, "" while it is not known. */
const char *evspace_run(const struct evspace_client *client);

/** Why the last call failed, in one line. */
const char *evspace_why(const struct evspace_client *client);

/** Make evspace_next() return 0 now and from now on. Safe in signal handlers. */
void evspace_stop(struct evspace_client *client);

#ifdef __cplusplus
}
#endif

#endif
