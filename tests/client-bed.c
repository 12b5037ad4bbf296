/* SPDX-License-Identifier: BSD-3-Clause */
/* A client at a fake agent, and which tuples have come to it. */
#include "tests/client-bed.h"

#include <stdio.h>
#include <string.h>

#include "tests/tap.h"
#include "tree/data/op.h"

struct evspace_client *client_bed;
pid_t client_bed_agent;
const char *client_bed_address;

struct evspace_client *client_bed_open(const struct fake_script *script,
				       struct evspace_options options,
				       enum evspace_failure *failure, char why[1024])
{
	client_bed_agent = fake_start(script, &client_bed_address);
	options.connect = client_bed_address;
	return evspace_open(&options, failure, why, 1024);
}

void client_bed_begin(const struct fake_script *script, struct evspace_options options)
{
	enum evspace_failure failure;
	char why[1024] = "";

	client_bed = client_bed_open(script, options, &failure, why);
	if (!client_bed)
		tap_note("%s", why);
	CU_ASSERT_PTR_NOT_NULL_FATAL(client_bed);
}

void client_bed_end(void)
{
	evspace_close(client_bed);
	client_bed = NULL;
	fake_stop(client_bed_agent);
	if (fake_report()->violations)
		tap_note("%u violations: %s", fake_report()->violations, fake_report()->violation);
	CU_ASSERT_EQUAL(fake_report()->violations, 0);
}

struct client_bed_seen client_bed_seen;

static void see(const struct evspace_event *ev)
{
	unsigned leaf, rank;
	char channel[16];
	int element = -1;

	if (sscanf(ev->name, "/c/n%u/rank%u/t0/%15s", &leaf, &rank, channel) == 3)
		element = channel_find(channel);
	CU_ASSERT_FATAL(element >= 0 && element < FAKE_ELEMENTS && leaf <= FAKE_LEAVES &&
			ev->number < CLIENT_BED_NUMBERS);
	client_bed_seen.wrong += ev->rank != (int32_t)rank || ev->start_ns != (int64_t)ev->number ||
				 ev->bytes != ev->number * 100 + leaf * 10 + (unsigned)element ||
				 strcmp(ev->op, "MPI_Send") != 0;
	client_bed_seen.twice += client_bed_seen.came[leaf - 1][element][ev->number];
	client_bed_seen.came[leaf - 1][element][ev->number] = true;
	client_bed_seen.out_of_order += ev->number < client_bed_seen.next[leaf - 1][element];
	client_bed_seen.next[leaf - 1][element] = ev->number + 1;
	client_bed_seen.events++;
}

bool client_bed_next(void)
{
	struct evspace_event ev;
	int rc = evspace_next(client_bed, CLIENT_BED_TIMEOUT_MS);

	if (rc < 0)
		tap_note("%s", evspace_why(client_bed));
	CU_ASSERT_EQUAL(rc, 1);
	if (rc != 1)
		return false;
	while (evspace_event(client_bed, &ev))
		see(&ev);
	return true;
}
