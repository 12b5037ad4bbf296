/* SPDX-License-Identifier: BSD-3-Clause */
/* A view of its own in a loop of libevent, beside a timer and a signal: bytes sent so far by each
 * host, until Ctrl-C. usage: libevent [RUN [CONNECT]] */
#include <event2/event.h>
#include <evspace-loop.h>
#include <signal.h>
#include <stdio.h>

struct traffic {
	struct event_base *base;
	unsigned waves;
	unsigned long long messages, bytes;
};

static void news(struct evspace_client *client, enum evspace_news what, void *arg)
{
	struct traffic *t = arg;
	struct evspace_total total;

	if (what == EVSPACE_ENDED) {
		fprintf(stderr, "libevent: %s\n", evspace_why(client));
		event_base_loopbreak(t->base);
	}
	if (what != EVSPACE_WAVE || evspace_next(client, 0) != 1)
		return;
	t->waves++;
	while (evspace_total(client, &total)) {
		t->messages += total.count;
		t->bytes += total.sum;
	}
}

static void tell(evutil_socket_t fd, short what, void *arg)
{
	const struct traffic *t = arg;

	(void)fd;
	(void)what;
	printf("%u waves: %llu messages of %llu bytes\n", t->waves, t->messages, t->bytes);
	fflush(stdout);
}

static void stop(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	event_base_loopbreak(arg);
}

int main(int argc, char **argv)
{
	static const struct timeval every = {.tv_usec = 500000};
	const struct evspace_options look = {
		.run = argc > 1 ? argv[1] : NULL,
		.connect = argc > 2 ? argv[2] : NULL,
		.define = "select /**/p2p; read stream; thread filter op=MPI_Send|MPI_Isend; "
			  "all reduce sum of bytes",
		.backlog = 1,
		.rate_hz = 10,
	};
	struct traffic t = {.base = event_base_new()};
	struct evspace_connection *connection = evspace_connect_on(t.base, &look);
	struct event *timer = event_new(t.base, -1, EV_PERSIST, tell, &t);
	struct event *interrupt = evsignal_new(t.base, SIGINT, stop, t.base);

	evspace_open_on(connection, &look, news, &t);
	event_add(timer, &every);
	event_add(interrupt, NULL);
	event_base_dispatch(t.base);
	tell(-1, 0, &t);
	evspace_disconnect(connection);
	event_free(timer);
	event_free(interrupt);
	event_base_free(t.base);
	return 0;
}
