/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the agent, connects, opens the scope, notices when the agent is silent, and connects again
 * after a break, with backoff. */
#include "consumers/client/client.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pathmap/base/folder-base.h"
#include "pathmap/base/config.h"
#include "pathmap/base/memory.h"
#include "tree/link/address.h"
#include "tree/data/clock.h"
#include "tree/link/link-hub.h"

#define RETRY_LAST_MS 2000u

/* After a cut, TCP itself retries less and less often: an agent that owes waves and sends nothing
 * is pinged, then given up. */
#define LOOK_NS	   UINT64_C(1000000000)
#define PING_AFTER UINT64_C(2000000000)
#define SILENT_FOR UINT64_C(5000000000)
/* A check this late means that we did not run ourselves, and what came meanwhile is still to be
 * read. */
#define LOOKED_LATE (3 * LOOK_NS)

static const struct timeval look_again = {LOOK_NS / 1000000000u, 0};

static void client_lost(struct evspace_client *c, const struct error *why);
static void closed(struct evspace_client *c, struct link *link, const struct error *why);

/* ---- where ---- */

/* The agents that listen in the base folder, as addresses separated by blanks. */
static char *list_agents(const glob_t *found, size_t *n)
{
	char *list = memory_copy(""), *longer;

	*n = 0;
	for (size_t i = 0; i < found->gl_pathc; i++) {
		/* a single one is worth a try, whose failure says more */
		if (found->gl_pathc > 1 && !address_is_served(found->gl_pathv[i]))
			continue;
		longer = memory_format("%s%sunix:%s", list, *n ? " " : "", found->gl_pathv[i]);
		free(list);
		list = longer;
		++*n;
	}
	return list;
}

/* This host's agent: the only socket in the base folder. */
static int find_agent(struct evspace_client *c)
{
	char base[FOLDER_BASE], pattern[256];
	glob_t found = {0};
	char *list;
	size_t n;

	if (!folder_base_path(base, sizeof(base), &c->why))
		return -1;
	snprintf(pattern, sizeof(pattern), "%s/agent-*.sock", base);
	glob(pattern, 0, NULL, &found);
	list = list_agents(&found, &n);
	globfree(&found);
	if (n == 1) {
		c->address = list;
		return 0;
	}
	c->failure = n ? EVSPACE_WRONG : EVSPACE_NO_CONNECTION;
	if (n == 0)
		errorf(&c->why,
		       "no agent runs on this host (none listens in %s); start one with 'evspace "
		       "agent', or say --connect HOST:PORT",
		       base);
	else
		errorf(&c->why, "several agents run on this host; say which with --connect: %s",
		       list);
	free(list);
	return -1;
}

/* The name of our certificate: "observe", else the only one that has a key. */
static char *find_identity(const char *dir)
{
	char *pattern = memory_format("%s/*.key", dir), *name = NULL;
	glob_t found = {0};
	size_t n = 0;

	glob(pattern, 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *file = strrchr(found.gl_pathv[i], '/') + 1;

		if (strcmp(file, "ca.key") == 0)
			continue;
		n++;
		free(name);
		name = memory_copy_bytes(file, strlen(file) - strlen(".key"));
		if (strcmp(name, "observe") == 0) {
			n = 1;
			break;
		}
	}
	globfree(&found);
	free(pattern);
	if (n == 1)
		return name;
	free(name);
	return memory_copy("observe");
}

/* Say it on stderr, once in a process. */
static void note_once(bool *told, const char *text)
{
	if (!*told)
		fprintf(stderr, "evspace: %s\n", text);
	*told = true;
}

static int load_identity(struct evspace_client *c)
{
	static bool told;
	struct error e;
	char *dir, *name;

	if (strncmp(c->address, "unix:", 5) == 0)
		return 0;
	dir = c->tls_dir ? memory_copy(c->tls_dir) : config_tls_folder();
	name = c->identity ? memory_copy(c->identity) : find_identity(dir);
	c->tls = tls_new(dir, name, &c->why);
	free(dir);
	free(name);
	if (!c->tls)
		return -1;
	if (tls_warning(c->tls, &e))
		note_once(&told, e.text);
	return 0;
}

/* ---- does the agent still answer? ---- */

/* Part of a frame counts, too: a large answer may take long on a slow link. */
static bool hears(struct evspace_client *c)
{
	uint64_t sent, received, before = c->heard_bytes;

	link_bytes(c->link, &sent, &received);
	c->heard_bytes = received;
	return received != before;
}

static void watch_give_up(struct evspace_client *c)
{
	struct link *link = c->link;
	struct error e;

	errorf(&e, "nothing has come for %g s", (double)SILENT_FOR * 1e-9);
	closed(c, link, &e);
	link_close(link);
}

static void on_watch(evutil_socket_t fd, short what, void *arg)
{
	struct evspace_client *c = arg;
	uint64_t now = clock_mono_ns(), looked = c->looked_ns;
	bool owed = !c->opened || c->next_ask > c->next_take || c->again_next < c->again_end;

	(void)fd;
	(void)what;
	/* until it is ready, the link has its own timeout */
	if (!c->link || !link_hello(c->link))
		return;
	c->looked_ns = now;
	if (hears(c) || !owed || now - looked > LOOKED_LATE) {
		c->heard_ns = now;
		c->pinged = false;
	}
	if (now - c->heard_ns >= SILENT_FOR) {
		watch_give_up(c);
		return;
	}
	if (now - c->heard_ns >= PING_AFTER && !c->pinged) {
		c->pinged = true;
		link_send_ping(c->link, false);
	}
	evtimer_add(c->watch, &look_again);
}

static int watch_begin(struct evspace_client *c)
{
	if (!c->watch)
		c->watch = evtimer_new(c->base, on_watch, c);
	if (!c->watch)
		return -1;
	c->heard_ns = c->looked_ns = clock_mono_ns();
	c->heard_bytes = 0;
	c->pinged = false;
	return evtimer_add(c->watch, &look_again);
}

/* ---- opening ---- */

static void client_ready(struct evspace_client *c)
{
	Evspace__Open open = EVSPACE__OPEN__INIT;

	if (c->question) {
		link_send(c->link, c->question, NULL);
		return;
	}
	open.scope = 1;
	open.id.data = c->id;
	open.id.len = sizeof(c->id);
	open.run = c->run;
	open.view = c->view;
	open.backlog = c->backlog;
	open.wait = c->wait;
	open.patience_ms = c->patience_ms;
	if (c->define)
		open.define = (ProtobufCBinaryData){strlen(c->define), (uint8_t *)c->define};
	open.tree = c->tree;
	open.concurrency = c->concurrency;
	open.n_select = c->n_select;
	open.select = c->select;
	link_send(c->link, &WIRE_FRAME(OPEN, open, &open), NULL);
	/* the first time, client_begin() limits the wait */
	if (c->was_open && watch_begin(c) < 0)
		abort();
}

/* Answers come in the order of asks, so those that are still to come are the new tree's. */
static void on_remapped(struct evspace_client *c, uint64_t generation)
{
	c->remap_wave = c->next_take;
	while (c->remap_wave < c->next_ask && c->slots[c->remap_wave % CLIENT_WINDOW_MAX].here)
		c->remap_wave++;
	c->remap_generation = generation;
}

static void on_opened(struct evspace_client *c, const Evspace__Opened *o)
{
	bool other = c->was_open && o->generation != c->generation;

	snprintf(c->opened_run, sizeof(c->opened_run), "%s", o->run);
	/* come back to the same run, whichever others may be live by then */
	if (o->run[0] && !c->run[0]) {
		free(c->run);
		c->run = strdup(o->run);
	}
	c->reading = o->reading == READ_STREAM ? READ_STREAM : READ_LATEST;
	if (c->reading == READ_STREAM && c->window > CLIENT_WINDOW_STREAM)
		c->window = CLIENT_WINDOW_STREAM;
	delivery_open(c->delivery, o, c->backlog);
	if (!c->run)
		abort();
	if (other)
		on_remapped(c, o->generation);
	c->generation = o->generation;
	/* the tree was changed while open: earlier asks will be answered */
	if (c->opened)
		return;
	c->counts.reconnections += c->was_open;
	if (c->told_lost)
		fprintf(stderr, "evspace: %s: connected again\n", c->address);
	c->told_lost = false;
	if (!c->was_open)
		client_tempo_begin(c);
	c->opened = c->was_open = true;
	flow_control_begin(&c->flow_control, link_is_slow(c->link));
	if (watch_begin(c) < 0)
		abort();
	client_ask_unanswered(c);
}

static void on_error(struct evspace_client *c, const Evspace__Error *e)
{
	errorf(&c->why, "%s", e->text);
	c->failure = e->code == EACCES	? EVSPACE_NO_CONNECTION
		     : e->code == ESRCH ? EVSPACE_NO_RUN
					: EVSPACE_WRONG;
	c->failed = true;
}

static void client_frame(struct evspace_client *c, const struct frame *frame)
{
	switch (frame->header->kind_case) {
	case EVSPACE__FRAME__KIND_OPENED:
		on_opened(c, frame->header->opened);
		break;
	case EVSPACE__FRAME__KIND_ANSWER:
		client_answer(c, frame);
		break;
	case EVSPACE__FRAME__KIND_ERROR:
		on_error(c, frame->header->error);
		break;
	case EVSPACE__FRAME__KIND_STATUS:
	case EVSPACE__FRAME__KIND_SWITCHED:
	case EVSPACE__FRAME__KIND_MAP:
	case EVSPACE__FRAME__KIND_MAP_APPLIED:
		if (c->question && !c->reply)
			c->reply = (Evspace__Frame *)wire_copy(&frame->header->base);
		break;
	default:
		break;
	}
}

/* ---- connecting ---- */

/* Is it the agent that was asked for? TLS would accept any agent of the same CA. */
static int entry_check(const struct evspace_client *c, const struct link *link, struct error *e)
{
	const char *name = link_peer(link)->name, *meant = c->entry;
	char host[256];

	if (link_peer(link)->local)
		return 0;
	if (!meant && address_name(c->address, host, sizeof(host)))
		meant = host;
	if (meant && link_peer_is(link, meant))
		return 0;
	errno = EACCES;
	if (meant)
		return errorf(e, "this is agent \"%s\", not \"%s\"; if you mean it, say --entry %s",
			      name, meant, name);
	return errorf(e,
		      "this is agent \"%s\", and a number does not say who should be there; if you "
		      "mean it, say --entry %s (EVSPACE_ENTRY=%s and profiles keep that)",
		      name, name, name);
}

/* Does it know what a definition is, and a wish of a tree? An older one would not look at them. */
static int wish_check(const struct evspace_client *c, const struct link *link, struct error *e)
{
	bool chooses = *c->tree || *c->concurrency;
	uint32_t version = link_hello(link)->version;
	uint32_t needed = chooses ? WIRE_CHOOSES : c->define ? WIRE_DEFINES : 0;

	if (version >= needed)
		return 0;
	errno = EPROTONOSUPPORT;
	return errorf(e,
		      "agent \"%s\" speaks version %u of the wire protocol, and takes no %s (from "
		      "version %u on); put this release on its host, or %s",
		      link_hello(link)->name, version,
		      chooses ? "tree that a consumer chooses" : "view's text", needed,
		      chooses ? "leave --tree and --concurrency out" : "name a view of its map");
}

static void on_ready(struct link *link, void *arg)
{
	const struct peer *peer = link_peer(link);
	struct evspace_client *c = arg;
	static bool told;
	struct error e;

	if (peer->local && peer->uid != geteuid()) {
		errorf(&e, "the agent at %s belongs to uid %u", c->address, peer->uid);
		note_once(&told, e.text);
	}
	if (entry_check(c, link, &e) == 0 && wish_check(c, link, &e) == 0) {
		client_ready(c);
		return;
	}
	closed(c, link, &e);
	link_close(link);
}

static void on_frame(struct link *link, void *arg, const struct frame *frame)
{
	(void)link;
	client_frame(arg, frame);
}

static void closed(struct evspace_client *c, struct link *link, const struct error *why)
{
	uint64_t sent, received;

	link_bytes(link, &sent, &received);
	c->bytes_sent += sent;
	c->bytes_received += received;
	c->bytes_unpacked += link_unpacked(link);
	c->link = NULL;
	client_lost(c, why);
}

static void on_closed(struct link *link, void *arg, const struct error *why)
{
	closed(arg, link, why);
}

static const struct link_events events = {
	.ready = on_ready,
	.frame = on_frame,
	.closed = on_closed,
};

static void client_dial(struct evspace_client *c)
{
	struct error e;

	/* after a long break, certificates may have been replaced; the agent says what is wrong
	 * with them */
	if (c->tls)
		(void)tls_refresh(c->tls, &e);
	c->link = link_dial(c->hub, c->address, NULL, &events, c, &e);
	if (!c->link)
		client_lost(c, &e);
}

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	client_dial(arg);
}

static void client_lost(struct evspace_client *c, const struct error *why)
{
	uint64_t now = clock_mono_ns();
	struct timeval wait = {c->retry_ms / 1000, c->retry_ms % 1000 * 1000};

	c->opened = false;
	c->failure = EVSPACE_NO_CONNECTION;
	errorf(&c->why, "%s: %s", c->address, why->text);
	if (c->lost_ns == 0)
		c->lost_ns = now;
	/* do not retry what never worked: the user wants to know now */
	if (!c->was_open || now - c->lost_ns > (uint64_t)c->patience_ms * 1000000u) {
		c->failed = true;
		return;
	}
	if (!c->told_lost)
		fprintf(stderr, "evspace: %s; trying again for %u s\n", c->why.text,
			c->patience_ms / 1000);
	c->told_lost = true;
	evtimer_add(c->retry, &wait);
	c->retry_ms = c->retry_ms * 2 > RETRY_LAST_MS ? RETRY_LAST_MS : c->retry_ms * 2;
}

int client_connect(struct evspace_client *c)
{
	struct link_self self = {.name = "",
				 .epoch_ns = clock_real_ns() - (int64_t)clock_mono_ns()};

	bool named = c->address != NULL;

	if (!named && find_agent(c) < 0)
		return -1;
	c->failure = EVSPACE_WRONG;
	if (address_check(c->address, false, &c->why) < 0 || load_identity(c) < 0)
		return -1;
	c->failure = EVSPACE_NO_CONNECTION;
	c->retry_ms = CLIENT_RETRY_FIRST_MS;
	c->retry = evtimer_new(c->base, on_retry, c);
	c->hub = link_hub_new(c->base, c->tls, &self);
	if (!c->retry || !c->hub)
		return errorf(&c->why, "cannot set up a connection: %s", strerror(errno));
	link_hub_foreign_set(c->hub, named);
	link_hub_unpacks_set(c->hub, c->unpacks);
	client_dial(c);
	return 0;
}
