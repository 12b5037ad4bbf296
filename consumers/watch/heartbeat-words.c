/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts into words what a thread does, whom it waits for, and who is to blame. */
#include <stdio.h>
#include <stdlib.h>

#include "consumers/watch/heartbeat.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "tree/data/op.h"
#include "tree/data/op-table.h"
#include "tree/data/process.h"

/* Most lines of a verdict: a thousand ranks behind one are no more news than forty. */
#define VERDICT_LINES 40

const char *heartbeat_doing(const struct heartbeat *h, const struct thread_state *p,
			    char buf[WORDS_TEXT])
{
	const struct words_about about = {p->op, p->op_number, p->peer, p->seq, p->comm};

	buf[0] = '\0';
	words_add(buf, "%s%s", p->running || p->died_inside ? "in " : "", p->op);
	words_add_about(buf, h->client, &about);
	words_add_site(buf, h->client, p->site);
	return buf;
}

const char *heartbeat_region(const struct heartbeat *h, const struct thread_state *p,
			     char buf[WORDS_TEXT])
{
	const char *label = p->region_op ? evspace_label(h->client, p->region) : NULL;

	buf[0] = '\0';
	if (p->region_op)
		words_add(buf, "%s ", p->region_op == OP_EVSPACE_PHASE ? "phase" : "region");
	if (label)
		words_add(buf, "\"%s\"", label);
	else if (p->region_op)
		words_add(buf, "%08x", p->region);
	return buf;
}

/* ---- waiting ---- */

/* Has any thread of these ranks been seen? */
static bool seen(const struct heartbeat *h, const struct thread_state *p)
{
	for (size_t i = 0; i < h->thread_states.fresh; i++) {
		for (size_t k = 0; k < p->n_awaits; k++) {
			if (h->thread_states.items[i].rank == p->awaits[k] &&
			    h->thread_states.items[i].world == p->world)
				return true;
		}
	}
	return false;
}

static void add_cause(const struct heartbeat *h, const struct thread_state *p, char *buf)
{
	const struct thread_state *cause = &h->thread_states.items[p->cause];
	char doing[WORDS_TEXT], who[PROCESS_NAME];

	if (p->n_awaits > 1 || cause->rank != p->awaits[0])
		words_add(buf, ", in the end for %s", process_words(who, cause->rank));
	else
		words_add(buf, ", which is");
	if (cause->gone)
		words_add(buf, " dead");
	else if (cause->running)
		words_add(buf, " %s", heartbeat_doing(h, cause, doing));
	else
		words_add(buf, " outside any operation");
}

static void add_awaits(const struct thread_state *p, char *buf)
{
	switch (p->why) {
	case STALL_NOT:
	case STALL_UNKNOWN:
		words_add(buf, "for whom it waits cannot be told");
		return;
	case STALL_ANY:
		words_add(buf, "waits for any of ");
		break;
	case STALL_SOME:
		words_add(buf, "waits perhaps for ");
		break;
	case STALL_PEER:
	case STALL_MEMBERS:
		words_add(buf, "waits for ");
		break;
	}
	words_add_ranks(buf, p->awaits, p->n_awaits);
	if (p->world)
		words_add(buf, " of its world");
}

const char *heartbeat_waits(const struct heartbeat *h, const struct thread_state *p,
			    char buf[WORDS_TEXT])
{
	buf[0] = '\0';
	if (p->culprit) {
		words_add(buf, "%s up %zu thread%s", h->ended ? "held" : "holds", p->holds_up,
			  plural(p->holds_up, "s"));
		return buf;
	}
	if (!p->stuck)
		return buf;
	add_awaits(p, buf);
	if (p->deadlock)
		words_add(buf, "; a deadlock: all that could help wait as well");
	else if (p->meets)
		words_add(buf,
			  ", which is at the other end of it: a long message, or a slow network");
	else if (p->circle)
		words_add(buf, "; a circle: who waits for whom comes back to it");
	else if (p->cause != STALL_NOBODY)
		add_cause(h, p, buf);
	else if (p->n_awaits && p->why != STALL_ANY && !seen(h, p))
		words_add(buf, ", of which nothing is seen");
	if (p->odd)
		words_add(buf, "; most others wait for it");
	if (heartbeat_is_mismatch(h, p))
		words_add(buf, "; others call a different one under its number");
	return buf;
}

bool heartbeat_is_mismatch(const struct heartbeat *h, const struct thread_state *p)
{
	return p->running && op_is_numbered(p->op_number) &&
	       agreement_is_broken(h->agreement, p->comm, p->seq);
}

/* ---- the verdict ---- */

bool heartbeat_is_waiting(const struct heartbeat *h)
{
	return h->common.look.wait && !h->begun;
}

bool heartbeat_is_known(const struct heartbeat *h)
{
	return !h->begun || h->ended || h->looked_ns - h->begun_ns >= (uint64_t)h->stuck_after_ns;
}

static void print_since(const struct thread_state *p, FILE *out)
{
	char ago[UNIT_TEXT], clock[32];

	words_clock(clock, sizeof(clock), stall_since(p), 3);
	fprintf(out, " for %s (since %s)", unit_duration(ago, (uint64_t)p->still_ns), clock);
}

static void print_region(const struct heartbeat *h, const struct thread_state *p, FILE *out)
{
	char text[WORDS_TEXT];

	if (p->region_op)
		fprintf(out, ", in %s", heartbeat_region(h, p, text));
}

static void print_culprit(const struct heartbeat *h, const struct thread_state *p, FILE *out)
{
	char text[WORDS_TEXT], who[PROCESS_NAME];

	fprintf(out, "%s (%s) %s: %s", process_words(who, p->rank), p->name,
		heartbeat_waits(h, p, text),
		p->gone ? "its process has died, silent" : "outside any operation");
	print_since(p, out);
	fprintf(out, ", %s%s", p->died_inside ? "" : "after ", heartbeat_doing(h, p, text));
	print_region(h, p, out);
	putc('\n', out);
}

static void print_stuck(const struct heartbeat *h, const struct thread_state *p, FILE *out)
{
	char text[WORDS_TEXT], who[PROCESS_NAME];

	fprintf(out, "%s (%s) is stuck: %s", process_words(who, p->rank), p->name,
		heartbeat_doing(h, p, text));
	print_since(p, out);
	print_region(h, p, out);
	fprintf(out, "; %s\n", heartbeat_waits(h, p, text));
}

/* List processes that ended without finishing; threads are sorted by world and rank. */
static void print_dead(const struct heartbeat *h)
{
	const struct thread_state *p = h->thread_states.items;
	int32_t *ranks = memory_new(h->thread_states.fresh + 1, sizeof(*ranks));
	char text[WORDS_TEXT];
	size_t n = 0;

	for (size_t i = 0; i < h->thread_states.fresh; i++) {
		if (p[i].gone && (n == 0 || ranks[n - 1] != p[i].rank))
			ranks[n++] = p[i].rank;
		if (n == 0 || (i + 1 < h->thread_states.fresh && p[i + 1].world == p[i].world))
			continue;
		text[0] = '\0';
		words_add_ranks(text, ranks, n);
		if (p[i].world)
			words_add(text, " of the spawned world %08x", p[i].world);
		printf("%s ended without finishing: killed, or without %s\n", text,
		       process_is_task(ranks[0]) ? "pvm_exit" : "MPI_Finalize");
		n = 0;
	}
	free(ranks);
}

/* Its processes are there, but none was selected. */
static bool is_unmatched(const struct heartbeat *h)
{
	const struct evspace_wave *w = evspace_wave(h->client);

	return h->common.look.n_select && w && w->processes && !w->elements;
}

void heartbeat_unknown(const struct heartbeat *h, FILE *out)
{
	char looked[UNIT_TEXT], after[UNIT_TEXT];

	fprintf(out, "not known yet: looked for %s, --stuck-after is %s\n",
		unit_duration(looked, h->looked_ns - h->begun_ns),
		unit_duration(after, (uint64_t)h->stuck_after_ns));
}

static void print_fine(const struct heartbeat *h)
{
	if (heartbeat_is_waiting(h))
		printf("gave up waiting for %s%s\n", h->common.look.run ? "run " : "a run",
		       h->common.look.run ? h->common.look.run : "");
	else if (h->ended)
		printf("run %s has ended: none of its processes lives\n", h->run);
	else if (h->thread_states.fresh == 0)
		printf("no thread of a program is seen%s%s\n",
		       *h->run ? is_unmatched(h) ? " that --select says, of run "
						 : ": nobody has run "
			       : ", there is no run",
		       h->run);
	else if (evspace_wave(h->client)->processes == 0)
		printf("run %s: none of its processes that are seen lives\n", h->run);
	else if (!heartbeat_is_known(h))
		heartbeat_unknown(h, stdout);
	else if (h->thread_states.fresh == h->dead + 1)
		printf("the %s thread makes progress\n", h->dead ? "other" : "only");
	else if (h->dead < h->thread_states.fresh)
		printf("all %s%zu threads make progress\n", h->dead ? "other " : "",
		       h->thread_states.fresh - h->dead);
}

size_t heartbeat_awaited(const struct heartbeat *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->thread_states.fresh; i++)
		n += h->thread_states.items[i].culprit && h->thread_states.items[i].stuck;
	return n;
}

/* A host of which nothing is known is bad news, too. */
static void print_missing(const struct heartbeat *h)
{
	const struct evspace_wave *w = evspace_wave(h->client);

	for (size_t i = 0; w && i < w->n_missing; i++) {
		char text[WORDS_TEXT] = "";

		words_add_missing(text, &w->missing[i]);
		printf("%s cannot be told: %s\n", w->missing[i].leaf, text);
	}
	if (w && w->unreadable)
		standing_say_unreadable(h->client, "", stdout);
	if (h->silent)
		printf("no host is known: the last look was not answered\n");
}

void heartbeat_say_disagreements(const struct heartbeat *h, FILE *out)
{
	char text[WORDS_TEXT];

	for (size_t i = 0; i < h->n_found; i++)
		fprintf(out, "%s\n",
			disagreement_words(text, h->client, &h->found[i],
					   evspace_wave(h->client)->taken_ns));
}

void heartbeat_say_stuck(const struct heartbeat *h, FILE *out)
{
	const struct thread_state *all = h->thread_states.items;
	size_t n = h->thread_states.fresh, lines = 0;

	for (size_t i = 0; i < n; i++) {
		if (all[i].culprit && all[i].stuck)
			print_culprit(h, &all[i], out);
	}
	for (int odd = 1; odd >= 0; odd--) {
		for (size_t i = 0; i < n; i++)
			if (all[i].stuck && all[i].running && all[i].odd == odd &&
			    lines++ < VERDICT_LINES)
				print_stuck(h, &all[i], out);
	}
	if (lines > VERDICT_LINES)
		fprintf(out, "and %zu more thread%s\n", lines - VERDICT_LINES,
			plural(lines - VERDICT_LINES, "s"));
}

void heartbeat_verdict(const struct heartbeat *h)
{
	print_missing(h);
	print_dead(h);
	heartbeat_say_disagreements(h, stdout);
	if (h->ended || (!h->stuck && !h->n_found))
		print_fine(h);
	heartbeat_say_stuck(h, stdout);
}
