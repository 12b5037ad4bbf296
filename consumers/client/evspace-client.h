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

#include "evspace-call.h"
#include "evspace-foreign.h"
#include "evspace-record.h"
#include "evspace-typed.h"
#include "evspace-wave.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A client: one consumer's scope over a view. Calls block. Use a client in one thread at a time;
 * several threads may each have their own. evspace_stop() alone may be called from a signal
 * handler. A broken connection is made again automatically.
 */
struct evspace_client;

/** When agents compress what they send to this client (zstd). */
enum evspace_compress {
	EVSPACE_COMPRESS_AUTO = 0, /* if the agent's kernel finds the connection slow */
	EVSPACE_COMPRESS_NEVER,
	EVSPACE_COMPRESS_ALWAYS, /* for a tunnel, of which the agent sees only the near end */
};

/** In which scheduling class (sched(7)) agents answer: how they compete with the program for
 * processors. An agent that several clients ask is in the most urgent class of theirs. */
enum evspace_urgency {
	EVSPACE_URGENCY_DEFAULT = 0, /* batch */
	EVSPACE_URGENCY_IDLE,	     /* only on cores that are idle, and what the program leaves
				      * over; batch for a while where a deadline would be missed */
	EVSPACE_URGENCY_BATCH,	     /* their share of cores, but none is taken at once */
	EVSPACE_URGENCY_NORMAL,	     /* as any program */
};

/** What to look at, and how. Zero and NULL mean the default. Strings are copied. */
struct evspace_options {
	const char *connect;  /* "HOST:PORT" or "unix:PATH" of the entry agent; of evspace_open()
			       * also "archive:DIR", at whose end evspace_next() returns 0;
			       * NULL: $EVSPACE_CONNECT, else the only agent of this host */
	const char *tls;      /* folder of certificates (evspace-certs); NULL: $EVSPACE_TLS,
			       * else ~/.config/evspace/tls */
	const char *identity; /* NAME of the certificate NAME.pem there; NULL: "observe", else
			       * the only one */
	const char *entry;    /* node that the certificate of the agent at HOST:PORT must name;
			       * NULL: $EVSPACE_ENTRY, else HOST, if that is a name */
	const char *run;      /* name of the run to look at; NULL: $EVSPACE_RUN, else the only
			       * live one */
	const char *view;     /* name of the view, or "NAME@LEVEL": its stages up to that level
			       * only; NULL: "events" */
	const char *define;   /* the text of a view of your own instead, as in `view NAME
			       * { ... }` of a map: "thread filter bytes>=10k; all slowest 5".
			       * The map says who may define which; of `view` only "@LEVEL" is
			       * used then */
	const char *const *select; /* patterns of names to deliver; NULL: all of the view */
	size_t n_select;
	const char *tree;	 /* the shape of the view's tree, as a map says it: "flat",
				  * "by-cluster", "fanout 8"; NULL: as the map has it, which
				  * also says which others there may be */
	const char *concurrency; /* children that each host asks at once for a wave, likewise:
				  * "sequential", "8", "all"; more than the map says only if it
				  * allows that */
	int backlog;	      /* streams: begin with what the elements still hold; 0: begin now */
	double rate_hz;	      /* waves per second to ask for; 0: as many as possible */
	int hurry;	      /* streams: ask more often while elements fill faster, using up to a
			       * tenth of a core of the busiest host's agent */
	double budget;	      /* share of the program's time that looking may take at most: 0.01
			       * is 1 %; rate_hz is the most then. 0: any, or what the map lets
			       * this client spend of its budget for all */
	double weight;	      /* of its share of that, beside other clients': 0.01 to 100; 0: 1 */
	unsigned window;      /* waves under way at once, 1 to 64 (streams: to 32), or
			       * as the map has it for a view of one's own; 0: 1 */
	unsigned deadline_ms; /* time for each wave, up to 60000; 0: 1000 */
	unsigned patience_ms; /* how long to retry a broken connection; 0: 120000 */
	enum evspace_compress compress;
	int monitored; /* record this client's waves in the run "evspace" of this host; only the
			* command evspace can, for other programs evspace_open() fails */
	int wait;      /* the run need not exist yet */
	int folded;    /* counts of hosts may come summed where their records are mixed, so that an
			* answer does not grow with their number: see evspace_leaf() */
	enum evspace_urgency urgency;
	void (*log)(void *arg, const char *line); /* gets a line when the connection breaks or comes
						   * back, and warnings; it calls nothing of this.
						   * NULL: they are written to stderr */
	void *log_arg;
	int collect; /* to keep the budget, record less of the program, too (control) */
};

/** Why a call failed. */
enum evspace_failure {
	EVSPACE_FINE = 0,
	EVSPACE_NO_CONNECTION, /* no agent there, refused by it, or lost and not found again */
	EVSPACE_WRONG,	       /* no such view, or several runs to choose from, or a wrong option */
	EVSPACE_NO_RUN,	       /* no host has this run; of several, waves have no elements then */
	EVSPACE_DISK,	       /* an archive is damaged, or there is no room for it */
};

/** Connect and open the view. Returns the client, or NULL with *@failure, and in @why (@n bytes)
 * one line of text that says what happened and what to do. Free the client with evspace_close(). */
struct evspace_client *evspace_open(const struct evspace_options *options,
				    enum evspace_failure *failure, char *why, size_t n);

/** Close the scope and the connection, and free @client. Agents free its cursors. NULL is fine. */
void evspace_close(struct evspace_client *client);

/**
 * Wait for the next wave, until @timeout_ms have passed (-1: for ever). Returns 1 with a wave; 0
 * when the time has passed or evspace_stop() was called; -1 when the connection is lost for good
 * (see evspace_why()).
 *
 * Waves come in the order of their numbers. What a host could not deliver in time is asked for
 * again, and comes as a wave of its own: after the wave with its number, and before later waves of
 * that host unless it fails again. In a stream every tuple comes once, or is counted as lost.
 */
int evspace_next(struct evspace_client *client, int timeout_ms);

/** The run that is looked at, "" while it is unknown. Valid until evspace_close(). */
const char *evspace_run(const struct evspace_client *client);

/** Why the last call failed, in one line. Valid until the next call. */
const char *evspace_why(const struct evspace_client *client);

/** Make evspace_next() return 0 from now on. Safe in signal handlers. */
void evspace_stop(struct evspace_client *client);

#ifdef __cplusplus
}
#endif

#endif
