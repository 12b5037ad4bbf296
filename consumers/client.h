/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a client: its connection, the waves under way, and what it lacks of each leaf. */
#ifndef EVSPACE_CLIENT_PRIVATE_H
#define EVSPACE_CLIENT_PRIVATE_H

#include <event2/event.h>
#include <signal.h>
#include <stdbool.h>

#include "consumers/evspace-client.h"
#include "tree/batch.h"
#include "tree/link.h"
#include "tree/names.h"

/** Waves under way at most; leaves remember 63 waves that the consumer lacks. */
#define CLIENT_WINDOW_MAX 32u

/** Waves that a leaf is asked for again at most: more it cannot have made before it went away. */
#define CLIENT_LACKS 63u

/** How many waves back a part that comes twice is known. */
#define CLIENT_SEEN 256u

/** A leaf, and which of its waves have come. */
struct client_leaf {
	uint32_t index;
	char *name;
	uint64_t seen[CLIENT_SEEN]; /* wave number, by number % CLIENT_SEEN */
	uint64_t lacks[CLIENT_LACKS];
	size_t n_lacks;
	bool back; /* it was in the last answer that was its: what it lacks can be asked for */
};

/** An answer that came and was not taken yet. */
struct client_answer {
	bool here, asked;
	uint64_t asked_ns;
	struct evspace_wave wave;
	struct batch batch;
	struct evspace_missing *missing;
};

/** Where the numbers of an element stand, to see that no tuple is unaccounted for. */
struct client_count;

struct evspace_client {
	/* what was asked for */
	char *address, *tls_dir, *identity, *run, *view;
	char **select;
	size_t n_select;
	bool backlog;
	double rate_hz;
	unsigned window, deadline_ms, patience_ms;
	unsigned char id[16];
	/* the connection */
	struct event_base *base;
	struct tls *tls;
	struct link_hub *hub;
	struct link *link;
	struct event *retry, *pace, *wake, *limit;
	bool opened; /* the scope is open on this connection */
	bool failed; /* for good */
	bool timed_out;
	enum evspace_failure failure;
	struct error why;
	unsigned retry_ms;
	uint64_t lost_ns; /* when it was lost, 0 while it is there */
	int wake_fd;	  /* an eventfd that evspace_stop() writes to */
	volatile sig_atomic_t stopping;
	/* the scope */
	enum reading reading;
	char opened_run[64];
	struct names *names;
	struct client_leaf *leaves;
	size_t n_leaves;
	uint64_t next_ask, next_take; /* wave numbers */
	uint64_t due_ns;	      /* when the next wave may be asked for */
	struct client_answer slots[CLIENT_WINDOW_MAX];
	uint64_t again_wave;	    /* asked for again and not answered yet, 0: none */
	struct client_answer again; /* an answer to what was asked for again, taken first */
	struct client_answer taken; /* the wave that evspace_next() brought, until the next one */
	/* reading the current wave */
	struct batch_cursor cursor;
	struct run_view at_run;
	uint32_t record;
	struct part part;
	bool skipping;
	int64_t read_ns, first_read_ns; /* of the part, of the wave's first one */
	/* counts */
	struct client_count *elements;
	struct evspace_counts counts;
	uint64_t begun_ns, bytes_sent, bytes_received;
	/* instead of opening a scope: ask for the status */
	bool status_only;
	Evspace__Status *status;
};

/* client-link.c: finding an agent, connecting, reconnecting */
int client_connect(struct evspace_client *c);
void client_lost(struct evspace_client *c, const struct error *why);

/* client.c: frames of an open link */
void client_ready(struct evspace_client *c);
void client_frame(struct evspace_client *c, const struct frame *frame);

/* client-wave.c: asking and taking waves */
void client_pump(struct evspace_client *c);
void client_answer(struct evspace_client *c, const struct frame *frame);
void client_ask_open_again(struct evspace_client *c);
bool client_take(struct evspace_client *c);
void client_waves_fini(struct evspace_client *c);

/* client-read.c: what is in a wave */
void client_count_wave(struct evspace_client *c, struct client_answer *a);
void client_counts_fini(struct evspace_client *c);

/**
 * Ask an agent, whichever it is, for its status: no scope is opened. Returns it (free it with
 * evspace__status__free_unpacked()), or NULL as evspace_open() does.
 */
Evspace__Status *client_status(const struct evspace_options *options, enum evspace_failure *failure,
			       char *why, size_t n);

#endif
