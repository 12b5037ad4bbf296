/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the agent to talk to, connects, and connects again after a break, with backoff. */
#include "consumers/client.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/store.h"
#include "tree/clock.h"

#define RETRY_FIRST_MS 50u
#define RETRY_LAST_MS  2000u

/* ---- where ---- */

/* This host's agent: the only socket in the base folder. */
static int find_agent(struct evspace_client *c)
{
	char base[200], list[512] = "", found[512] = "";
	const struct dirent *d;
	unsigned n = 0;
	DIR *dir;

	if (!store_base(base, sizeof(base), &c->why))
		return -1;
	dir = opendir(base);
	while (dir && (d = readdir(dir))) {
		size_t length = strlen(d->d_name);

		if (strncmp(d->d_name, "agent-", 6) != 0 || length < 12 ||
		    strcmp(d->d_name + length - 5, ".sock") != 0)
			continue;
		snprintf(found, sizeof(found), "unix:%s/%s", base, d->d_name);
		snprintf(list + strlen(list), sizeof(list) - strlen(list), " %s", found);
		n++;
	}
	if (dir)
		closedir(dir);
	c->failure = n ? EVSPACE_WRONG : EVSPACE_NO_CONNECTION;
	if (n == 0)
		return errorf(&c->why,
			      "no agent runs on this host; start one with 'evspace agent', or say "
			      "--connect HOST:PORT");
	if (n > 1)
		return errorf(&c->why,
			      "several agents run on this host; say which with --connect:%s", list);
	c->address = strdup(found);
	return c->address ? 0 : -1;
}

static int load_identity(struct evspace_client *c)
{
	char dir[512];
	const char *home = getenv("HOME");

	if (strncmp(c->address, "unix:", 5) == 0)
		return 0;
	if (c->tls_dir)
		snprintf(dir, sizeof(dir), "%s", c->tls_dir);
	else if (getenv("EVSPACE_TLS"))
		snprintf(dir, sizeof(dir), "%s", getenv("EVSPACE_TLS"));
	else
		snprintf(dir, sizeof(dir), "%s/.config/evspace/tls", home ? home : "");
	c->tls = tls_new(dir, c->identity, &c->why);
	return c->tls ? 0 : -1;
}

/* ---- connecting ---- */

static void on_ready(struct link *link, void *arg)
{
	struct evspace_client *c = arg;

	(void)link;
	c->retry_ms = RETRY_FIRST_MS;
	client_ready(c);
}

static void on_frame(struct link *link, void *arg, const struct frame *frame)
{
	(void)link;
	client_frame(arg, frame);
}

static void on_closed(struct link *link, void *arg, const struct error *why)
{
	struct evspace_client *c = arg;
	uint64_t sent, received;

	link_bytes(link, &sent, &received);
	c->bytes_sent += sent;
	c->bytes_received += received;
	c->link = NULL;
	client_lost(c, why);
}

static const struct link_events events = {
	.ready = on_ready,
	.frame = on_frame,
	.closed = on_closed,
};

static void client_dial(struct evspace_client *c)
{
	struct error e;

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

void client_lost(struct evspace_client *c, const struct error *why)
{
	uint64_t now = clock_mono_ns();
	struct timeval wait = {c->retry_ms / 1000, c->retry_ms % 1000 * 1000};

	c->opened = false;
	c->failure = EVSPACE_NO_CONNECTION;
	errorf(&c->why, "%s: %s", c->address, why->text);
	if (c->lost_ns == 0)
		c->lost_ns = now;
	/* What never worked is not waited for: the user wants to know now. */
	if (!c->was_open || now - c->lost_ns > (uint64_t)c->patience_ms * 1000000u) {
		c->failed = true;
		return;
	}
	evtimer_add(c->retry, &wait);
	c->retry_ms = c->retry_ms * 2 > RETRY_LAST_MS ? RETRY_LAST_MS : c->retry_ms * 2;
}

int client_connect(struct evspace_client *c)
{
	struct link_self self = {.name = "",
				 .epoch_ns = clock_real_ns() - (int64_t)clock_mono_ns()};

	if (!c->address && find_agent(c) < 0)
		return -1;
	c->failure = EVSPACE_NO_CONNECTION;
	if (load_identity(c) < 0)
		return -1;
	c->retry_ms = RETRY_FIRST_MS;
	c->retry = evtimer_new(c->base, on_retry, c);
	c->hub = link_hub_new(c->base, c->tls, &self);
	if (!c->retry || !c->hub)
		return errorf(&c->why, "cannot set up a connection: %s", strerror(errno));
	client_dial(c);
	return 0;
}
