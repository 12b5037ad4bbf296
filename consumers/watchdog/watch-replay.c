/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace watch --from DIR: says of an archive what would have been said while the program ran. */
#include <stdio.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/client/client-replay.h"
#include "consumers/watchdog/watch.h"
#include "pathmap/base/quantity.h"

bool watch_replays(const struct watch *w)
{
	return client_replay_folder(w->heartbeat.common.look.connect) != NULL;
}

/* Is it said what means something there? */
static int options_check(struct watch *w, const char *command)
{
	static const char *const meant[] = {"on", "check", "from", "speed"};
	const struct common *common = &w->heartbeat.common;

	for (unsigned i = 0; common->given[i]; i++) {
		size_t k = 0;

		while (k < sizeof(meant) / sizeof(meant[0]) &&
		       strcmp(common->given[i], meant[k]) != 0)
			k++;
		if (k < sizeof(meant) / sizeof(meant[0]))
			continue;
		fprintf(stderr, "%s: --%s means nothing with --from\n", command, common->given[i]);
		return EXIT_USAGE;
	}
	if (common->n_words > 0) {
		fprintf(stderr, "%s: --from is of a program that has run: none is started\n",
			command);
		return EXIT_USAGE;
	}
	if (!w->on[WATCH_STUCK])
		return -1;
	fprintf(stderr,
		"%s: --on stuck: calls that have not ended are in no archive; there are desync, "
		"late and slower\n",
		command);
	return EXIT_USAGE;
}

/* By the time of events: of a run that was kept when it had ended, waves are all of one moment. */
static void wave_take(struct watch *w)
{
	struct heartbeat *h = &w->heartbeat;

	watch_stream_wave(w);
	h->n_found = agreement_find(h->agreement, false, &h->found);
	watch_alarms(w, (uint64_t)w->newest_ns, false);
}

/* Nobody else comes. */
static void end_take(struct watch *w)
{
	struct heartbeat *h = &w->heartbeat;

	h->n_found = agreement_find(h->agreement, true, &h->found);
	if (w->late)
		colop_live_end(w->late, (uint64_t)w->newest_ns);
	watch_find_slow(w);
	watch_alarms(w, (uint64_t)w->newest_ns, true);
}

static void told_write(const struct watch *w, uint64_t tuples)
{
	const char *open = w->late ? colop_live_open(w->late) : NULL;
	char n[UNIT_TEXT];

	if (open)
		fprintf(stderr, "evspace watch: %s\n", open);
	fprintf(stderr, "evspace watch: %s event%s of %s: ", unit_count(n, tuples),
		plural(tuples, "s"), client_replay_folder(w->heartbeat.common.look.connect));
	if (w->seen)
		fprintf(stderr, "something was seen %u time%s\n", w->seen, plural(w->seen, "s"));
	else
		fprintf(stderr, "nothing was seen\n");
}

int watch_replay(struct watch *w, const char *command)
{
	struct heartbeat *h = &w->heartbeat;
	struct evspace_counts counts;
	int code = options_check(w, command), rc;

	if (code >= 0)
		return code;
	h->common.look.wait = 0;
	code = watch_stream_open(w);
	if (code >= 0)
		return code;
	/* members and labels are those of the events */
	h->client = w->stream;
	options_catch_signals(w->stream);
	while ((rc = evspace_next(w->stream, -1)) > 0)
		wave_take(w);
	if (rc == 0 && w->newest_ns > 0)
		end_take(w);
	evspace_counts(w->stream, &counts);
	h->client = NULL;
	if (rc < 0)
		return options_ended("evspace watch", w->stream);
	if (options_interrupted()) {
		fprintf(stderr, "evspace watch: interrupted after %.0f %% of it\n",
			100 * client_replay_share(w->stream));
		return EXIT_BAD_NEWS;
	}
	told_write(w, counts.delivered);
	return w->check && w->seen ? EXIT_BAD_NEWS : EXIT_FINE;
}
