/* SPDX-License-Identifier: BSD-3-Clause */
/* Notices that nothing comes any more from an agent that owes waves: after a cut TCP itself looks
 * for the other side ever more seldom. */
#include "consumers/client/client.h"
#include "tree/data/clock.h"

#define LOOK_NS	   UINT64_C(1000000000)
#define PING_AFTER UINT64_C(2000000000)
#define SILENT_FOR UINT64_C(5000000000)
/* Who looks that late was not running himself, and what has come meanwhile is still to be read. */
#define LOOKED_LATE (3 * LOOK_NS)

static const struct timeval look_again = {LOOK_NS / 1000000000u, 0};

/* Part of a frame is a word, too: a large answer may take long on a slow link. */
static bool hears(struct evspace_client *c)
{
	uint64_t sent, received, before = c->heard_bytes;

	link_bytes(c->link, &sent, &received);
	c->heard_bytes = received;
	return received != before;
}

static void give_up(struct evspace_client *c)
{
	struct link *link = c->link;
	struct error e;

	errorf(&e, "nothing has come for %g s", (double)SILENT_FOR * 1e-9);
	client_closed(c, link, &e);
	link_close(link);
}

static void on_watch(evutil_socket_t fd, short what, void *arg)
{
	struct evspace_client *c = arg;
	uint64_t now = clock_mono_ns(), looked = c->looked_ns;
	bool owed = !c->opened || c->next_ask > c->next_take || c->again_next < c->again_end;

	(void)fd;
	(void)what;
	/* Until it is ready, the link itself looks after its time. */
	if (!c->link || !link_hello(c->link))
		return;
	c->looked_ns = now;
	if (hears(c) || !owed || now - looked > LOOKED_LATE) {
		c->heard_ns = now;
		c->pinged = false;
	}
	if (now - c->heard_ns >= SILENT_FOR) {
		give_up(c);
		return;
	}
	if (now - c->heard_ns >= PING_AFTER && !c->pinged) {
		c->pinged = true;
		link_send_ping(c->link, false);
	}
	evtimer_add(c->watch, &look_again);
}

int client_watch_begin(struct evspace_client *c)
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
