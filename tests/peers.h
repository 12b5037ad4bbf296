/* SPDX-License-Identifier: BSD-3-Clause */
/* A small world for tests of links: an agent w0 and a consumer on one loop, and peers that
 * misbehave. */
#ifndef EVSPACE_TESTS_PEERS_H
#define EVSPACE_TESTS_PEERS_H

#include <stdbool.h>
#include <sys/types.h>
#include <event2/event.h>

#include "tests/tap.h"
#include "tree/link/listener.h"

/** What happened on a link, or on all accepted ones. Its events are watch_events. */
struct watch {
	struct link *link; /* the last one that was ready */
	int ready, frames, closed;
	size_t body_bytes;
	struct error why; /* the last reason of `closed` */
	/* May be NULL; called for every frame after it was counted. */
	void (*on_frame)(struct watch *watch, struct link *link, const struct frame *frame);
};

extern const struct link_events watch_events;

/** One agent that listens at both kinds of addresses, one consumer. */
struct world {
	struct event_base *base;
	struct tls *agent_tls, *consumer_tls;
	struct link_hub *agent, *consumer;
	struct link_listener *tcp, *local;
	const struct link_events *events; /* of the agent's links: watch_events */
	struct watch served;		  /* what the agent sees of its links */
	unsigned port;
	char tcp_address[64], local_address[300];
	int log_lines;
	char log[2048]; /* the last line */
	int descriptors;
};

/** Suite functions: make the folder and the certificates w0, w1, alice (observe), bob (control). */
int peers_init(void);
int peers_fini(void);

/** The folder with the certificates, and one with those of another CA. */
const char *peers_certs(void);
const char *peers_other_certs(void);
/** A path in the tests' own folder, valid until the next call. */
const char *peers_path(const char *name);

/** Begin and end a case. The end checks that no descriptor is left open. */
void world_open(struct world *w);
void world_close(struct world *w);

/** Dial the agent: the consumer has the certificate of "alice". */
struct link *world_dial(struct world *w, bool local, struct watch *watch);

/** Do what follows over TCP, then over the Unix socket: @local says which. */
#define FOR_BOTH(local) for (unsigned t_ = 0; t_ < 2 && ((local) = t_ == 1, true); t_++)

/** Run the loop once, at most until the deadline that world_wait_begin() sets. False when that is
 * over. */
void world_wait_begin(struct world *w);
bool world_wait(struct world *w);

/** Run the loop until @condition holds; a case that waits for 30 s fails. */
#define WAIT(w, condition)                              \
	do {                                            \
		world_wait_begin(w);                    \
		while (!(condition) && world_wait(w)) { \
		}                                       \
		CU_ASSERT(condition);                   \
	} while (0)

/** Open descriptors of this process. */
int descriptors_count(void);

/** Fork a process that calls @run(@arg) and ends; it is killed after 30 s. */
pid_t peer_spawn(void (*run)(void *arg), void *arg);
/** Wait for it to end, the loop running. */
void peer_wait(struct world *w, pid_t pid);

/** A blocking connection to 127.0.0.1:@port, or to the Unix socket @path. */
int raw_tcp(unsigned port);
int raw_local(const char *path);

/** A hello as bytes. Returns its length. */
size_t raw_hello(unsigned char *data, size_t room, unsigned version, unsigned oldest,
		 unsigned layout);

/** An Ask with this wave number. */
int send_ask(struct link *link, uint64_t wave);
/** An Answer with a body of one part and @runs runs of @tuples tuples, all bytes @fill. */
int send_answer(struct link *link, unsigned runs, uint32_t tuples, int fill);

#endif
