/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads two archives of one run. What stands for what was left out: a sample says it until the next
 * one, and a recorded tuple for as many more of its kind as the numbers behind it lack. */
#include "consumers/perturb/sampling-read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client/client-replay.h"
#include "consumers/client/evspace-client.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "tree/data/op-table.h"

/* ---- names ---- */

static uint32_t activity_number(struct effect_reading *r, const char *name)
{
	struct activity *a;

	HASH_FIND_STR(r->activities, name, a);
	if (!a) {
		a = memory_new(1, sizeof(*a));
		a->name = memory_copy(name);
		a->number = HASH_COUNT(r->activities);
		HASH_ADD_KEYPTR(hh, r->activities, a->name, strlen(a->name), a);
	}
	return a->number;
}

/* The same for samples and for the trace, whose runs of readings may number labels differently. */
static uint32_t activity_of(struct effect_reading *r, const struct evspace_client *client,
			    const struct evspace_event *ev)
{
	const char *label = op_channel(ev->op_number) == CHANNEL_USER
				    ? evspace_label(client, ev->seq_or_tag)
				    : NULL;
	char name[512];

	if (ev->op_number == OP_EVSPACE_OUTSIDE)
		return 0;
	snprintf(name, sizeof(name), label ? "%s %s" : "%s", ev->op, label ? label : "");
	return activity_number(r, name);
}

/* Of "/cluster/node/rank/thread/channel" all but the channel. */
static struct sampled_thread *thread_of(struct effect_reading *r, const char *name)
{
	const char *channel = strrchr(name, '/');
	size_t length = channel ? (size_t)(channel - name) : strlen(name);
	struct sampled_thread *t;

	HASH_FIND(hh, r->threads, name, length, t);
	if (!t) {
		t = memory_new(1, sizeof(*t));
		t->name = memory_copy_bytes(name, length);
		HASH_ADD_KEYPTR(hh, r->threads, t->name, length, t);
	}
	return t;
}

static struct effect_element *element_of(struct effect_reading *r, const char *name)
{
	struct effect_element *element;

	HASH_FIND_STR(r->elements, name, element);
	if (!element) {
		element = memory_new(1, sizeof(*element));
		element->name = memory_copy(name);
		element->trace.last.to = INT64_MIN;
		HASH_ADD_KEYPTR(hh, r->elements, element->name, strlen(element->name), element);
	}
	return element;
}

/* ---- samples of the sampler ---- */

/* A thread that was in something else at the last sample, at @last, is in what @ev says since then:
 * since when it says itself, if that is later; else since the middle, or where samples of the same
 * were left out, which came before this one, all the time. */
static int64_t sample_since(const struct evspace_event *ev, int64_t last)
{
	if (ev->start_ns > last && ev->start_ns < ev->end_ns)
		return ev->start_ns;
	if (ev->bytes > 0 || ev->end_ns <= last)
		return last;
	return last + (int64_t)(((uint64_t)ev->end_ns - (uint64_t)last) / 2);
}

static void sample_take(struct effect_reading *r, const struct evspace_client *client,
			const struct evspace_event *ev)
{
	struct sampled_thread *t = thread_of(r, ev->name);
	const uint32_t what = activity_of(r, client, ev);
	const int64_t at = ev->end_ns;
	int64_t from = t->last;

	if (!t->any) {
		t->any = true;
		t->first = at;
	} else if (what != t->now) {
		from = sample_since(ev, t->last);
		dwells_add(&t->samples, (struct dwell){t->last, from, t->now});
		dwells_add(&t->samples, (struct dwell){from, at, what});
	} else {
		dwells_add(&t->samples, (struct dwell){from, at, what});
	}
	t->last = at;
	t->now = what;
}

/* ---- recorded tuples ---- */

/* Can samples see it? What a program counts and says besides regions and phases, they do not. */
static bool is_seen(const struct evspace_event *ev)
{
	return !(ev->flags & (EVSPACE_RUNNING | EVSPACE_COMPLETION)) &&
	       (op_channel(ev->op_number) != CHANNEL_USER || op_is_labelled(ev->op_number));
}

/* It is the element's last tuple from now on. */
static void element_take(struct element_told *element, const struct evspace_event *ev,
			 uint32_t what)
{
	element->next = ev->number + 1;
	element->any = true;
	element->seen = is_seen(ev);
	element->last = (struct dwell){ev->start_ns, ev->end_ns, what};
}

static double length(const struct dwell *d)
{
	return d->to > d->from ? (double)((uint64_t)d->to - (uint64_t)d->from) : 0;
}

/* @missing tuples between the element's last one and @call were repetitions of that, which took as
 * long as it, or as both on average if @call is one, too; no longer than there was time. */
static void repetitions_add(struct sampled_thread *t, const struct element_told *element,
			    uint64_t missing, const struct dwell *call, bool same)
{
	const struct dwell *last = &element->last;
	const struct dwell between = {last->to, call->from, last->what};
	double each = same ? (length(last) + length(call)) / 2 : length(last);
	double ns = (double)missing * each;

	if (ns < length(&between))
		dwells_add(&t->samples,
			   (struct dwell){last->to, (int64_t)((uint64_t)last->to + (uint64_t)ns),
					  last->what});
	else
		dwells_add(&t->samples, between);
}

/* @missing tuples are not there before it. Before the first one of an element nothing is known. */
static void kept_take(struct sampled_thread *t, const struct element_told *element,
		      const struct dwell *call, bool seen, uint64_t missing)
{
	if (element->any && element->seen && missing > 0)
		repetitions_add(t, element, missing, call,
				seen && call->what == element->last.what);
	else if (!element->any && missing > 0)
		dwells_add(&t->unknown, (struct dwell){INT64_MIN, call->from, 1});
	if (seen)
		dwells_add(&t->samples, *call);
	t->first = t->any && t->first < call->from ? t->first : call->from;
	t->last = t->any && t->last > call->to ? t->last : call->to;
	t->any = true;
}

static bool is_sample(const struct evspace_event *ev)
{
	const char *channel = strrchr(ev->name, '/');

	return channel && strcmp(channel, "/sample") == 0;
}

/* Of the archive of samples, whichever these are. Of what is missing some may be lost. */
static void told_take(struct effect_reading *r, const struct evspace_client *client,
		      const struct evspace_event *ev)
{
	struct element_told *element = &element_of(r, ev->name)->kept;
	const struct dwell call = {ev->start_ns, ev->end_ns,
				   is_seen(ev) ? activity_of(r, client, ev) : 0};
	const uint64_t missing = ev->number > element->next ? ev->number - element->next : 0;
	const uint64_t lost = missing < element->lost ? missing : element->lost;

	r->kept++;
	r->samples_lost += element->any ? lost : 0;
	element->lost -= lost;
	if (is_sample(ev))
		sample_take(r, client, ev);
	else
		kept_take(thread_of(r, ev->name), element, &call, is_seen(ev), missing);
	element_take(element, ev, call.what);
}

/* ---- the trace ---- */

/* Is there a time that both have seen within those of the tuples that are missing? */
static bool is_compared(const struct sampled_thread *t, int64_t from, int64_t to)
{
	return t->any && from < t->last && to > t->first;
}

/* What was overwritten before it was read was between the tuples around it. */
static void call_take(struct effect_reading *r, const struct evspace_client *client,
		      const struct evspace_event *ev)
{
	struct sampled_thread *t = thread_of(r, ev->name);
	struct element_told *element = &element_of(r, ev->name)->trace;
	const struct dwell call = {ev->start_ns, ev->end_ns,
				   is_seen(ev) ? activity_of(r, client, ev) : 0};

	if (ev->number > element->next) {
		if (is_compared(t, element->last.to, ev->end_ns))
			r->lost += ev->number - element->next;
		dwells_add(&t->unknown, (struct dwell){element->last.to, ev->end_ns, 1});
	}
	if (is_seen(ev))
		dwells_add(&t->calls, call);
	if (ev->end_ns <= r->samples_end_ns)
		element_take(element, ev, call.what);
}

/* Nothing is kept of repetitions that go on to the end: the trace says how many there were. */
static void ends_add(struct effect_reading *r)
{
	for (struct effect_element *element = r->elements; element; element = element->hh.next) {
		const struct element_told *kept = &element->kept, *trace = &element->trace;
		const struct dwell end = {.from = trace->last.to};
		struct sampled_thread *t = thread_of(r, element->name);

		if (!kept->any || !kept->seen || !trace->any || trace->next <= kept->next)
			continue;
		repetitions_add(t, kept, trace->next - kept->next, &end, false);
		t->last = t->last > end.from ? t->last : end.from;
	}
}

/* ---- archives ---- */

typedef void effect_take(struct effect_reading *r, const struct evspace_client *client,
			 const struct evspace_event *ev);

static int wave_take(struct effect_reading *r, struct evspace_client *client, effect_take *take,
		     struct error *e)
{
	struct evspace_event ev;
	struct evspace_loss loss;

	r->end_ns = evspace_wave(client)->taken_ns;
	while (evspace_loss(client, &loss))
		element_of(r, loss.name)->kept.lost += loss.lost;
	evspace_rewind(client);
	while (evspace_event(client, &ev)) {
		if (take == call_take && is_sample(&ev))
			return errorf(e, "it has samples; the trace is to be one of events (--view "
					 "events)");
		if (ev.number == UINT64_MAX)
			return errorf(e, "a filter has left out some of it");
		take(r, client, &ev);
	}
	return 0;
}

/* Only of what samplers have left out it is known what it was. */
static int filtered_check(struct effect_reading *r, struct evspace_client *client,
			  effect_take *take, struct error *e)
{
	struct evspace_counts counts;
	uint64_t sampled = take == call_take ? 0 : evspace_sampled(client);

	evspace_counts(client, &counts);
	r->left_out += sampled;
	return counts.filtered > sampled ? errorf(e, "a filter has left out %llu tuple%s of it",
						  (unsigned long long)(counts.filtered - sampled),
						  plural(counts.filtered - sampled, "s"))
					 : 0;
}

static int archive_take(struct effect_reading *r, const char *folder, effect_take *take,
			struct error *e)
{
	char *address = memory_format(CLIENT_REPLAY "%s", folder);
	const struct evspace_options look = {.connect = address, .view = ""};
	enum evspace_failure failure;
	struct evspace_client *client = evspace_open(&look, &failure, e->text, sizeof(e->text));
	int rc = client ? 0 : -1, more = 0;

	free(address);
	while (rc == 0 && (more = evspace_next(client, -1)) == 1)
		rc = wave_take(r, client, take, e);
	if (rc == 0 && more < 0 && *evspace_why(client))
		rc = errorf(e, "%s", evspace_why(client));
	else if (rc == 0)
		rc = filtered_check(r, client, take, e);
	if (client && rc < 0 && more >= 0)
		error_prefix(e, "%s", folder);
	evspace_close(client);
	return rc;
}

int sampling_read(struct effect_reading *r, const char *samples, const char *trace, struct error *e)
{
	activity_number(r, "outside");
	if (archive_take(r, samples, told_take, e))
		return -1;
	r->samples_end_ns = r->end_ns;
	if (archive_take(r, trace, call_take, e))
		return -1;
	ends_add(r);
	return 0;
}

void sampling_reading_fini(struct effect_reading *r)
{
	struct sampled_thread *t, *next_t;
	struct effect_element *element, *next;
	struct activity *a, *next_a;

	HASH_ITER(hh, r->activities, a, next_a)
	{
		HASH_DEL(r->activities, a);
		free(a->name);
		free(a);
	}
	HASH_ITER(hh, r->elements, element, next)
	{
		HASH_DEL(r->elements, element);
		free(element->name);
		free(element);
	}
	HASH_ITER(hh, r->threads, t, next_t)
	{
		HASH_DEL(r->threads, t);
		dwells_fini(&t->calls);
		dwells_fini(&t->unknown);
		dwells_fini(&t->samples);
		free(t->name);
		free(t);
	}
	free(r->by_trace);
	free(r->by_samples);
}
