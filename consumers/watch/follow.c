/* SPDX-License-Identifier: BSD-3-Clause */
/* Follows a run: takes its waves until it has ended and all that is left of it has come. */
#include "consumers/watch/follow.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/status-line.h"
#include "consumers/client/client-replay.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/clock.h"
#include "tree/wire/wire.h"

/* One wave may have been asked for just before the last tuple was written, so wait for two. */
#define QUIET_WAVES 2u

#define TELL_NS 10000000000u

/* ---- the end ---- */

/* A host that has refused for so long was asked again and again, and nobody has mended it. */
#define REFUSED_S 10.0

/* Hosts that are named when it ends without them. */
#define NAMED_MOST 4u

/* Does the wave lack hosts, and these alone, that refuse for good, as far as can be seen, and
 * nobody else owes something? */
static bool follow_is_refused(const struct follower *f)
{
	const struct evspace_wave *w = evspace_wave(f->client);
	struct evspace_counts n;
	struct evspace_leaf leaf;
	unsigned owing = 0;

	for (size_t i = 0; i < w->n_missing; i++) {
		if (strcmp(w->missing[i].why, wire_missing(MISSING_REFUSED)) != 0 ||
		    w->missing[i].since_s < REFUSED_S)
			return false;
		for (size_t k = 0; evspace_leaf(f->client, k, &leaf); k++)
			owing += leaf.owing && strcmp(leaf.name, w->missing[i].leaf) == 0;
	}
	evspace_counts(f->client, &n);
	return w->n_missing > 0 && n.owing == owing;
}

static void refused_write(FILE *line, const void *arg)
{
	const struct follower *f = arg;
	const struct evspace_wave *w = evspace_wave(f->client);
	char since[UNIT_TEXT];

	fprintf(line, "evspace %s: ended without %zu of %u host%s, which refuse%s", f->command,
		w->n_missing, w->leaves, plural(w->leaves, "s"), w->n_missing == 1 ? "s" : "");
	for (size_t i = 0; i < w->n_missing && i < NAMED_MOST; i++)
		fprintf(line, "%s %s, for %s: %s", i ? ";" : ":", w->missing[i].leaf,
			unit_duration(since, (uint64_t)(w->missing[i].since_s * 1e9)),
			w->missing[i].reason);
	if (w->n_missing > NAMED_MOST)
		fprintf(line, "; and %zu more", w->n_missing - NAMED_MOST);
}

/* Is the run over: does no live process write more, is no host missing that may come back, and is
 * nothing left to come? @any: the wave brought something. Counts waves that bring nothing, and are
 * sure of it. */
static bool follow_is_quiet(struct follower *f, bool any)
{
	const struct evspace_wave *w = evspace_wave(f->client);
	const bool refused = follow_is_refused(f);
	struct evspace_counts n;
	uint64_t passed_by;

	evspace_counts(f->client, &n);
	/* tuples filtered from a stream were still read: there may be more after them */
	passed_by = n.read + n.lost + n.discarded;
	any = any || (evspace_is_stream(f->client) && passed_by != f->passed_by);
	f->passed_by = passed_by;
	f->lived |= w->processes > 0;
	if (any || (!refused && (!w->sure || w->n_missing)) || w->processes ||
	    (w->elements == 0 && w->unreadable == 0 && w->answered > 0))
		f->quiet = 0;
	else
		f->quiet++;
	return f->quiet >= QUIET_WAVES && (refused || n.owing == 0);
}

/* It is over. Returns the exit code. */
static int follow_over(const struct follower *f)
{
	if (!evspace_wave(f->client)->n_missing)
		return f->standing.unreadable ? EXIT_BAD_NEWS : EXIT_FINE;
	table_say_of(stderr, refused_write, f);
	return EXIT_BAD_NEWS;
}

/* A run that had ended before we began ends now, unless the user has set another end. */
static bool follow_is_over(struct follower *f, bool any)
{
	return follow_is_quiet(f, any) &&
	       (f->until_end || (!f->lived && !f->common.count && !f->end_ns));
}

/* ---- the waves ---- */

/* Wait for the next wave. Returns 1 when it has come, 0 when interrupted or the time is over, or
 * -1. The screen is free then. */
static int follow_next(struct follower *f)
{
	uint64_t now;
	int rc;

	do {
		now = clock_mono_ns();
		if (f->end_ns && now >= f->end_ns)
			return 0;
		if (!f->end_ns)
			rc = evspace_next(f->client, -1);
		else if ((f->end_ns - now) / 1000000u < INT_MAX)
			rc = evspace_next(f->client, (int)((f->end_ns - now) / 1000000u) + 1);
		else
			rc = evspace_next(f->client, INT_MAX);
	} while (rc == 0 && f->end_ns && clock_mono_ns() >= f->end_ns);
	status_line_clear();
	return rc;
}

/* Does the count begin with the run's first wave? An archive begins before its program does. */
static bool follow_waits(const struct follower *f)
{
	return f->common.look.wait || client_replay_share(f->client) >= 0;
}

/* With --wait, the time and the count begin with the run's first wave, and of an archive the count;
 * @seen came before it. */
static void follow_begin(struct follower *f, uint64_t seen)
{
	const struct evspace_wave *w = evspace_wave(f->client);

	if (f->begun || (w->processes == 0 && w->elements == 0 && w->unreadable == 0))
		return;
	f->begun = true;
	if (!follow_waits(f))
		return;
	f->passed = seen;
	if (f->end_ns && f->common.look.wait)
		f->end_ns = clock_mono_ns() + f->common.duration_ns;
}

/* Was this the last wave of those that are counted? */
static bool follow_is_last(const struct follower *f, uint64_t seen)
{
	return f->common.count && (f->begun || !follow_waits(f)) &&
	       seen >= f->passed + f->common.count;
}

/* The time is over, or it was interrupted. Returns the exit code. */
static int follow_end(struct follower *f, const char *name)
{
	if ((f->end_ns && clock_mono_ns() >= f->end_ns) || (f->common.look.wait && !f->begun))
		return standing_end(&f->standing, name, &f->common, f->client);
	return EXIT_FINE;
}

/* Tuples lost in this wave that were overwritten before their element was read at all. */
static uint64_t lost_before(const struct follower *f)
{
	struct evspace_loss loss;
	uint64_t n = 0;

	if (!f->common.look.backlog || evspace_wave(f->client)->lost == 0)
		return 0;
	evspace_rewind(f->client);
	while (evspace_loss(f->client, &loss))
		n += loss.first == 0 && !loss.discarded ? loss.lost : 0;
	evspace_rewind(f->client);
	return n;
}

int follow_run(struct follower *f, follow_take *take, void *arg)
{
	uint64_t seen = 0;
	char name[32];
	bool any, last;
	int rc;

	snprintf(name, sizeof(name), "evspace %s", f->command);
	options_catch_signals(f->client);
	f->toll = toll_of(f->client, f->command, f->common.json);
	if (f->common.duration_ns)
		f->end_ns = clock_mono_ns() + f->common.duration_ns;
	while ((rc = follow_next(f)) > 0) {
		follow_begin(f, seen);
		options_note_remapped(f->command, &f->common, f->client);
		f->loss.lost += evspace_wave(f->client)->lost;
		f->loss.before += lost_before(f);
		f->loss.read += evspace_wave(f->client)->read;
		any = take(arg, &seen);
		/* Show it at once. A reader that has closed the pipe, such as head(1), has seen
		 * what it wanted. */
		errno = 0;
		f->unread = fflush(stdout) != 0 || ferror(stdout);
		if (f->unread)
			return errno == 0 || errno == EPIPE ? EXIT_FINE : EXIT_BAD_NEWS;
		toll_step(f->toll);
		last = follow_is_last(f, seen);
		rc = standing_take(&f->standing, name, &f->common, f->client, last);
		if (rc >= 0)
			return rc;
		if (follow_is_over(f, any))
			return follow_over(f);
		if (last)
			return EXIT_FINE;
	}
	return rc < 0 ? options_ended(name, f->client) : follow_end(f, name);
}

/* ---- what was lost ---- */

/* What to do about losses depends on who has set the rate, and on when they were. */
static void what_helps(const struct follower *f, const struct evspace_wave *w, char *buf, size_t n)
{
	const struct common *common = &f->common;
	static const char room[] = "more room helps (evspace run --capacity N)";
	const int decimals = w->rate_hz < 10 ? 2 : 0;

	if (f->loss.before && f->loss.lost <= f->loss.before)
		snprintf(buf, n, "overwritten before this began: for that, %s", room);
	else if (w->held_back)
		snprintf(buf, n, "%.*f looks a second cost what they may: --rate max, or %s",
			 decimals, w->rate_hz, room);
	else if (common->look.hurry)
		snprintf(buf, n, "now looking %.*f times a second; if that still loses, %s",
			 decimals, w->rate_hz, room);
	else if (w->rate_hz > 0 && w->needed_hz > w->rate_hz)
		snprintf(buf, n, "--rate %.0f would do, or none, which is as often as it takes",
			 w->needed_hz + 0.5);
	else
		snprintf(buf, n, "%s", room);
}

const char *follow_loss_words(const struct follower *f, char *buf)
{
	uint64_t lost = f->loss.lost, all = lost + f->loss.read;
	char lost_text[UNIT_TEXT], all_text[UNIT_TEXT], helps[FOLLOW_LOSS / 2];

	buf[0] = '\0';
	if (lost == 0)
		return buf;
	what_helps(f, evspace_wave(f->client), helps, sizeof(helps));
	snprintf(buf, FOLLOW_LOSS, "%s of %s tuple%s lost; %s", unit_count(lost_text, lost),
		 unit_count(all_text, all), plural(all, "s"), helps);
	return buf;
}

void follow_tell_loss(struct follower *f)
{
	uint64_t now = clock_mono_ns();
	char words[FOLLOW_LOSS];

	if (f->loss.lost == 0 || (f->loss.told_ns && now - f->loss.told_ns < TELL_NS))
		return;
	fprintf(stderr, "evspace %s: %s\n", f->command, follow_loss_words(f, words));
	f->loss.lost = f->loss.read = f->loss.before = 0;
	f->loss.told_ns = now;
}

void follow_tell_cost(struct follower *f)
{
	if (!f->unread)
		toll_end(f->toll);
	toll_free(f->toll);
	f->toll = NULL;
}
