/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits how many lines the log has of agents that cannot be reached. */
#include "tree/scope/complaints.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>

/* Agents that cannot be reached have a line each in the log, as far as struct rate_limit allows.
 * The others are summed up in one line after this time, and then once a minute. */
#define SUM_UP_MS	1000u
#define SUM_UP_AGAIN_MS 60000u

static void complaints_sum_up(evutil_socket_t fd, short what, void *arg)
{
	static const struct timeval again = {SUM_UP_AGAIN_MS / 1000, 0};
	struct complaints *c = arg;

	(void)fd;
	(void)what;
	if (!c->unsaid)
		return;
	fprintf(stderr,
		"evspace: agents below could not be reached %lu times more; the last was %s; "
		"trying again\n",
		c->unsaid, c->last.text);
	c->unsaid = 0;
	evtimer_add(c->sum_up, &again);
}

void complaints_init(struct complaints *c, struct event_base *base)
{
	c->sum_up = evtimer_new(base, complaints_sum_up, c);
	if (!c->sum_up)
		abort();
}

void complaints_fini(struct complaints *c)
{
	event_free(c->sum_up);
}

bool complaints_may(struct complaints *c, const struct error *line, bool fresh)
{
	static const struct timeval soon = {SUM_UP_MS / 1000, 0};
	unsigned long unsaid;

	if (rate_limit_take(&c->limit, &unsaid))
		return true;
	if (!fresh)
		return false;
	c->unsaid++;
	c->last = *line;
	if (!evtimer_pending(c->sum_up, NULL))
		evtimer_add(c->sum_up, &soon);
	return false;
}
