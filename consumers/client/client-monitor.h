/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client records of itself, by a hook for programs that can record; this library cannot. */
#ifndef EVSPACE_CLIENT_MONITOR_H
#define EVSPACE_CLIENT_MONITOR_H

#include <stdint.h>

#include "pathmap/base/error.h"
#include "tree/data/span.h"

struct evspace_client;
struct frame;
struct monitor;

/** Keeps what clients of this process record. */
struct client_recorder {
	/* Begin; the agent of the node @host (NULL: any of this host) shows it. NULL with @e. */
	struct monitor *(*begin)(const char *host, struct error *e);
	struct tracer *(*tracer)(struct monitor *monitor);
	void (*end)(struct monitor *monitor); /* NULL is fine */
};

/** Set the recorder (borrowed) before evspace_open(): without it no client of this process can be
 * `monitored`. */
void client_recorder_set(const struct client_recorder *recorder);

/** Can clients of this process be monitored? Returns 0, or -1 with @e. */
int client_monitor_check(struct error *e);

/** The scope is open: begin to record if that is wanted. Returns 0, or -1 with @e. */
int client_monitor_begin(struct evspace_client *c, struct error *e);

/** The wave in @frame, asked for at @asked_ns (0: by the agent), has come. */
void client_monitor_wave(struct evspace_client *c, const struct frame *frame, uint64_t asked_ns);
void client_monitor_end(struct evspace_client *c);

#endif
