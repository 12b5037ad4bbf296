/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a client: the waves under way, and the one being read. */
#ifndef EVSPACE_CLIENT_PRIVATE_H
#define EVSPACE_CLIENT_PRIVATE_H

#include <event2/event.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "consumers/client/flow-control.h"
#include "consumers/client/client-answer.h"
#include "consumers/client/client-told.h"
#include "consumers/client/client-wave.h"
#include "consumers/client/connection.h"
#include "consumers/client/evspace-loop.h"
#include "consumers/client/delivery.h"
#include "consumers/client/namesakes.h"
#include "tree/data/batch.h"
#include "tree/data/names.h"
#include "tree/data/span.h"

struct evspace_client {
	/* what was asked for */
	char *run, *view, *define;
	char *tree, *concurrency; /* "": as the map says */
	char **select;
	size_t n_select;
	bool backlog, wait, folded, collect;
	double rate_hz;
	double share, whole, weight; /* that looking may take (0: any), of its user's; of shares */
	double total, of_total;	     /* what the map lets all spend, and this one of it; 0: any */
	struct client_budget *budget;
	double limit_hz; /* by that; 0: none */
	struct client_told told;
	bool quiet, aside; /* for its experiment; it serves that of another one */
	bool hurry;
	unsigned window, deadline_ms;
	unsigned window_said; /* by the user; 0: as the tempo has it */
	unsigned window_most; /* by the entry's map, and as waves have slots */
	unsigned window_map;  /* by the map, with those that are asked for again; 0: any */
	unsigned char id[16];
	/* where it is open */
	struct evspace_connection *connection;
	LIST_ENTRY(evspace_client) entry;
	bool own;	 /* the connection is for it alone: evspace_next() waits */
	uint32_t number; /* on the connection */
	struct event *pace, *patience;
	bool opened, was_open; /* on the present link; on any */
	bool failed;	       /* for good */
	enum evspace_failure failure;
	struct error why;
	bool told_left_out; /* told about names that there was no memory for */
	struct flow_control flow_control;
	/* what its user is told */
	evspace_notify *notify;
	void *notify_arg;
	struct news news;
	unsigned new;	/* a bit for each enum evspace_news */
	bool wave_told; /* since the last evspace_next() */
	/* instead of a connection, and besides */
	struct client_replay *replay; /* an archive that waves come from; NULL: agents */
	struct client_keep *keep;     /* an archive that they go to; NULL: none */
	bool partial;		      /* the archive does not begin at its begin */
	bool newest;		      /* the view reads the newest tuples, out of all of it */
	int64_t epoch_ns;	      /* of the reference agent's clock */
	/* what it records of itself */
	bool monitored;
	enum evspace_urgency urgency;
	struct monitor *monitor; /* NULL: nothing */
	struct span span;
	uint64_t cpu_us; /* of this process when the last answer came */
	/* evspace_stop() */
	struct event *wake;
	int wake_fd; /* an eventfd */
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
	size_t held;			/* of answers that wait to be taken */
	STAILQ_HEAD(, client_answer)
	again;			    /* repeated answers, which are taken before all
				     * others */
	struct client_answer taken; /* the wave of the last evspace_next() */
	/* reading the current wave */
	struct batch_cursor cursor;
	struct run_view at_run;
	uint32_t record;
	struct foreign_kind foreign; /* of the present run */
	struct typed_run typed;	     /* likewise */
	struct part part;
	int64_t read_ns, first_read_ns; /* of the present part, of the wave's first one */
	/* counts */
	struct evspace_counts counts;
	uint64_t sampled; /* out, likewise */
	uint64_t begun_ns;
};

/* ---- client.c ---- */

/** Close it and free it. */
void client_free(struct evspace_client *c);

/** Tell its user @news. */
void client_news(struct evspace_client *c, enum evspace_news news);

/* ---- client-open.c ---- */

/** Say in @open what the view is, and whose. */
void client_open_fill(const struct evspace_client *c, Evspace__Open *open);

/** Put it on its connection. */
void client_begin(struct evspace_client *c);

/** Ask the agent something beside the view, and wait until evspace_stop(). NULL: no answer. */
Evspace__Frame *client_beside(struct evspace_client *c, const Evspace__Frame *question,
			      Evspace__Frame__KindCase answer);

/** Have so many waves under way, or as many as the map lets it have. */
void client_window(struct evspace_client *c, unsigned window);

/** The link is ready: open it. */
void client_ready(struct evspace_client *c);
void client_opened(struct evspace_client *c, const Evspace__Opened *o);

/** The link is lost; it will be made again. */
void client_lost(struct evspace_client *c);

/** It is lost for good. */
void client_fail(struct evspace_client *c, enum evspace_failure failure, const char *why);

/** client-read.c: count what is in the wave @a. Returns the CPU time of the busiest host, in us. */
uint32_t client_count_wave(struct evspace_client *c, struct client_answer *a);

#endif
