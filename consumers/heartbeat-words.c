/* SPDX-License-Identifier: BSD-3-Clause */
/* Says in words what a thread does, whom it waits for, and who is to blame. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "consumers/heartbeat.h"
#include "consumers/unit.h"
#include "tree/op.h"
#include "tree/tuple.h"

/* Lines of a verdict at most: a thousand ranks behind one are no more news than forty. */
#define VERDICT_LINES 40

/* Ranks or ranges of ranks that a list names. */
#define RANGES 6

static void add(char *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(char *buf, const char *format, ...)
{
	size_t used = strlen(buf);
	va_list args;

	va_start(args, format);
	vsnprintf(buf + used, HEARTBEAT_TEXT - used, format, args);
	va_end(args);
}

/* "rank 3", "ranks 0-2, 5 and 12 more" */
static void add_ranks(char *buf, const int32_t *ranks, size_t n)
{
	size_t ranges = 0, i = 0, end;

	add(buf, n == 1 ? "rank " : "ranks ");
	for (; i < n && ranges < RANGES; i = end, ranges++) {
		for (end = i + 1; end < n && ranks[end] == ranks[end - 1] + 1; end++)
			;
		add(buf, "%s%d", i ? ", " : "", ranks[i]);
		if (end - i > 1)
			add(buf, "%s%d", end - i == 2 ? ", " : "-", ranks[end - 1]);
	}
	if (i < n)
		add(buf, " and %zu more", n - i);
}

static void add_comm(const struct heartbeat *h, const struct pulse *p, char *buf)
{
	if (evspace_is_world(h->client, p->comm))
		add(buf, " on the world");
	else if (p->comm)
		add(buf, " on communicator %08x", p->comm);
}

static void add_peer(const struct pulse *p, char *buf)
{
	bool receives = strstr(p->op, "ecv") || strstr(p->op, "robe");
	bool sends = strstr(p->op, "end");

	add(buf, receives && sends ? " with " : receives ? " from " : " to ");
	if (p->peer == TUPLE_ANY_PEER)
		add(buf, "any rank");
	else
		add(buf, "rank %d", p->peer);
	if (p->seq == UINT32_MAX)
		add(buf, " (any tag)");
	else
		add(buf, " (tag %u)", p->seq);
}

const char *heartbeat_doing(const struct heartbeat *h, const struct pulse *p,
			    char buf[HEARTBEAT_TEXT])
{
	int channel = op_channel(p->op_number);

	buf[0] = '\0';
	add(buf, "%s%s", p->running ? "in " : "", p->op);
	if (channel == CHANNEL_COLLECTIVE || channel == CHANNEL_COMM) {
		add(buf, " #%u", p->seq);
		add_comm(h, p, buf);
	} else if (channel == CHANNEL_WAIT) {
		if (p->seq != 1)
			add(buf, " of %u requests", p->seq);
		if (p->peer >= 0)
			add(buf, " with rank %d", p->peer);
	} else if (p->peer >= 0 || p->peer == TUPLE_ANY_PEER) {
		add_peer(p, buf);
	}
	return buf;
}

/* ---- waiting ---- */

/* Has any thread of these ranks been seen? */
static bool seen(const struct heartbeat *h, const struct pulse *p)
{
	for (size_t i = 0; i < h->pulses.fresh; i++) {
		for (size_t k = 0; k < p->n_awaits; k++) {
			if (h->pulses.items[i].rank == p->awaits[k])
				return true;
		}
	}
	return false;
}

static void add_cause(const struct heartbeat *h, const struct pulse *p, char *buf)
{
	const struct pulse *cause = &h->pulses.items[p->cause];
	char doing[HEARTBEAT_TEXT];

	if (p->n_awaits > 1 || cause->rank != p->awaits[0])
		add(buf, ", in the end for rank %d", cause->rank);
	else
		add(buf, ", which is");
	if (cause->running)
		add(buf, " %s", heartbeat_doing(h, cause, doing));
	else
		add(buf, " outside any operation");
}

static void add_awaits(const struct pulse *p, char *buf)
{
	switch (p->why) {
	case STALL_NOT:
	case STALL_UNKNOWN:
		add(buf, "for whom it waits cannot be told");
		return;
	case STALL_ANY:
		add(buf, "waits for any of ");
		break;
	case STALL_SOME:
		add(buf, "waits perhaps for ");
		break;
	case STALL_PEER:
	case STALL_MEMBERS:
		add(buf, "waits for ");
		break;
	}
	add_ranks(buf, p->awaits, p->n_awaits);
}

const char *heartbeat_waits(const struct heartbeat *h, const struct pulse *p,
			    char buf[HEARTBEAT_TEXT])
{
	buf[0] = '\0';
	if (p->culprit) {
		add(buf, "holds up %zu thread%s", p->holds_up, p->holds_up == 1 ? "" : "s");
		return buf;
	}
	if (!p->stuck)
		return buf;
	add_awaits(p, buf);
	if (p->deadlock)
		add(buf, "; a deadlock: all that could help wait as well");
	else if (p->meets)
		add(buf, ", which is at the other end of it: a long message, or a slow network");
	else if (p->circle)
		add(buf, "; a circle: who waits for whom comes back to it");
	else if (p->cause != STALL_NOBODY)
		add_cause(h, p, buf);
	else if (p->n_awaits && p->why != STALL_ANY && !seen(h, p))
		add(buf, ", of which nothing is seen");
	if (p->mismatch)
		add(buf, "; others are in a different collective of the same number");
	return buf;
}

/* ---- the verdict ---- */

static void print_since(const struct pulse *p)
{
	int64_t since = p->running ? p->start_ns : p->end_ns;
	time_t second = (time_t)(since / 1000000000);
	char ago[UNIT_TEXT], clock[16];
	struct tm tm;

	localtime_r(&second, &tm);
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	printf(" for %s (since %s.%03d)", unit_duration(ago, (uint64_t)p->still_ns), clock,
	       (int)(since % 1000000000 / 1000000));
}

static void print_culprit(const struct heartbeat *h, const struct pulse *p)
{
	char text[HEARTBEAT_TEXT];

	printf("rank %d (%s) %s: outside any operation", p->rank, p->name,
	       heartbeat_waits(h, p, text));
	print_since(p);
	printf(", after %s\n", heartbeat_doing(h, p, text));
}

static void print_stuck(const struct heartbeat *h, const struct pulse *p)
{
	char text[HEARTBEAT_TEXT];

	printf("rank %d (%s) is stuck: %s", p->rank, p->name, heartbeat_doing(h, p, text));
	print_since(p);
	printf("; %s\n", heartbeat_waits(h, p, text));
}

static void print_fine(const struct heartbeat *h)
{
	const struct evspace_wave *w = evspace_wave(h->client);

	if (h->ended)
		printf("run %s has ended: none of its processes lives\n", evspace_run(h->client));
	else if (h->pulses.fresh == 0)
		printf("no thread of a program is seen yet\n");
	else
		printf("all %zu threads make progress\n", h->pulses.fresh);
	for (size_t i = 0; w && i < w->n_missing; i++)
		printf("%s cannot be told: %s for %.1f s\n", w->missing[i].leaf, w->missing[i].why,
		       w->missing[i].since_s);
}

void heartbeat_verdict(const struct heartbeat *h)
{
	size_t lines = 0;

	if (!h->stuck) {
		print_fine(h);
		return;
	}
	for (size_t i = 0; i < h->pulses.fresh; i++) {
		if (h->pulses.items[i].culprit && h->pulses.items[i].stuck)
			print_culprit(h, &h->pulses.items[i]);
	}
	for (size_t i = 0; i < h->pulses.fresh; i++) {
		const struct pulse *p = &h->pulses.items[i];

		if (p->stuck && p->running && lines++ < VERDICT_LINES)
			print_stuck(h, p);
	}
	if (lines > VERDICT_LINES)
		printf("and %zu more threads\n", lines - VERDICT_LINES);
}
