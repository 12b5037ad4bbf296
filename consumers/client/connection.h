/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a connection: its link, which is made again after breaks, and all that is open or
 * asked on it. */
#ifndef EVSPACE_CONNECTION_PRIVATE_H
#define EVSPACE_CONNECTION_PRIVATE_H

#include <event2/event.h>
#include <stdarg.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "consumers/client/evspace-control.h"
#include "tree/link/link.h"

/** How long a scope may take to open, and a question to be answered, beyond a wave's deadline:
 * children may have to be dialled. */
#define CONNECTION_WITHIN_MS 9000u

/** Most descriptors that its loop waits for: the link's, and that of the resolver. */
#define CONNECTION_WAITS 32

struct evspace_client;

/** What has waited for its turn to be told. Embedded in scopes and questions. */
struct news {
	TAILQ_ENTRY(news) entry;
	bool queued;
	void (*tell)(void *of); /* may free it */
	void *of;
};

struct evspace_connection {
	/* what was asked for */
	char *address, *tls_dir, *identity, *entry; /* NULL: by name */
	bool named;				    /* the address was said */
	enum wire_unpacks unpacks;
	unsigned patience_ms;
	void (*log)(void *arg, const char *line);
	void *log_arg;
	/* the loop */
	struct event_base *base;
	bool own;     /* the loop is its own … */
	bool inside;  /* … and runs */
	bool telling; /* the user is being told something */
	bool ended;   /* the user has ended it meanwhile */
	unsigned told;
	TAILQ_HEAD(, news) news;
	struct event *tell, *limit;
	bool timed_out;
	int poll_fd; /* an epoll of what the loop waits for; -1: nobody has asked for it */
	int polled[CONNECTION_WAITS];
	unsigned n_polled;
	/* the link */
	struct tls *tls;
	struct link_hub *hub;
	struct link *link;
	struct event *retry, *watch;
	uint64_t looked_ns, heard_ns, heard_bytes; /* by the watch */
	bool pinged, told_lost;
	bool ready;  /* the agent is the one that was meant */
	bool proved; /* it was of use once: worth to be made again */
	bool failed; /* for good */
	enum evspace_failure failure;
	struct error why;
	unsigned retry_ms;
	uint64_t lost_ns; /* when it was lost, 0 while connected */
	uint64_t bytes_sent, bytes_received, bytes_unpacked; /* by former links */
	/* on it */
	LIST_HEAD(, evspace_client) scopes;
	TAILQ_HEAD(questions, evspace_question) questions;
	unsigned n_questions;
	bool map_owed;	      /* the answer to a question about the map that is not there any
			       * more */
	uint32_t last_number; /* of a scope or question */
};

/* ---- connection.c ---- */

/** A connection on @base (NULL: on one of its own) that does not exist yet. */
struct evspace_connection *connection_new(const struct evspace_options *options,
					  struct event_base *base);

/** A number for a scope or question that none has. */
uint32_t connection_number(struct evspace_connection *c);

/** Write a line for the user. */
void connection_note(const struct evspace_connection *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** Tell @news from the loop, once, in the order of calls. */
void connection_tell(struct evspace_connection *c, struct news *news);
void connection_tell_not(struct evspace_connection *c, struct news *news);

/** Run the loop, of its own, until something has happened, @timeout_ms after connection_limit() at
 * most. */
void connection_limit(struct evspace_connection *c, int timeout_ms);
void connection_turn(struct evspace_connection *c);

/* ---- connection-link.c ---- */

/** Find the agent and dial it. What goes wrong is told to all that are on it. */
void connection_begin(struct evspace_connection *c);

/** What an error of the agent means. */
enum evspace_failure connection_failure(const Evspace__Error *e);

/** It was of use: a lost one is tried again for all of the patience. */
void connection_useful(struct evspace_connection *c);

/* ---- question.c ---- */

/** Who asks. */
struct asker {
	/* Gets the answer, of the kind that was asked for, or NULL; then @why says more. It may
	 * keep *@reply by setting it to NULL. */
	void (*answered)(const struct asker *asker, Evspace__Frame **reply,
			 enum evspace_failure failure, const char *why);
	evspace_answered *reply; /* as the user wants it */
	void *arg;
	char run[64]; /* that is asked about, if the answer has several; "": any */
};

/** Ask @frame, which is copied; it gets a number. Answered once, from the loop, unless it is
 * cancelled before; at once with @wrong, if that has text. */
struct evspace_question *question_new(struct evspace_connection *c, const Evspace__Frame *frame,
				      Evspace__Frame__KindCase kind, unsigned deadline_ms,
				      const struct asker *asker, const struct error *wrong);

/** Ask @frame on a connection with a loop of its own, and wait for the answer, or until *@stopping
 * is set (NULL: never) and evspace_stop() wakes the loop. Returns the answer, or NULL with
 * *@failure and @e. */
Evspace__Frame *question_ask(struct evspace_connection *c, const Evspace__Frame *frame,
			     Evspace__Frame__KindCase kind, unsigned deadline_ms,
			     const volatile sig_atomic_t *stopping, enum evspace_failure *failure,
			     struct error *e);

/** The link is ready: ask what was not asked yet. */
void questions_send(struct evspace_connection *c);

/** The link is lost; @all: for good. What was asked may have been done: it is not asked again. */
void questions_lost(struct evspace_connection *c, bool all);

/** Is @frame the answer to one of them? */
bool questions_take(struct evspace_connection *c, const Evspace__Frame *frame);

/** Is any of them under way? */
bool questions_owed(const struct evspace_connection *c);

#endif
