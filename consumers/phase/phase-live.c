/* SPDX-License-Identifier: BSD-3-Clause */
/* Follows a live run for evspace phase. */
#include <stdio.h>

#include "consumers/cli/command.h"
#include "consumers/phase/phase.h"

static bool take_wave(void *arg, uint64_t *seen)
{
	struct phase *p = arg;
	struct follower *f = &p->follow;
	struct evspace_event ev;
	bool any = false;

	*seen = evspace_wave(f->client)->number;
	options_note_missing(f->command, &f->common, f->client);
	standing_note_unreadable(&f->standing, "evspace phase", f->client);
	follow_tell_loss(f);
	for (; evspace_event(f->client, &ev); any = true)
		blocks_of_events_take(p->making, &ev);
	blocks_of_events_lose(p->making, f->client);
	p->came |= any;
	if (p->on_wave)
		p->on_wave(p->watching);
	if (blocks_of_events_full(p->making)) {
		if (p->watch)
			fprintf(stderr, "evspace phase: 20 million calls in a span are as many as "
					"are kept: what follows is left out\n");
		evspace_stop(f->client);
	}
	return any;
}

int phase_live(struct phase *p, const char *command)
{
	struct follower *f = &p->follow;
	int code;

	f->until_end = true;
	f->common.look.backlog = true;
	f->client = options_open(command, &f->common, &code);
	if (!f->client)
		return code;
	p->making = blocks_of_events_new(p->watch, f->common.look.n_select > 0);
	code = follow_run(f, take_wave, p);
	if (code == EXIT_FINE && !p->came)
		fprintf(stderr, "%s: nothing has come of the run\n", command);
	follow_tell_cost(f);
	options_close(&f->common, f->client);
	return code;
}
