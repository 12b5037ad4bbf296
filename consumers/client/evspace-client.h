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
#include "evspace-wave.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A scope over a view, as one consumer sees it. Blocking, for one thread; evspace_stop() alone may
 * be called from a signal handler. The connection is made again by itself when it breaks.
 */
struct evspace_client;

/** When agents compress what they send to this client (zstd). */
enum evspace_compress {
	EVSPACE_COMPRESS_AUTO = 0, /* on a slow connection, as the agent's kernel sees it */
	EVSPACE_COMPRESS_NEVER,
	EVSPACE_COMPRESS_ALWAYS, /* through a tunnel, whose near end only the agent sees */
};

/** What to look at, and how. Zero and NULL mean the default. Strings are copied. */
struct evspace_options {
	const char *connect;  /* "HOST:PORT" or "unix:PATH" of the entry agent; NULL: this host's
				 only agent */
	const char *tls;      /* folder of certificates (evspace-certs); NULL: $EVSPACE_TLS,
				 ~/.config/evspace/tls */
	const char *identity; /* NAME of NAME.pem there; NULL: "observe", else the only one */
	const char *entry;    /* node whose certificate must answer at HOST:PORT; NULL:
				 $EVSPACE_ENTRY, else HOST, which is a name then */
	const char *run;      /* NULL: the only live run */
	const char *view;     /* NULL: "events" */
	const char *const
		*select; /* patterns: only names that match one of them; NULL: all of the view */
	size_t n_select;
	int backlog;	/* streams: from what the elements still hold, not from now on */
	double rate_hz; /* waves per second asked for; 0: as many as there can be */
	int hurry;	/* streams: ask more often than that while elements fill faster, for at most
			   a tenth of a core of the busiest host's agent */
	unsigned window;      /* waves under way at once, 1 to 64 (streams: 32); 0: 1 */
	unsigned deadline_ms; /* for each wave, 60000 at most; 0: 1000 */
	unsigned patience_ms; /* how long a broken connection is tried again; 0: 120000 */
	enum evspace_compress compress;
	int monitored; /* record this client's waves in the run "evspace" of this host: the command
			  evspace can, for other programs evspace_open() fails */
	int wait;      /* the run need not be there yet */
};

/** Why a call failed. */
enum evspace_failure {
	EVSPACE_FINE = 0,
	EVSPACE_NO_CONNECTION, /* no agent there, it refused us, or it was lost and not found again
				*/
	EVSPACE_WRONG,	/* what was asked for does not exist, or is not clear (several runs) */
	EVSPACE_NO_RUN, /* no host has the run that was asked for */
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
