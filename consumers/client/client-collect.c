/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches classes to a part of their events, and holds that by a lease while its client looks. */
#include "consumers/client/client-collect.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "consumers/client/client.h"
#include "consumers/client/evspace-control.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/one-in.h"
#include "tree/data/clock.h"
#include "tree/data/op.h"

/* A lease is this long, and begun anew so often; what collecting costs is known after so long. */
#define LEASE_MS  15000u
#define RENEW_S	  5
#define SETTLE_NS UINT64_C(10000000000)

/* A channel's classes: on MPI_COMM_WORLD, and on all others, which a name without @world means. */
#define CLASSES (2 * CHANNEL_PROGRAMS)

struct client_collect {
	struct evspace_client *c;
	client_collect_failed *failed;
	void *arg;
	struct event *timer;
	struct evspace_question *question;
	struct evspace_lease lease; /* ms 0: none */
	unsigned halvings;	    /* as it is to be */
	uint64_t settled_ns;
	/* as each class was before: halvings + 1; 0: not known, or not recorded */
	uint8_t was[CLASSES];
};

static struct evspace_among collect_among(const struct client_collect *k)
{
	return (struct evspace_among){.run = k->c->opened_run, .deadline_ms = k->c->deadline_ms};
}

static void collect_after(struct client_collect *k, time_t s)
{
	const struct timeval wait = {s, 0};

	evtimer_add(k->timer, &wait);
}

/* ---- answers ---- */

/* Classes that have not been seen before are as they were. Returns whether any is recorded. */
static bool classes_take(struct client_collect *k, const struct evspace_switched *s)
{
	bool any = false;

	for (size_t i = 0; i < s->n_classes; i++) {
		const struct evspace_collected *c = &s->classes[i];
		int channel = channel_find(c->channel);
		uint8_t *was;

		if (channel < 0 || channel >= CHANNEL_PROGRAMS)
			continue;
		was = &k->was[2 * channel + (c->world != 0)];
		if (*was == 0 && c->mode == EVSPACE_TRACE)
			*was = 1;
		else if (*was == 0 && c->mode > EVSPACE_ONE_IN &&
			 c->mode <= EVSPACE_ONE_IN + (int)ONE_IN_MOST)
			*was = (uint8_t)(1 + c->mode - EVSPACE_ONE_IN);
		any |= *was > 0;
	}
	return any;
}

/* Why a host with processes of the run has not switched them: somebody else holds their modes, say.
 * NULL: all have. One that has not answered in time is asked again. */
static const char *refused(const struct evspace_switched *s)
{
	for (size_t i = 0; i < s->n_hosts; i++) {
		const struct evspace_host_reply *h = &s->hosts[i];

		if (!h->missing && h->text[0] && !h->changed)
			return h->text;
	}
	return NULL;
}

static void collect_end(struct client_collect *k);

static void answered(const struct evspace_reply *reply, void *arg)
{
	struct client_collect *k = arg;
	const char *why = reply->why;
	char text[200];
	bool any;

	k->question = NULL;
	/* a connection that is lost is made again */
	if (reply->failure == EVSPACE_NO_CONNECTION) {
		collect_after(k, RENEW_S);
		return;
	}
	if (reply->failure == EVSPACE_FINE)
		why = refused(reply->switched);
	if (!why) {
		any = classes_take(k, reply->switched);
		/* the first answer says what there is */
		collect_after(k, any && !k->lease.ms ? 0 : RENEW_S);
		return;
	}
	snprintf(text, sizeof(text), "%s", why);
	k->halvings = 0;
	collect_end(k); /* hosts that have switched are as before */
	k->failed(k->arg, text);
}

/* ---- orders ---- */

static size_t orders_make(const struct client_collect *k, struct evspace_order orders[CLASSES],
			  char names[CLASSES][24])
{
	size_t n = 0;

	for (unsigned i = 0; i < CLASSES; i++) {
		unsigned halvings = k->was[i] > k->halvings ? k->was[i] - 1u : k->halvings;

		if (k->was[i] == 0)
			continue;
		snprintf(names[n], sizeof(names[n]), "%s%s", channel_name(i / 2),
			 i % 2 ? "@world" : "");
		orders[n].classes = names[n];
		orders[n++].mode =
			halvings ? EVSPACE_ONE_IN + (enum evspace_mode)halvings : EVSPACE_TRACE;
	}
	return n;
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
	struct client_collect *k = arg;
	struct evspace_among among = collect_among(k);
	struct evspace_order orders[CLASSES];
	char names[CLASSES][24];
	size_t n = orders_make(k, orders, names);

	(void)fd;
	(void)what;
	if (k->question || k->halvings == 0)
		return;
	if (n == 0) {
		k->question = evspace_switch(k->c->connection, &among, NULL, 0, EVSPACE_AS_IT_IS,
					     answered, k);
		return;
	}
	k->lease.ms = LEASE_MS;
	k->question =
		evspace_switch_all(k->c->connection, &among, orders, n, &k->lease, answered, k);
}

/* ---- its life ---- */

struct client_collect *client_collect_new(struct evspace_client *c, client_collect_failed *failed,
					  void *arg)
{
	struct client_collect *k = memory_new(1, sizeof(*k));

	k->c = c;
	k->failed = failed;
	k->arg = arg;
	while (!k->lease.id)
		if (getrandom(&k->lease.id, sizeof(k->lease.id), 0) < 0)
			k->lease.id = clock_mono_ns();
	k->timer = evtimer_new(c->connection->base, on_turn, k);
	if (!k->timer)
		abort();
	return k;
}

/* The agents need not wait for the lease's end. */
static void collect_end(struct client_collect *k)
{
	struct evspace_among among = collect_among(k);

	evspace_cancel(k->question);
	k->question = NULL;
	evtimer_del(k->timer);
	memset(k->was, 0, sizeof(k->was));
	if (!k->lease.ms)
		return;
	k->lease.ms = 0;
	if (k->c->connection->ready)
		evspace_cancel(evspace_switch_all(k->c->connection, &among, NULL, 0, &k->lease,
						  answered, k));
}

void client_collect_free(struct client_collect *k)
{
	if (!k)
		return;
	collect_end(k);
	event_free(k->timer);
	free(k);
}

void client_collect_set(struct client_collect *k, unsigned halvings)
{
	if (halvings == k->halvings)
		return;
	k->halvings = halvings;
	k->settled_ns = clock_mono_ns() + SETTLE_NS;
	if (halvings == 0)
		collect_end(k);
	else
		collect_after(k, 0);
}

unsigned client_collect_halvings(const struct client_collect *k)
{
	return k->halvings;
}

bool client_collect_unsettled(const struct client_collect *k)
{
	return clock_mono_ns() < k->settled_ns;
}
