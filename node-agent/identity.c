/* SPDX-License-Identifier: BSD-3-Clause */
/* Reloads an agent's certificates when they change, and warns before they expire. */
#include "node-agent/identity.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "tree/link/link-hub.h"

/* Files are copied one after the other: wait until the last one. */
#define SETTLE_MS 200

struct identity {
	struct tls *tls;
	struct link_hub *hub;
	struct event *changed; /* SIGHUP, from the folder or from a user */
	struct event *settle, *day;
	int folder; /* -1: it cannot be watched */
};

/* Watch the folder again: a notification comes only once, and the folder may have been replaced. */
static void folder_watch(struct identity *i)
{
	int before = i->folder;

	i->folder = open(tls_folder(i->tls), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (before >= 0)
		close(before);
	if (i->folder >= 0 && fcntl(i->folder, F_SETSIG, SIGHUP) == 0 &&
	    fcntl(i->folder, F_NOTIFY,
		  DN_MODIFY | DN_CREATE | DN_DELETE | DN_RENAME | DN_ATTRIB | DN_MULTISHOT) == 0)
		return;
	fprintf(stderr,
		"evspace agent: changes in %s are not noticed (%s): send SIGHUP when certificates "
		"are new\n",
		tls_folder(i->tls), strerror(errno));
}

static void warn(const struct identity *i)
{
	struct error e;

	if (tls_warning(i->tls, &e))
		fprintf(stderr, "evspace agent: %s\n", e.text);
}

static void refresh(struct identity *i)
{
	struct error e;
	int result = tls_refresh(i->tls, &e);
	size_t closed;

	if (result == 0)
		return;
	closed = link_hub_recheck(i->hub);
	if (result < 0)
		fprintf(stderr,
			"evspace agent: cannot use the new certificates: %s; the earlier ones stay "
			"in use\n",
			e.text);
	else
		fprintf(stderr, "evspace agent: certificates loaded again\n");
	if (closed)
		fprintf(stderr,
			"evspace agent: %zu connection%s closed: no longer accepted by them\n",
			closed, plural(closed, "s"));
	warn(i);
}

static void on_changed(evutil_socket_t number, short what, void *arg)
{
	static const struct timeval after = {.tv_usec = SETTLE_MS * 1000};
	struct identity *i = arg;

	(void)number;
	(void)what;
	event_add(i->settle, &after);
}

static void on_settled(evutil_socket_t fd, short what, void *arg)
{
	struct identity *i = arg;

	(void)fd;
	(void)what;
	folder_watch(i);
	refresh(i);
}

/* changes in some folders are not notified, such as those of network file systems */
static void on_day(evutil_socket_t fd, short what, void *arg)
{
	struct identity *i = arg;

	(void)fd;
	(void)what;
	refresh(i);
	link_hub_recheck(i->hub);
	warn(i);
}

struct identity *identity_new(struct event_base *base, struct tls *tls, struct link_hub *hub)
{
	static const struct timeval day = {.tv_sec = 86400};
	struct identity *i = memory_new(1, sizeof(*i));

	*i = (struct identity){.tls = tls, .hub = hub, .folder = -1};
	i->changed = evsignal_new(base, SIGHUP, on_changed, i);
	i->settle = evtimer_new(base, on_settled, i);
	i->day = event_new(base, -1, EV_PERSIST, on_day, i);
	if (!i->changed || !i->settle || !i->day || event_add(i->changed, NULL) < 0 ||
	    event_add(i->day, &day) < 0)
		abort();
	folder_watch(i);
	warn(i);
	return i;
}

void identity_free(struct identity *i)
{
	if (!i)
		return;
	if (i->folder >= 0)
		close(i->folder);
	event_free(i->changed);
	event_free(i->settle);
	event_free(i->day);
	free(i);
}
