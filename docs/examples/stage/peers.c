/* SPDX-License-Identifier: BSD-3-Clause */
/* A consumer of the stage sketch: bytes to each peer, added up over the waves of a run.
 * `peers RUN VIEW RANKS [HOST:PORT]` */
#include <evspace-client.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sketch.h"

/* Of @words, which are a sketch: no less than what was sent to @peer. */
static uint64_t estimate(const uint64_t *words, unsigned n_words, int32_t peer)
{
	unsigned counters = (n_words - SKETCH_HEAD) / SKETCH_ROWS;
	uint64_t least = UINT64_MAX;

	for (unsigned row = 0; row < SKETCH_ROWS; row++) {
		uint64_t bytes = words[sketch_at(row, peer, counters)];

		least = bytes < least ? bytes : least;
	}
	return least;
}

int main(int argc, char **argv)
{
	struct evspace_options look = {.backlog = 1, .rate_hz = 10};
	enum evspace_failure failure;
	static uint64_t bytes[4096];
	uint64_t tuples = 0;
	int ranks = argc > 3 ? atoi(argv[3]) : 0;
	char why[1024];
	struct evspace_client *client;
	struct evspace_counts counts;

	if (ranks < 1 || ranks > 4096) {
		fprintf(stderr, "usage: peers RUN VIEW RANKS [HOST:PORT]\n");
		return 2;
	}
	look.run = argv[1];
	look.view = argv[2];
	look.connect = argv[4];
	client = evspace_open(&look, &failure, why, sizeof(why));
	if (!client) {
		fprintf(stderr, "peers: %s\n", why);
		return 2;
	}
	/* until the run has ended, and nothing is left of it */
	while (evspace_next(client, -1) == 1) {
		struct evspace_foreign record;

		while (evspace_foreign(client, &record)) {
			if (strcmp(record.kind, "sketch") != 0)
				continue;
			tuples += record.words[0];
			for (int32_t i = 0; i < ranks; i++)
				bytes[i] += estimate(record.words, record.n_words, i);
		}
		/* sure: all hosts have answered */
		if (evspace_wave(client)->sure && evspace_wave(client)->processes == 0)
			break;
	}
	evspace_counts(client, &counts);
	for (int32_t i = 0; i < ranks; i++)
		printf("rank%d %" PRIu64 "\n", i, bytes[i]);
	printf("%" PRIu64 " messages, %" PRIu64 " of %" PRIu64 " tuples reduced\n", tuples,
	       counts.reduced, counts.read);
	if (*evspace_why(client))
		fprintf(stderr, "peers: %s\n", evspace_why(client));
	evspace_close(client);
	return tuples ? 0 : 1;
}
