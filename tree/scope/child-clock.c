/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends pings, at first in quick succession, and fits lines to what comes back. */
#include "tree/scope/child-clock.h"

#include <event2/event.h>
#include <float.h>
#include <stdlib.h>

#include "tree/data/clock.h"
#include "tree/link/link.h"

/* Between pings, doubled from the first to the last: the longer they go on, the better the drift is
 * known. */
#define PAUSE_FIRST_MS 1u
#define PAUSE_LAST_MS  1000u

/* Times besides pings, of which there may be a thousand a second, count this seldom. */
#define HEAR_NS UINT64_C(200000000)

static void ask_later(struct child_clock *clock)
{
	struct timeval wait = {clock->pause_ms / 1000, clock->pause_ms % 1000 * 1000};

	evtimer_add(clock->ask, &wait);
	clock->pause_ms = 2 * clock->pause_ms < PAUSE_LAST_MS ? 2 * clock->pause_ms : PAUSE_LAST_MS;
}

/* It is not asked again before it has answered, so one that is stopped is not sent more and more.
 */
static void on_ask(evutil_socket_t fd, short what, void *arg)
{
	struct child_clock *clock = arg;

	(void)fd;
	(void)what;
	child_clock_ask(clock);
}

void child_clock_init(struct child_clock *clock, struct event_base *base)
{
	*clock = (struct child_clock){.ask = evtimer_new(base, on_ask, clock)};
	if (!clock->ask)
		abort();
}

void child_clock_fini(struct child_clock *clock)
{
	event_free(clock->ask);
}

void child_clock_begin(struct child_clock *clock, struct link *link)
{
	clock->link = link;
	clock->same_host = link_is_of_host(link);
	clock->mute = false;
	clock->pause_ms = PAUSE_FIRST_MS;
	child_clock_ask(clock);
}

void child_clock_end(struct child_clock *clock)
{
	clock->link = NULL;
	evtimer_del(clock->ask);
}

void child_clock_ask(struct child_clock *clock)
{
	clock->asked_ns = clock_mono_ns();
	link_send_ping(clock->link, clock->asked_ns);
}

void child_clock_answer(struct child_clock *clock, const Evspace__Ping *ping)
{
	struct clock_probe probe = {link_left_ns(clock->link), ping->got_ns, ping->sent_ns,
				    link_came_ns(clock->link)};

	if (ping->got_ns == 0)
		clock->mute = true;
	/* a late answer to an earlier ping says that the child is there, no more */
	if (clock->mute || !clock->asked_ns || ping->asked_ns != clock->asked_ns)
		return;
	clock->asked_ns = 0;
	if (clock_fit_take(&clock->fit, &probe))
		clock->pause_ms = PAUSE_FIRST_MS;
	ask_later(clock);
}

void child_clock_hear(struct child_clock *clock, const struct clock_probe *probe)
{
	const struct clock_fit *fit = &clock->fit;

	if (clock->mute && (fit->n == 0 || probe->came_ns - fit->offset.at_ns >= HEAR_NS))
		clock_fit_take(&clock->fit, probe);
}

struct clock_offset child_clock_offset(const struct child_clock *clock)
{
	if (clock->same_host && !clock->fit.apart)
		return (struct clock_offset){.at_ns = 0};
	if (clock->fit.n == 0)
		return (struct clock_offset){.error_ns = DBL_MAX};
	return clock->fit.offset;
}
