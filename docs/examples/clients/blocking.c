/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the events of a run by operation, from its beginning to its end: a consumer that waits.
 * usage: blocking [RUN [CONNECT]] */
#include <evspace-client.h>
#include <stdio.h>
#include <string.h>

#define OPERATIONS 512

static struct {
	char name[64];
	unsigned long long events;
} counts[OPERATIONS];

static void count(const char *op)
{
	size_t i = 0;

	while (i < OPERATIONS - 1 && counts[i].name[0] && strcmp(counts[i].name, op) != 0)
		i++;
	if (!counts[i].name[0])
		snprintf(counts[i].name, sizeof(counts[i].name), "%s", op);
	counts[i].events++;
}

/* Has the program ended, and everything that it wrote come? */
static int is_over(struct evspace_client *client)
{
	const struct evspace_wave *wave = evspace_wave(client);

	return wave->processes == 0 && wave->sure && wave->n_missing == 0 && wave->read == 0;
}

int main(int argc, char **argv)
{
	const struct evspace_options look = {
		.run = argc > 1 ? argv[1] : NULL,
		.connect = argc > 2 ? argv[2] : NULL,
		.backlog = 1,
		.rate_hz = 20,
	};
	enum evspace_failure failure;
	struct evspace_counts all;
	char why[256];
	struct evspace_client *client = evspace_open(&look, &failure, why, sizeof(why));

	if (!client) {
		fprintf(stderr, "blocking: %s\n", why);
		return 1;
	}
	while (evspace_next(client, -1) == 1 && !is_over(client)) {
		struct evspace_event event;

		while (evspace_event(client, &event))
			count(event.op);
	}
	if (evspace_why(client)[0])
		fprintf(stderr, "blocking: %s\n", evspace_why(client));
	else if (evspace_wave(client) && evspace_wave(client)->elements == 0)
		fprintf(stderr, "blocking: no host has elements of this run\n");
	for (size_t i = 0; i < OPERATIONS && counts[i].name[0]; i++)
		printf("%s %llu\n", counts[i].name, counts[i].events);
	/* whoever shows figures says what is not in them */
	evspace_counts(client, &all);
	printf("lost %llu\n", (unsigned long long)all.lost);
	evspace_close(client);
	return 0;
}
