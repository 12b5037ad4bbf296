/* SPDX-License-Identifier: BSD-3-Clause */
/* Two views over one connection in a loop of poll(2), which reads its standard input, too: "status"
 * asks the agent how it is, the end of the input ends the program. usage: poll [RUN [CONNECT]] */
#include <evspace-control.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Is a client's @arg. */
struct view {
	const char *name;
	struct evspace_client *client;
	unsigned waves;
};

static void news(struct evspace_client *client, enum evspace_news what, void *arg)
{
	struct view *view = arg;

	if (what == EVSPACE_OPENED) {
		printf("%s: open\n", view->name);
	} else if (what == EVSPACE_ENDED) {
		printf("%s: ended: %s\n", view->name, evspace_why(client));
		evspace_close(client);
		view->client = NULL;
	} else if (evspace_next(client, 0) == 1) {
		printf("%s: wave %u from %u of %u hosts\n", view->name, ++view->waves,
		       evspace_wave(client)->answered, evspace_wave(client)->leaves);
	}
	fflush(stdout);
}

static void status(const struct evspace_reply *reply, void *arg)
{
	(void)arg;
	if (reply->status)
		printf("status: %s has %zu processes\n", reply->status->node,
		       reply->status->n_processes);
	else
		printf("status: %s\n", reply->why);
	fflush(stdout);
}

/* Returns 0 at the end of the input. */
static int command(struct evspace_connection *connection)
{
	char line[64];
	ssize_t n = read(STDIN_FILENO, line, sizeof(line) - 1);

	if (n <= 0)
		return 0;
	line[n] = '\0';
	if (strncmp(line, "status", strlen("status")) == 0)
		evspace_status(connection, status, NULL);
	return 1;
}

int main(int argc, char **argv)
{
	struct evspace_options look = {
		.run = argc > 1 ? argv[1] : NULL,
		.connect = argc > 2 ? argv[2] : NULL,
		.rate_hz = 10,
	};
	struct view views[] = {{.name = "heartbeat"}, {.name = "events"}};
	struct evspace_connection *connection = evspace_connect(&look);
	int lost = 0;

	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		look.view = views[i].name;
		views[i].client = evspace_open_on(connection, &look, news, &views[i]);
	}
	while (!lost && (views[0].client || views[1].client)) {
		struct pollfd on[] = {
			{.fd = evspace_fd(connection), .events = POLLIN},
			{.fd = STDIN_FILENO, .events = POLLIN},
		};

		/* the timeout last: it brings the descriptor up to date */
		if (poll(on, 2, evspace_timeout(connection)) < 0)
			break;
		if (on[1].revents && !command(connection))
			break;
		lost = evspace_dispatch(connection) < 0;
	}
	if (lost)
		fprintf(stderr, "poll: %s\n", evspace_trouble(connection));
	evspace_disconnect(connection); /* closes the views, too */
	return lost;
}
