/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a client: its connection, the waves under way, and the one that is read. */
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
#include "consumers/client/tempo.h"
#include "tree/data/batch.h"
#include "tree/link/link.h"
#include "tree/data/names.h"
#include "tree/data/span.h"

/** Each leaf may bring so many tuples in a wave at least. */
#define CLIENT_ROOM_LEAST 64u

/** Waves under way at most, as many as a gather has slots … */
#define CLIENT_WINDOW_MAX 64u

/** … and of streams, or asked for again: leaves remember 63 waves that the consumer lacks. */
#define CLIENT_WINDOW_STREAM 32u

/** How long to wait before dialling again at first; doubles. */
#define CLIENT_RETRY_FIRST_MS 50u

/** An answer that is awaited, or that came and was not taken yet. */
struct client_answer {
	STAILQ_ENTRY(client_answer) entry; /* of those asked for again */
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
	char *address, *tls_dir, *identity, *entry, *run, *view;
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
	bool told_left_out; /* names, for want of memory */
	bool opened;	    /* the scope is open on this connection */
	bool was_open;
	bool failed; /* for good */
	bool timed_out;
	enum evspace_failure failure;
	struct error why;
	unsigned retry_ms;
	uint64_t lost_ns; /* when it was lost, 0 while it is there */
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
	uint64_t generation;		       /* of the map that the scope is open by */
	uint64_t remap_wave, remap_generation; /* the first wave by another map */
	uint64_t due_ns;		       /* when the next wave may be asked for */
	uint64_t asked_ns;		       /* when the newest one was */
	uint64_t judged_ns;		       /* when the one that tempo has seen last was */
	struct tempo tempo;
	struct client_answer slots[CLIENT_WINDOW_MAX];
	uint64_t again_next, again_end; /* waves asked for again, and not answered yet */
	unsigned again_ms;		/* the time that the last ones had, 0: there were none */
	bool again_came;		/* any of them came in it */
	STAILQ_HEAD(, client_answer) again; /* answers to these, taken before all others */
	struct client_answer taken; /* the wave that evspace_next() brought, until the next one */
	/* reading the current wave */
	struct batch_cursor cursor;
	struct run_view at_run;
	uint32_t record;
	struct part part;
	int64_t read_ns, first_read_ns; /* of the part, of the wave's first one */
	/* counts */
	struct evspace_counts counts;
	uint64_t begun_ns, bytes_sent, bytes_received, bytes_unpacked;
	/* instead of opening a scope: ask one question, and keep its answer */
	const Evspace__Frame *question;
	Evspace__Frame *reply;
};

/** client-link.c: find an agent, connect and open the scope, again whenever it breaks. */
int client_connect(struct evspace_client *c);

/* client-wave.c: asking and taking waves */
void client_pump(struct evspace_client *c);
void client_answer(struct evspace_client *c, const struct frame *frame);
void client_ask_unanswered(struct evspace_client *c);
bool client_take(struct evspace_client *c);

/** How long a stream that begins now waits, so that its first wave has something. */
void client_tempo_begin(struct evspace_client *c);
void client_waves_fini(struct evspace_client *c);

/** client-read.c: count what is in the wave @a. Returns the CPU time of the busiest host, in us. */
uint32_t client_count_wave(struct evspace_client *c, struct client_answer *a);

#endif
