/* SPDX-License-Identifier: BSD-3-Clause */
/* Says which leaves behind a hop a wave lacks, since when and why. */
#include "tree/scope/hop-private.h"

#include <stdio.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"
#include "tree/data/span.h"

/* A leaf has no stand-in: after one wave has waited for it in vain, the others do not until it
 * speaks. */
bool hop_left_out(const struct hop *hop)
{
	uint64_t owes = child_owes_since(&hop->user);

	return child_is_silent(&hop->user) ||
	       (hop->place->n_children == 0 && owes && owes <= hop->late_asked_ns);
}

/* If not all are asked at once, it is asked after the wave began. */
void hop_trace_answer(const struct hop *hop, const struct wave *w, uint64_t bytes, bool late)
{
	uint64_t since = hop->asked_ns ? hop->asked_ns[w->number % GATHER_WINDOW] : 0;

	span_write(hop->scope->span, &(struct trace){
					     .op = OP_EVSPACE_ASK,
					     .flags = late ? TUPLE_FAILED : 0,
					     .since_ns = since > w->asked_ns ? since : w->asked_ns,
					     .bytes = bytes,
					     .peer = (int32_t)hop->place->index,
					     .wave = w->number,
				     });
}

/* Note all leaves there as missing in the wave. */
static void hop_miss_all(const struct hop *hop, struct wave *w, enum missing_why why,
			 uint64_t since, const char *text)
{
	for (size_t i = 0; i < hop->below.n; i++)
		wave_miss(w, hop->below.leaves[i], why, since, text);
}

void hop_displaced(const struct hop *hop, struct wave *w, const char *why)
{
	bool *said = memory_new(hop->below.n + 1, sizeof(*said));
	char text[300];

	for (size_t i = 0; i < w->n_missing; i++) {
		if (below_has(&hop->below, w->missing[i].leaf))
			said[below_first(&hop->below, w->missing[i].leaf)] = true;
	}
	/* whose it is, where others are named for it */
	if (hop->place->n_children > 0)
		snprintf(text, sizeof(text), "%s above it: %s", hop->place->node, why);
	else
		snprintf(text, sizeof(text), "%s", why);
	for (size_t i = 0; i < hop->below.n; i++) {
		if (!said[i])
			wave_miss(w, hop->below.leaves[i], MISSING_REFUSED, w->asked_ns, text);
	}
	free(said);
}

/* It is back, and others may have taken it for dead. */
void hop_note_waited(struct hop *hop, uint32_t us)
{
	char text[96];

	if (us < CHILD_SILENT_MS * 1000u)
		return;
	snprintf(text, sizeof(text), "it%s waited %.2f s for a core",
		 hop->place->n_children > 0 ? ", or one below it," : "", us / 1e6);
	child_say(&hop->user, text);
}

/* Why the child says nothing, in words that go with each leaf below it; NULL: nothing is known. */
static const char *hop_excuse(const struct hop *hop, enum silence silence, char *buf, size_t n)
{
	/* most likely it works, or waits for others */
	if (silence == SILENCE_HUNG && !child_is_silent(&hop->user))
		return NULL;
	if (hop->place->n_children == 0)
		return silence_words(silence);
	snprintf(buf, n, "%s above it: %s", hop->place->node, silence_words(silence));
	return buf;
}

void hop_miss(struct hop *hop, struct wave *w, bool late)
{
	bool leaf = hop->place->n_children == 0, there = child_link(&hop->user);
	enum silence silence = there ? child_silence(&hop->user) : SILENCE_CUT;
	uint64_t since = child_down_since(&hop->user);
	/* a starved leaf is late for each wave, also if this one does not wait for it */
	bool is_late = (late && (since == 0 || (leaf && there))) ||
		       (leaf && hop->late_since && since == 0 && silence == SILENCE_STARVED);
	enum missing_why why = hop->refused.text[0] ? MISSING_REFUSED
			       : is_late	    ? MISSING_LATE
						    : MISSING_UNREACHABLE;
	char excuse[160];
	const char *text;

	if (late)
		hop_trace_answer(hop, w, 0, true);
	if (is_late && hop->late_since == 0)
		hop->late_since = w->asked_ns;
	if (is_late && hop->late_asked_ns < w->asked_ns)
		hop->late_asked_ns = w->asked_ns;
	if (why != MISSING_UNREACHABLE)
		since = why == MISSING_LATE ? hop->late_since : hop->refused_ns;
	/* an earlier time would mean that its leaves were not asked */
	else if (late && since < w->asked_ns)
		since = w->asked_ns;
	else if (!late && leaf && hop_left_out(hop))
		since = child_owes_since(&hop->user);
	/* the connection is just breaking */
	if (since == 0)
		since = w->asked_ns;
	text = there ? hop_excuse(hop, silence, excuse, sizeof(excuse)) : NULL;
	hop_miss_all(hop, w, why, since, why == MISSING_REFUSED ? hop->refused.text : text);
}
