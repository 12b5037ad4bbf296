/* SPDX-License-Identifier: BSD-3-Clause */
/* Stamps for scripts (tests/stamps.h): a rank that writes them, who compares them, and the
 * kernel's clock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/stamps.h"

static int check(const char *connect, double seconds)
{
	const struct evspace_options look = {
		.connect = connect, .run = "run", .view = "events", .backlog = 1, .rate_hz = 20};
	struct stamps stamps[STAMPS_RANKS];
	struct error e;

	if (stamps_check(&look, seconds, stamps, &e) < 0) {
		fprintf(stderr, "stamper: %s\n", e.text);
		return 1;
	}
	for (int i = 0; i < STAMPS_RANKS; i++)
		printf("%d %llu %llu %.3f %.3f\n", i, (unsigned long long)stamps[i].n,
		       (unsigned long long)stamps[i].within, stamps[i].bound_ns / 1000,
		       stamps[i].off_ns / 1000);
	return 0;
}

int main(int argc, char **argv)
{
	struct error e;

	if (argc == 4 && strcmp(argv[1], "check") == 0)
		return check(argv[2], strtod(argv[3], NULL));
	if (argc == 2 && strcmp(argv[1], "now") == 0) {
		printf("%llu\n", (unsigned long long)stamps_kernel_ns());
		return 0;
	}
	if (argc != 6) {
		fprintf(stderr,
			"usage: stamper RUN-FOLDER RANK RANKS HZ SECONDS\n"
			"       stamper check ADDRESS SECONDS # RANK N WITHIN BOUND_US OFF_US\n"
			"       stamper now\n");
		return 2;
	}
	if (stamps_write(argv[1], atoi(argv[2]), atoi(argv[3]), strtod(argv[4], NULL),
			 strtod(argv[5], NULL), &e) == 0)
		return 0;
	fprintf(stderr, "stamper: %s\n", e.text);
	return 1;
}
