/* SPDX-License-Identifier: BSD-3-Clause */
/* A session: one connection to an agent from above, what it may do, and the scopes that it has
 * open. */
#ifndef EVSPACE_SESSION_H
#define EVSPACE_SESSION_H

#include <stddef.h>
#include <sys/queue.h>

#include "node-agent/map/active-map.h"
#include "node-agent/source/reaper.h"
#include "node-agent/control/opened.h"
#include "node-agent/control/commanded.h"
#include "node-agent/control/remap.h"
#include "node-agent/source/source.h"
#include "tree/link/link.h"
#include "tree/link/rate-limit.h"
#include "tree/scope/scope.h"

/** Scopes that one connection may have open: a parent agent carries those of all its consumers. */
#define SESSION_SCOPES 1024u

struct event_base;
struct hostlist;
struct session;
struct survey;
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
	size_t n_sessions, n_scopes;   /* now, of all sessions */
	struct rate_limit said;	       /* of connections that broke */
	struct rate_limit failed;      /* of control actions that failed */
	struct active_map *active_map; /* the map that views' trees are made by */
	const struct hostlist
		*above; /* agents that may stand above this one, NULL: who its map says */
	struct remap *remap;
	struct survey *survey;
	struct opened_list views;			/* all scopes that consumers have open */
	void (*map_changed)(struct session_host *host); /* it goes by another map now */
	void (*rests)(struct session_host *host);	/* the last scope was closed */
	void *arg;
};

/** Serve a link that was accepted: a link_accepted whose argument is the session_host. */
void session_accept(struct link *link, void *host);

/** End all sessions; their scopes' cursors stay. */
void session_end_all(struct session_host *host);

#endif
