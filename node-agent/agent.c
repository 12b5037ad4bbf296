/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts an agent together: store, identity, links, scopes, listeners, and one loop. */
#include "node-agent/agent.h"

#include <errno.h>
#include <event2/event.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/remote/fetch.h"
#include "node-agent/identity.h"
#include "node-agent/source/reaper.h"
#include "node-agent/store/monitor.h"
#include "node-agent/control/made.h"
#include "node-agent/control/session.h"
#include "node-agent/source/sampler.h"
#include "node-agent/source/source.h"
#include "node-agent/control/survey.h"
#include "node-agent/control/trials.h"
#include "node-agent/control/hardware.h"
#include "node-agent/control/shares.h"
#include "node-agent/control/waits.h"
#include "pathmap/plan/holding.h"
#include "pathmap/plan/made.h"
#include "tree/scope/child.h"
#include "tree/link/address.h"
#include "tree/link/listener.h"
#include "tree/link/link-hub.h"
#include "tree/data/process.h"
#include "tree/scope/scope.h"
#include "tree/scope/urgent.h"
#include "tree/data/turn.h"

struct agent {
	char node[128];
	char address[192];
	char socket[256];
	struct event_base *base;
	struct event *signals[2];
	struct event *rest;
	struct store store;
	bool store_is_open;
	bool allows; /* others may observe through the socket */
	struct active_map *active_map;
	struct tls *tls;
	struct identity *identity;
	struct link_hub *hub;
	struct child_set *children;
	struct reaper *reaper;
	struct monitor *monitor;
	struct fetches *fetches;
	struct rows_list fetched, streams;
	struct rate_limit said;
	struct link_listener *local, *remote;
	struct clock_host clock;
	struct source_host sources;
	struct scope_host scopes;
	struct scope_shared_list scopes_shared;
	struct trunk_list trunks;
	struct session_host sessions;
};

static void agent_signal(evutil_socket_t number, short what, void *arg)
{
	struct agent *a = arg;

	(void)number;
	(void)what;
	event_base_loopbreak(a->base);
}

static struct stage *agent_source_new(void *arg, const Evspace__Open *open,
				      const struct plan_place *place, struct names *names,
				      struct error *e)
{
	const struct agent *a = arg;

	if (limits_own_user(open->users, open->n_users))
		return source_new(&a->sources, open, place, names, e);
	errno = EACCES;
	errorf(e, "its runs belong to a user other than those asked for");
	return NULL;
}

static void agent_source_replace(void *arg, struct stage *source, const struct plan_place *place)
{
	(void)arg;
	source_replace(source, place);
}

static void agent_source_free(void *arg, struct stage *source, bool keep)
{
	(void)arg;
	source_free(source, keep);
}

/* ---- resting ---- */

/* Wait before freeing what the next consumer will need again. */
#define REST_MS 300

static void agent_rests(struct session_host *sessions)
{
	static const struct timeval after = {.tv_usec = REST_MS * 1000};
	const struct agent *a = sessions->arg;

	event_add(a->rest, &after);
}

/* No scope is open: give their memory back to the system. */
static void agent_rest(evutil_socket_t fd, short what, void *arg)
{
	const struct agent *a = arg;

	(void)fd;
	(void)what;
	if (a->sessions.n_scopes > 0)
		return;
	link_hub_rest(a->hub);
	malloc_trim(0);
}

/* ---- starting ---- */

static int agent_map(struct agent *a, const struct agent_options *o, struct error *e)
{
	if (o->node)
		snprintf(a->node, sizeof(a->node), "%s", o->node);
	else if (gethostname(a->node, sizeof(a->node) - 1) < 0)
		return errorf(e, "this host has no name: %s; use --node", strerror(errno));
	a->active_map = o->active_map ? active_map_make_own(o->active_map, o->base, a->node,
							    o->pathmap, stderr, e)
				      : active_map_open(o->base, a->node, o->pathmap, stderr, e);
	if (!a->active_map)
		return -1;
	if (a->active_map->note[0])
		fprintf(stderr, "evspace agent: %s\n", a->active_map->note);
	if (pathmap_address(a->active_map->map, a->node))
		return 0;
	errno = EINVAL;
	return errorf(e, "%s has no node '%s'; say which node this is with --node", o->pathmap,
		      a->node);
}

/* Other users who may observe must reach the socket, and nothing else. */
static int agent_folder_open(struct agent *a, struct error *e)
{
	if (a->allows && chmod(a->store.base, 0711) < 0)
		return errorf(e, "%s: %s", a->store.base, strerror(errno));
	return 0;
}

/* A clean-up of shared memory, as logind does when a user logs out, also removes the socket:
 * make it again with the folder of the user's next run. */
static void agent_looked(void *arg)
{
	struct agent *a = arg;
	struct error e;

	int renewed = link_listener_renew(a->local, &e);

	if (renewed < 0 || (renewed > 0 && agent_folder_open(a, &e) < 0))
		fprintf(stderr, "evspace agent: nobody on this host can connect: %s\n", e.text);
}

static int agent_links(struct agent *a, const struct agent_options *o, struct error *e)
{
	const char *address = o->listen ? o->listen : pathmap_address(a->active_map->map, a->node);
	struct link_self self = {.name = a->node, .epoch_ns = a->sources.epoch_ns};
	char path[SOURCE_SOCKET];

	source_socket(&a->store, a->node, path);
	snprintf(a->socket, sizeof(a->socket), "unix:%s", path);
	if (strncmp(address, "unix:", 5) == 0) {
		/* the map connects agents of one host: this socket is the only one */
		snprintf(a->socket, sizeof(a->socket), "%s", address);
		address = "";
	}
	/* with neither map nor address an agent needs no certificate, even if consumers have one */
	if (o->tls && (address[0] || o->pathmap)) {
		a->tls = tls_new(o->tls, a->node, e);
		if (!a->tls)
			return -1;
	} else if (address[0]) {
		errno = EINVAL;
		return errorf(e,
			      "listening on %s needs a certificate: make one with 'evspace-certs "
			      "agent DIR %s' and say --tls DIR",
			      address, a->node);
	}
	a->hub = link_hub_new(a->base, a->tls, &self);
	if (!a->hub)
		return errorf(e, "cannot set up links: %s", strerror(errno));
	if (a->tls)
		a->identity = identity_new(a->base, a->tls, a->hub);
	a->allows = o->allow;
	link_hub_allow_set(a->hub, o->allow);
	if (agent_folder_open(a, e) < 0)
		return -1;
	a->children = child_set_new(a->base, a->hub);
	a->local = link_listen(a->hub, a->socket, session_accept, &a->sessions, e);
	if (!a->local)
		return -1;
	if (!address[0])
		return 0;
	a->remote = link_listen(a->hub, address, session_accept, &a->sessions, e);
	if (!a->remote)
		return -1;
	snprintf(a->address, sizeof(a->address), "%.*s:%u", (int)(strrchr(address, ':') - address),
		 address, link_listener_port(a->remote));
	return 0;
}

static int agent_signals(struct agent *a)
{
	static const int numbers[] = {SIGTERM, SIGINT};

	for (size_t i = 0; i < 2; i++) {
		a->signals[i] = evsignal_new(a->base, numbers[i], agent_signal, a);
		if (!a->signals[i] || evsignal_add(a->signals[i], NULL) < 0)
			return -1;
	}
	return 0;
}

/* Apply what the agent's own map says of its node. */
static void agent_map_changed(struct session_host *sessions)
{
	struct agent *a = sessions->arg;
	struct source_host *here = &a->sources;

	free(here->holds);
	here->map = sessions->active_map->map;
	here->placed = pathmap_places_ranks(sessions->active_map->map);
	here->holds = holding_list(sessions->active_map->map, here->node);
	shares_total(sessions->shares, pathmap_budget(here->map));
	if (!a->reaper)
		return;
	fetches_free(a->fetches);
	a->fetches = fetches_new(a->base, here, a->children, a->reaper);
}

static void agent_hosts(struct agent *a, const struct agent_options *o)
{
	clock_host_init(&a->clock);
	a->sources = (struct source_host){
		.store = &a->store,
		.node = a->node,
		.epoch_ns = clock_real_ns() - (int64_t)clock_mono_ns(),
		.sites = sites_new(),
		.fetched = &a->fetched,
		.streams = &a->streams,
		.clock = &a->clock,
		.said = &a->said,
	};
	a->monitor = monitor_new(&(struct monitor_plan){
		.base = a->store.base,
		.process = PROCESS_AGENT,
		.host = a->node,
		.loop = a->base,
		.keep = o->monitored,
	});
	LIST_INIT(&a->scopes_shared);
	LIST_INIT(&a->trunks.all);
	LIST_INIT(&a->fetched);
	LIST_INIT(&a->streams);
	a->scopes = (struct scope_host){
		.base = a->base,
		.scopes_shared = &a->scopes_shared,
		.trunks = &a->trunks,
		.turns = turns_new(a->base),
		.self = a->node,
		.self_address = a->socket,
		.epoch_ns = a->sources.epoch_ns,
		.urgent = urgent_new(),
		.tracer = monitor_tracer(a->monitor),
		.source_new = agent_source_new,
		.source_replace = agent_source_replace,
		.source_free = agent_source_free,
		.arg = a,
	};
	/* of nobody yet: its lists are empty */
	a->sessions = (struct session_host){
		.sources = &a->sources,
		.scopes = &a->scopes,
		.base = a->base,
		.born_ns = clock_mono_ns(),
		.retention_ns = o->retention_ns,
		.above = o->above,
		.monitor = a->monitor,
		.active_map = a->active_map,
		.shares = shares_new(a->base),
		.map_changed = agent_map_changed,
		.rests = agent_rests,
		.arg = a,
	};
	a->sessions.remap = remap_new(&a->sessions);
	a->sessions.survey = survey_new(a->base, &a->sources);
	a->sessions.trials = trials_new(a->base, &a->sources);
	a->sessions.waits = waits_new();
	agent_map_changed(&a->sessions);
}

/* The map's elements. Only the entry knows a map that was applied, so that others remove none. */
static void agent_make(const struct agent *a)
{
	const struct pathmap *map = a->active_map->map;
	char *text = made_text(map);
	struct error e;

	if (made_keep(&a->store, a->node, text, strcmp(pathmap_entry(map), a->node) == 0, &e) < 0)
		fprintf(stderr, "evspace agent: %s\n", e.text);
	free(text);
}

struct agent *agent_new(const struct agent_options *o, struct error *e)
{
	struct agent *a = calloc(1, sizeof(*a));
	int saved;

	if (!a)
		abort();
	/* each living process and each connection takes one */
	descriptors_raise();
	a->base = event_base_new();
	a->rest = a->base ? evtimer_new(a->base, agent_rest, a) : NULL;
	if (!a->rest || agent_signals(a) < 0) {
		errorf(e, "cannot make an event loop: %s", strerror(errno));
		goto fail;
	}
	if (agent_map(a, o, e) < 0 || store_init(&a->store, o->base, true, e) < 0)
		goto fail;
	a->store_is_open = true;
	agent_hosts(a, o);
	a->sessions.hardware = hardware_new(a->base);
	if (agent_links(a, o, e) < 0)
		goto fail;
	/* without a monitor it serves all the same */
	if (o->monitored && monitor_want(a->monitor, e) < 0)
		fprintf(stderr, "evspace agent: cannot monitor itself: %s\n", e->text);
	a->scopes.children = a->children;
	a->sessions.tls = a->tls;
	a->active_map->passes = a->tls ? pass_book_new(a->tls) : NULL;
	a->sources.sampler = sampler_new(a->base, &a->sources, e);
	if (!a->sources.sampler)
		fprintf(stderr, "evspace agent: %s; it cannot sample\n", e->text);
	agent_make(a);
	a->sources.shelf = shelf_new(a->store.base, a->node, o->retention_ns);
	a->reaper = reaper_new(a->base, &a->sources, o->retention_ns);
	a->sessions.reaper = a->reaper;
	reaper_tell(a->reaper, agent_looked, a);
	a->fetches = fetches_new(a->base, &a->sources, a->children, a->reaper);
	return a;
fail:
	saved = errno;
	agent_free(a);
	errno = saved;
	return NULL;
}

void agent_free(struct agent *a)
{
	if (!a)
		return;
	if (a->hub)
		session_end_all(&a->sessions);
	remap_free(a->sessions.remap);
	survey_free(a->sessions.survey);
	trials_free(a->sessions.trials);
	waits_free(a->sessions.waits);
	shares_free(a->sessions.shares);
	hardware_free(a->sessions.hardware);
	monitor_free(a->monitor);
	fetches_free(a->fetches);
	reaper_free(a->reaper);
	shelf_free(a->sources.shelf);
	sampler_free(a->sources.sampler);
	link_listener_free(a->remote);
	link_listener_free(a->local);
	child_set_free(a->children);
	identity_free(a->identity);
	link_hub_free(a->hub);
	tls_free(a->tls);
	if (a->store_is_open)
		store_fini(&a->store);
	sites_free(a->sources.sites);
	free(a->sources.holds);
	active_map_free(a->active_map);
	for (size_t i = 0; i < 2; i++) {
		if (a->signals[i])
			event_free(a->signals[i]);
	}
	if (a->rest)
		event_free(a->rest);
	turns_free(a->scopes.turns);
	urgent_free(a->scopes.urgent);
	if (a->base)
		event_base_free(a->base);
	free(a);
}

void agent_run(struct agent *a)
{
	event_base_dispatch(a->base);
}

const char *agent_address(const struct agent *a)
{
	return a->address;
}

const char *agent_socket(const struct agent *a)
{
	return a->socket;
}
