/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a client: its connection, the waves under way, and the one being read. */
#ifndef EVSPACE_CLIENT_PRIVATE_H
#define EVSPACE_CLIENT_PRIVATE_H

#include <event2/event.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "consumers/client/flow-control.h"
#include "consumers/client/evspace-client.h"
#include "consumers/client/delivery.h"
#include "consumers/client/namesakes.h"
#include "tree/data/batch.h"
#include "tree/link/link.h"
#include "tree/data/names.h"
#include "tree/data/span.h"

/** Least number of tuples that a leaf may bring in a wave. */
#define CLIENT_ROOM_LEAST 64u

/** Most waves under way: as many as a gather has slots … */
#define CLIENT_WINDOW_MAX 64u

/** … and of streams, and of repeated asks: leaves remember 63 waves that the consumer lacks. */
#define CLIENT_WINDOW_STREAM 32u

/** Time before the first new try to dial; doubles with each. */
#define CLIENT_RETRY_FIRST_MS 50u

/** An answer that is expected, or came and was not taken yet. */
struct client_answer {
	STAILQ_ENTRY(client_answer) entry; /* in the list of repeated ones */
	bool here;
	bool sure; /* see evspace-wave.h */
	uint64_t asked_ns;
	uint32_t fill; /* see Answer in wire.proto */
	struct evspace_wave wave;
	struct delivery_sums sums;
	struct batch batch;
	struct evspace_missing *missing;
};

struct evspace_client {
	/* what was asked for */
	char *address, *tls_dir, *identity, *entry, *run, *view, *define; /* NULL: by name */
	char *tree, *concurrency;					  /* "": as the map says */
	char **select;
	size_t n_select;
	bool backlog, wait;
	enum wire_unpacks unpacks;
	double rate_hz;
	bool hurry;
	unsigned window, deadline_ms, patience_ms;
	bool window_said;
	unsigned char id[16];
	/* the connection */
	struct event_base *base;
	struct tls *tls;
	struct link_hub *hub;
	struct link *link;
	struct event *retry, *pace, *wake, *limit, *watch;
	uint64_t looked_ns, heard_ns, heard_bytes; /* by the watch */
	bool pinged, told_lost;
	bool told_left_out; /* told about names that there was no memory for */
	bool opened;	    /* the scope is open on this connection */
	bool was_open;
	bool failed; /* for good */
	bool timed_out;
	enum evspace_failure failure;
	struct error why;
	unsigned retry_ms;
	uint64_t lost_ns; /* when it was lost, 0 while connected */
	struct flow_control flow_control;
	/* what it records of itself */
	bool monitored;
	struct monitor *monitor; /* NULL: nothing */
	struct span span;
	uint64_t cpu_us; /* of this process when the last answer came */
	int wake_fd;	 /* an eventfd that evspace_stop() writes to */
	volatile sig_atomic_t stopping;
	/* the scope */
	enum reading reading;
	char opened_run[64];
	struct names *names;
	struct delivery *delivery;
	struct namesakes *namesakes;	       /* of elements, for streams */
	uint64_t next_ask, next_take;	       /* wave numbers */
	uint64_t generation;		       /* of the map of the open scope */
	uint64_t remap_wave, remap_generation; /* the first wave by another map */
	uint64_t due_ns;		       /* when the next wave may be asked for */
	uint64_t asked_ns;		       /* when the newest wave was asked for */
	uint64_t judged_ns;		       /* when the last wave that the tempo has seen was
						* asked for */
	struct tempo tempo;
	struct client_answer slots[CLIENT_WINDOW_MAX];
	uint64_t again_next, again_end; /* repeated waves that are not answered yet */
	unsigned again_ms;		/* the time that the last of these had, 0: none so far */
	bool again_came;		/* at least one of those came in time */
	STAILQ_HEAD(, client_answer)
	again;			    /* repeated answers, which are taken before all
				     * others */
	struct client_answer taken; /* the wave of the last evspace_next() */
	/* reading the current wave */
	struct batch_cursor cursor;
	struct run_view at_run;
	uint32_t record;
	struct part part;
	int64_t read_ns, first_read_ns; /* of the present part, of the wave's first one */
	/* counts */
	struct evspace_counts counts;
	uint64_t begun_ns, bytes_sent, bytes_received, bytes_unpacked;
	/* instead of opening a scope: one question, and its answer */
	const Evspace__Frame *question;
	Evspace__Frame *reply;
};

/** client-link.c: find an agent, connect and open the scope; repeated after each break. */
int client_connect(struct evspace_client *c);

/* client-wave.c: ask for waves, and take them */
void client_pump(struct evspace_client *c);
void client_answer(struct evspace_client *c, const struct frame *frame);
void client_ask_unanswered(struct evspace_client *c);
bool client_take(struct evspace_client *c);

/** How long a stream waits for its first wave, so that it is not empty. */
void client_tempo_begin(struct evspace_client *c);
void client_waves_fini(struct evspace_client *c);

/** client-read.c: count what is in the wave @a. Returns the CPU time of the busiest host, in us. */
uint32_t client_count_wave(struct evspace_client *c, struct client_answer *a);

#endif
