/* SPDX-License-Identifier: BSD-3-Clause */
/* A session: one connection to an agent from above, its rights, and its open scopes. */
#ifndef EVSPACE_SESSION_H
#define EVSPACE_SESSION_H

#include <stddef.h>
#include <sys/queue.h>

#include "node-agent/map/active-map.h"
#include "node-agent/source/reaper.h"
#include "node-agent/control/opened.h"
#include "node-agent/control/lasting.h"
#include "node-agent/control/underway.h"
#include "node-agent/control/remap.h"
#include "node-agent/control/rights.h"
#include "node-agent/source/source.h"
#include "tree/link/link.h"
#include "tree/link/rate-limit.h"
#include "tree/scope/scope.h"

/** Most open scopes of one connection: a parent agent has those of all its consumers. */
#define SESSION_SCOPES 1024u

struct event_base;
struct hostlist;
struct session;
struct shares;
struct survey;
struct trials;
struct waits_all;
LIST_HEAD(session_list, session);

/** What all sessions of an agent share. */
struct session_host {
	const struct source_host *sources;
	const struct scope_host *scopes;
	struct event_base *base;
	struct reaper *reaper;
	const struct tls *tls; /* NULL: it has no certificate */
	struct monitor *monitor;
	uint64_t born_ns; /* CLOCK_MONOTONIC */
	uint64_t retention_ns;
	struct session_list sessions;
	size_t n_sessions, n_scopes;   /* current, of all sessions */
	struct rate_limit said;	       /* for messages about broken connections */
	struct rate_limits failed;     /* for messages about failed control actions */
	struct active_map *active_map; /* for the trees of views */
	const struct hostlist
		*above; /* agents that may stand above this one besides those of its map, or NULL */
	struct remap *remap;
	struct survey *survey;
	struct trials *trials;
	struct waits_all *waits;
	struct shares *shares;
	struct hardware *hardware;
	struct opened_list views;			/* all open scopes of consumers */
	void (*map_changed)(struct session_host *host); /* its map has changed */
	void (*rests)(struct session_host *host);	/* its last scope was closed */
	void *arg;
};

/** A session: others may read it. */
struct session {
	LIST_ENTRY(session) entry;
	struct session_host *host;
	struct link *link;
	struct opened_list scopes;
	size_t n_scopes;
	struct superior superior;
	struct underway_list underway;
	struct lasting lasting;
};

/** Serve an accepted link. It is a link_accepted whose argument is the session_host. */
void session_accept(struct link *link, void *host);

/** End all sessions; their scopes' cursors stay. */
void session_end_all(struct session_host *host);

#endif
