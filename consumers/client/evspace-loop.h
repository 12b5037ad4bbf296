/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many views and questions over one connection, in a loop of your own: nothing here waits, except
 * evspace_wait(). In a loop of poll(2):
 *
 *	struct evspace_connection *connection = evspace_connect(&options);
 *	struct evspace_client *client = evspace_open_on(connection, &options, notify, NULL);
 *
 *	do {
 *		struct pollfd p = {evspace_fd(connection), POLLIN, 0};
 *
 *		poll(&p, 1, evspace_timeout(connection));
 *	} while (evspace_dispatch(connection) == 0);
 *	evspace_disconnect(connection);
 *
 * A connection and all that is on it are for one thread at a time; several connections may be used
 * in several threads at once. A thread of the library's own may look up a host's name; it calls
 * nothing of yours.
 *
 * Functions that you hand over are called from evspace_dispatch(), evspace_wait(), or the libevent
 * base, never from within another call. They may call all of this, but for evspace_wait() and
 * evspace_dispatch(), and also close their client and end the connection.
 */
#ifndef EVSPACE_LOOP_H
#define EVSPACE_LOOP_H

#include "evspace-client.h"

#ifdef __cplusplus
extern "C" {
#endif

struct event_base;

/** A connection to an entry agent. If it breaks, it is made again, and views on it go on. */
struct evspace_connection;

/**
 * Begin to connect. Of @options count `connect`, `tls`, `identity`, `entry`, `compress`,
 * `patience_ms` and `log`; what is wrong with them is told to all that is opened or asked on it.
 * Free it with evspace_disconnect().
 */
struct evspace_connection *evspace_connect(const struct evspace_options *options);

/** The same in a loop of libevent: it needs none of evspace_fd(), evspace_timeout(),
 * evspace_dispatch(). Borrows @base, which needs no locks. */
struct evspace_connection *evspace_connect_on(struct event_base *base,
					      const struct evspace_options *options);

/** Close all views that are open on it, without a word to their functions, forget its questions,
 * and free it. NULL is fine. */
void evspace_disconnect(struct evspace_connection *connection);

/** Why the connection is lost for good, in one line, or "". Valid until the next call. */
const char *evspace_trouble(const struct evspace_connection *connection);

/** A descriptor that can be read when there is something to do: for poll(2), epoll(7) and others.
 * The same for the life of the connection; -1 with errno if there is none to have. Do nothing else
 * with it. */
int evspace_fd(struct evspace_connection *connection);

/** After how many ms there is something to do even though evspace_fd() is quiet, -1: never. Ask
 * this each time before you wait, after all other calls: it also brings the descriptor up to
 * date. */
int evspace_timeout(struct evspace_connection *connection);

/** Do what there is to do, without waiting. Returns 0, or -1 if the connection is lost for good
 * (all have been told), or was ended by one of your functions. */
int evspace_dispatch(struct evspace_connection *connection);

/** Wait until one of your functions was called, for @timeout_ms (-1: for ever). Returns 1; 0 when
 * the time has passed; or -1 as evspace_dispatch(). Not with evspace_connect_on() (-1, EINVAL). */
int evspace_wait(struct evspace_connection *connection, int timeout_ms);

/** What is new about a view. */
enum evspace_news {
	EVSPACE_OPENED, /* it is open; once */
	EVSPACE_WAVE,	/* evspace_next() has a wave; told again after that if it has more */
	EVSPACE_ENDED,	/* it is lost for good: evspace_failed(), evspace_why(); once, the last
			 * one. Waves that came before were told before */
};

typedef void evspace_notify(struct evspace_client *client, enum evspace_news news, void *arg);

/**
 * Open a view on a connection; what becomes of it is told to @notify with @arg. Of @options counts
 * what evspace_connect() does not take; strings are copied. Close it with evspace_close(), also
 * after EVSPACE_ENDED.
 *
 * evspace_next() does not wait for such a client, whatever its timeout. While waves are not taken,
 * none beyond `window` are asked for (and of streams, 32 MiB of tuples at most): this holds up no
 * other view on the connection.
 */
struct evspace_client *evspace_open_on(struct evspace_connection *connection,
				       const struct evspace_options *options,
				       evspace_notify *notify, void *arg);

/** Why it is lost for good; EVSPACE_FINE: it is not. */
enum evspace_failure evspace_failed(const struct evspace_client *client);

#ifdef __cplusplus
}
#endif

#endif
