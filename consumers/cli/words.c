/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts operations, ranks and times into words, and texts into CSV. */
#include "consumers/cli/words.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "pathmap/base/interval.h"
#include "pathmap/base/quantity.h"
#include "tree/data/op-table.h"
#include "tree/data/op.h"
#include "tree/data/process.h"
#include "tree/data/tuple.h"

/* Most ranks, or ranges of them, in a list. */
#define RANGES 6

#define NS_PER_S 1000000000

/* A host missing for less than this was there at the last look. */
#define JUST_NOW_S	0.05
#define WAITED_LEAST_US 100000u

void words_add(char buf[WORDS_TEXT], const char *format, ...)
{
	size_t used = strlen(buf);
	va_list args;

	va_start(args, format);
	vsnprintf(buf + used, WORDS_TEXT - used, format, args);
	va_end(args);
}

static void add_number(char *buf, const char *before, int32_t rank)
{
	if (process_is_task(rank))
		words_add(buf, "%st%x", before, (unsigned)rank);
	else
		words_add(buf, "%s%d", before, rank);
}

void words_add_missing(char buf[WORDS_TEXT], const struct evspace_missing *m)
{
	char since[UNIT_TEXT];

	words_add(buf, "%s", m->why);
	if (m->since_s < JUST_NOW_S)
		words_add(buf, " just now");
	else
		words_add(buf, " for %s", unit_duration(since, (uint64_t)(m->since_s * NS_PER_S)));
	if (m->reason[0])
		words_add(buf, ": %s", m->reason);
	else if (strcmp(m->why, "late") == 0)
		words_add(buf, ": no answer within --deadline; is that host very busy?");
	else
		words_add(buf, ": no connection to it, or to an agent on the way, for now");
}

void words_add_waited(char buf[WORDS_TEXT], const struct evspace_wave *w)
{
	char waited[UNIT_TEXT];

	if (w->waited_us >= WAITED_LEAST_US)
		words_add(buf, "; an agent waited %s for a core",
			  unit_duration(waited, w->waited_us * UINT64_C(1000)));
}

void words_add_ranks(char buf[WORDS_TEXT], const int32_t *ranks, size_t n)
{
	struct interval_set set = {0};
	size_t left = 0;

	words_add(buf, "%s%s ", n && process_is_task(ranks[0]) ? "task" : "rank", plural(n, "s"));
	for (size_t i = 0; i < n; i++)
		interval_set_add(&set, (uint64_t)ranks[i], (uint64_t)ranks[i] + 1);
	for (size_t i = 0; i < set.n; i++)
		left += (size_t)(set.items[i].to - set.items[i].from);
	for (size_t i = 0; i < set.n && i < RANGES; i++) {
		size_t some = (size_t)(set.items[i].to - set.items[i].from);

		add_number(buf, i ? ", " : "", (int32_t)set.items[i].from);
		if (some > 1)
			add_number(buf, some == 2 ? ", " : "-", (int32_t)set.items[i].to - 1);
		left -= some;
	}
	if (left > 0)
		words_add(buf, " and %zu more", left);
	interval_set_fini(&set);
}

static void add_message(char *buf, const struct words_about *a)
{
	bool receives = strstr(a->op, "ecv") || strstr(a->op, "robe");
	bool sends = strstr(a->op, "end");
	char who[PROCESS_NAME];

	words_add(buf, receives && sends ? " with " : receives ? " from " : " to ");
	if (a->peer == TUPLE_ANY_PEER)
		words_add(buf, "any %s", op_is_pvm(a->op_number) ? "task" : "rank");
	else
		words_add(buf, "%s", process_words(who, a->peer));
	if (a->seq_or_tag == UINT32_MAX)
		words_add(buf, " (any tag)");
	else
		words_add(buf, " (tag %u)", a->seq_or_tag);
}

/* Windows and files have ids of their own, but are made on a communicator. */
static bool on_communicator(uint16_t op)
{
	int channel = op_channel(op);

	return channel == CHANNEL_COLLECTIVE || channel == CHANNEL_COMM;
}

static void add_collective(char *buf, const struct evspace_client *client,
			   const struct words_about *a)
{
	words_add(buf, " #%u", a->seq_or_tag);
	if (evspace_is_world(client, a->comm))
		words_add(buf, " on the world");
	else if (a->comm && on_communicator(a->op_number))
		words_add(buf, " on communicator %08x", a->comm);
	else if (a->comm)
		words_add(buf, " on %08x", a->comm);
}

/* of evspace.h: the number of an iteration, the name of a region or phase */
static void add_user(char *buf, const struct evspace_client *client, const struct words_about *a)
{
	const char *label = evspace_label(client, a->seq_or_tag);

	if (a->op_number == OP_EVSPACE_ITERATION)
		words_add(buf, " %u", a->seq_or_tag);
	else if (label)
		words_add(buf, " \"%s\"", label);
	else
		words_add(buf, " %08x", a->seq_or_tag);
}

/* of monitors: the wave, and the view that it is of */
static void add_monitor(char *buf, const struct evspace_client *client, const struct words_about *a)
{
	const char *view = evspace_label(client, a->comm);
	const char *child = a->op_number == OP_EVSPACE_ASK ? evspace_host(client, a->peer) : NULL;

	if (child)
		words_add(buf, " %s", child);
	if (a->op_number == OP_EVSPACE_WAVE)
		words_add(buf, " of %d input%s", a->peer, plural(a->peer, "s"));
	words_add(buf, " #%u", a->seq_or_tag);
	if (view)
		words_add(buf, " of %s", view);
}

void words_class(char *buf, size_t room, const struct evspace_client *client, const char *group,
		 uint32_t comm)
{
	const char *view = comm ? evspace_label(client, comm) : NULL;

	if (!comm)
		snprintf(buf, room, "%.40s", group);
	else if (evspace_is_world(client, comm))
		snprintf(buf, room, "%.40s@world", group);
	else if (view)
		snprintf(buf, room, "%.40s@%.40s", group, view);
	else
		snprintf(buf, room, "%.40s@%08x", group, comm);
}

void words_add_about(char buf[WORDS_TEXT], const struct evspace_client *client,
		     const struct words_about *a)
{
	int channel = op_channel(a->op_number);
	char who[PROCESS_NAME];

	if (op_is_collective(a->op_number)) {
		add_collective(buf, client, a);
	} else if (channel == CHANNEL_USER) {
		add_user(buf, client, a);
	} else if (channel >= CHANNEL_PROGRAMS) {
		add_monitor(buf, client, a);
	} else if (channel == CHANNEL_WAIT) {
		if (a->seq_or_tag != 1)
			words_add(buf, " of %u requests", a->seq_or_tag);
		if (a->peer >= 0)
			words_add(buf, " with %s", process_words(who, a->peer));
	} else if (a->peer >= 0 || a->peer == TUPLE_ANY_PEER) {
		add_message(buf, a);
	}
}

void words_add_site(char buf[WORDS_TEXT], const struct evspace_client *client, uint32_t site)
{
	const char *text = site ? evspace_label(client, site) : NULL;

	if (text)
		words_add(buf, " at %s", text);
}

void words_add_collective(char buf[WORDS_TEXT], const struct evspace_collective *c)
{
	if (c->root >= 0)
		words_add(buf, ", root %d", c->root);
	if (c->reduction)
		words_add(buf, ", %s%s", c->reduction, c->type ? " of" : "");
	if (c->type)
		words_add(buf, "%s %s", c->reduction ? "" : ",", c->type);
}

void words_clock(char *buf, size_t room, int64_t ns, int digits)
{
	time_t second = (time_t)(ns / NS_PER_S);
	long rest = ns % NS_PER_S;
	char clock[16] = "";
	struct tm tm;

	/* a time before 1970 is from a broken clock */
	if (rest < 0)
		rest = 0;
	for (int i = digits; i < 9; i++)
		rest /= 10;
	if (localtime_r(&second, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	snprintf(buf, room, "%s.%0*ld", clock, digits, rest);
}

void words_csv(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	putc_unlocked('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc_unlocked('"', out);
		putc_unlocked(*text, out);
	}
	putc_unlocked('"', out);
}
