/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the agent, connects, hands frames to whom they are for, notices when the agent is silent,
 * and connects again after a break, with backoff. */
#include "consumers/client/connection.h"

#include <errno.h>
#include <glob.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/client/client.h"
#include "pathmap/base/config.h"
#include "pathmap/base/folder-base.h"
#include "pathmap/base/memory.h"
#include "tree/link/address.h"
#include "tree/data/clock.h"
#include "tree/link/link-hub.h"

/* Time before the first new try to dial; doubles with each, up to the last. */
#define RETRY_FIRST_MS 50u
#define RETRY_LAST_MS  2000u

/* After a cut, TCP itself retries less and less often: an agent that owes waves and sends nothing
 * is pinged, then given up. */
#define LOOK_NS	   UINT64_C(1000000000)
#define PING_AFTER UINT64_C(2000000000)
#define SILENT_FOR UINT64_C(5000000000)
/* A check this late means that we did not run ourselves, and what came meanwhile is still to be
 * read. */
#define LOOKED_LATE (3 * LOOK_NS)

static const struct timeval look_again = {LOOK_NS / 1000000000u, 0};

static void connection_lost(struct evspace_connection *c, const struct error *why);
static void closed(struct evspace_connection *c, struct link *link, const struct error *why);

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
static int find_agent(struct evspace_connection *c)
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

static int load_identity(struct evspace_connection *c)
{
	static atomic_flag told = ATOMIC_FLAG_INIT; /* once in a process */
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
	if (tls_warning(c->tls, &e) && !atomic_flag_test_and_set(&told))
		connection_note(c, "%s", e.text);
	return 0;
}

/* ---- does the agent still answer? ---- */

/* Part of a frame counts, too: a large answer may take long on a slow link. */
static bool hears(struct evspace_connection *c)
{
	uint64_t sent, received, before = c->heard_bytes;

	link_bytes(c->link, &sent, &received);
	c->heard_bytes = received;
	return received != before;
}

static void watch_give_up(struct evspace_connection *c)
{
	struct link *link = c->link;
	struct error e;

	errorf(&e, "nothing has come for %g s", (double)SILENT_FOR * 1e-9);
	closed(c, link, &e);
	link_close(link);
}

static bool is_owed(const struct evspace_connection *c)
{
	const struct evspace_client *client;

	LIST_FOREACH (client, &c->scopes, entry) {
		if (client_owed(client))
			return true;
	}
	return questions_owed(c);
}

static void on_watch(evutil_socket_t fd, short what, void *arg)
{
	struct evspace_connection *c = arg;
	uint64_t now = clock_mono_ns(), looked = c->looked_ns;
	bool owed = is_owed(c);

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
		link_send_ping(c->link, now);
	}
	evtimer_add(c->watch, &look_again);
}

static int watch_begin(struct evspace_connection *c)
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

/* ---- who is there ---- */

/* Is it the agent that was asked for? TLS would accept any agent of the same CA. */
static int entry_check(const struct evspace_connection *c, const struct link *link, struct error *e)
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

/* ---- frames ---- */

static struct evspace_client *scope_find(const struct evspace_connection *c, uint32_t number)
{
	struct evspace_client *client;

	LIST_FOREACH (client, &c->scopes, entry) {
		if (client->number == number)
			break;
	}
	return client;
}

static void connection_fail(struct evspace_connection *c)
{
	struct evspace_client *client;

	c->failed = true;
	LIST_FOREACH (client, &c->scopes, entry)
		client_fail(client, c->failure, c->why.text);
	questions_lost(c, true);
}

void connection_useful(struct evspace_connection *c)
{
	c->lost_ns = 0;
	c->retry_ms = RETRY_FIRST_MS;
}

/* Something has come that was asked for: it is worth to be tried again. */
static void connection_prove(struct evspace_connection *c)
{
	if (c->told_lost)
		connection_note(c, "%s: connected again", c->address);
	c->told_lost = false;
	if (!c->proved && watch_begin(c) < 0)
		abort();
	c->proved = true;
}

enum evspace_failure connection_failure(const Evspace__Error *e)
{
	return e->code == EACCES  ? EVSPACE_NO_CONNECTION
	       : e->code == ESRCH ? EVSPACE_NO_RUN
				  : EVSPACE_WRONG;
}

static void take_error(struct evspace_connection *c, const Evspace__Frame *header)
{
	const Evspace__Error *e = header->error;
	struct evspace_client *client = scope_find(c, e->scope);
	enum evspace_failure failure = connection_failure(e);

	if (client) {
		client_fail(client, failure, e->text);
	} else if (!questions_take(c, header) && e->scope == 0) {
		/* about all that is asked here */
		errorf(&c->why, "%s", e->text);
		c->failure = failure;
		connection_fail(c);
	}
}

static void on_frame(struct link *link, void *arg, const struct frame *frame)
{
	struct evspace_connection *c = arg;
	const Evspace__Frame *header = frame->header;
	struct evspace_client *client;

	(void)link;
	if (header->kind_case == EVSPACE__FRAME__KIND_OPENED) {
		client = scope_find(c, header->opened->scope);
		if (!client)
			return;
		connection_prove(c);
		client_opened(client, header->opened);
	} else if (header->kind_case == EVSPACE__FRAME__KIND_ANSWER) {
		client = scope_find(c, header->answer->scope);
		if (client)
			client_answer(client, frame);
	} else if (header->kind_case == EVSPACE__FRAME__KIND_ERROR) {
		take_error(c, header);
	} else if (questions_take(c, header)) {
		connection_prove(c);
		connection_useful(c);
	}
}

/* ---- dialling ---- */

static void on_ready(struct link *link, void *arg)
{
	const struct peer *peer = link_peer(link);
	struct evspace_connection *c = arg;
	static atomic_flag told = ATOMIC_FLAG_INIT; /* once in a process */
	struct evspace_client *client;
	struct error e;

	if (peer->local && peer->uid != geteuid() && !atomic_flag_test_and_set(&told))
		connection_note(c, "the agent at %s belongs to uid %u", c->address, peer->uid);
	if (entry_check(c, link, &e) < 0) {
		closed(c, link, &e);
		link_close(link);
		return;
	}
	c->ready = true;
	LIST_FOREACH (client, &c->scopes, entry)
		client_ready(client);
	questions_send(c);
	/* the first time, those that wait have their own limits */
	if (c->proved && watch_begin(c) < 0)
		abort();
}

static void closed(struct evspace_connection *c, struct link *link, const struct error *why)
{
	uint64_t sent, received;

	link_bytes(link, &sent, &received);
	c->bytes_sent += sent;
	c->bytes_received += received;
	c->bytes_unpacked += link_unpacked(link);
	c->link = NULL;
	connection_lost(c, why);
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

static void connection_dial(struct evspace_connection *c)
{
	struct error e;

	/* after a long break, certificates may have been replaced; the agent says what is wrong
	 * with them */
	if (c->tls)
		(void)tls_refresh(c->tls, &e);
	c->link = link_dial(c->hub, c->address, NULL, &events, c, &e);
	if (!c->link)
		connection_lost(c, &e);
}

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	connection_dial(arg);
}

static void connection_lost(struct evspace_connection *c, const struct error *why)
{
	uint64_t now = clock_mono_ns();
	struct timeval wait = {c->retry_ms / 1000, c->retry_ms % 1000 * 1000};
	struct evspace_client *client;
	bool said = strstr(why->text, c->address) != NULL;

	c->ready = false;
	if (c->ended)
		return;
	c->failure = EVSPACE_NO_CONNECTION;
	errorf(&c->why, "%s%s%s", said ? "" : c->address, said ? "" : ": ", why->text);
	if (c->lost_ns == 0)
		c->lost_ns = now;
	/* do not retry what never worked: the user wants to know now */
	if (!c->proved || now - c->lost_ns > (uint64_t)c->patience_ms * 1000000u) {
		connection_fail(c);
		return;
	}
	LIST_FOREACH (client, &c->scopes, entry)
		client_lost(client);
	questions_lost(c, false);
	if (!c->told_lost)
		connection_note(c, "%s; trying again for %u s", c->why.text, c->patience_ms / 1000);
	c->told_lost = true;
	evtimer_add(c->retry, &wait);
	c->retry_ms = c->retry_ms * 2 > RETRY_LAST_MS ? RETRY_LAST_MS : c->retry_ms * 2;
}

static int connection_set_up(struct evspace_connection *c)
{
	struct link_self self = {.name = "",
				 .epoch_ns = clock_real_ns() - (int64_t)clock_mono_ns()};

	c->failure = EVSPACE_NO_CONNECTION;
	if (!c->named && find_agent(c) < 0)
		return -1;
	c->failure = EVSPACE_WRONG;
	if (address_check(c->address, false, &c->why) < 0 || load_identity(c) < 0)
		return -1;
	c->failure = EVSPACE_NO_CONNECTION;
	c->retry_ms = RETRY_FIRST_MS;
	c->retry = evtimer_new(c->base, on_retry, c);
	c->hub = link_hub_new(c->base, c->tls, &self);
	if (!c->retry || !c->hub)
		return errorf(&c->why, "cannot set up a connection: %s", strerror(errno));
	link_hub_foreign_set(c->hub, c->named);
	link_hub_unpacks_set(c->hub, c->unpacks);
	return 0;
}

void connection_begin(struct evspace_connection *c)
{
	if (connection_set_up(c) < 0)
		connection_fail(c);
	else
		connection_dial(c);
}
