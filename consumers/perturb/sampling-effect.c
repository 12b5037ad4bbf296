/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace entropy --samples, --trace: reads two archives of one run, and says of both in what the
 * threads were for how long. */
#include "consumers/perturb/sampling-effect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/analysis/dwell.h"
#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/client/client-replay.h"
#include "consumers/client/evspace-client.h"
#include "pathmap/base/error.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "tree/data/op-table.h"

/* An operation, region or phase. Number 0 is outside of all. */
struct activity {
	char *name;
	uint32_t number;
	double trace, samples; /* its share of the time */
	UT_hash_handle hh;
};

/* An element of the trace: which tuple is the next, and when the last one ended. */
struct traced {
	char *name;
	uint64_t next;
	int64_t end_ns;
	UT_hash_handle hh;
};

struct sampled_thread {
	char *name;
	struct dwells calls, unknown; /* of the trace; what it has lost */
	struct dwells samples;
	int64_t first, last; /* times of samples */
	uint32_t now;	     /* what the last sample says */
	bool any;
	UT_hash_handle hh;
};

struct effect_reading {
	struct activity *activities;
	struct traced *elements;
	struct sampled_thread *threads;
	uint64_t kept, left_out, samples_lost, lost, n_threads;
	double *by_trace, *by_samples; /* ns, of each activity */
	double all_ns, apart_ns;       /* compared; of it what threads have elsewhere */
	uint64_t unknown_ns;
	int64_t end_ns; /* up to when the trace goes */
};

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

/* ---- reading ---- */

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

	r->kept++;
	r->left_out += ev->bytes;
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

/* Can samples see it? What a program counts and says besides regions and phases, they do not. */
static bool is_seen(const struct evspace_event *ev)
{
	return !(ev->flags & (EVSPACE_RUNNING | EVSPACE_COMPLETION)) &&
	       (op_channel(ev->op_number) != CHANNEL_USER || ev->op_number == OP_EVSPACE_REGION ||
		ev->op_number == OP_EVSPACE_PHASE);
}

/* What was overwritten before it was read was between the tuples around it. */
static void call_take(struct effect_reading *r, const struct evspace_client *client,
		      const struct evspace_event *ev)
{
	struct sampled_thread *t = thread_of(r, ev->name);
	struct traced *element;

	HASH_FIND_STR(r->elements, ev->name, element);
	if (!element) {
		element = memory_new(1, sizeof(*element));
		element->name = memory_copy(ev->name);
		element->end_ns = INT64_MIN;
		HASH_ADD_KEYPTR(hh, r->elements, element->name, strlen(element->name), element);
	}
	if (ev->number > element->next) {
		r->lost += ev->number - element->next;
		dwells_add(&t->unknown, (struct dwell){element->end_ns, ev->end_ns, 1});
	}
	element->next = ev->number + 1;
	element->end_ns = ev->end_ns;
	if (is_seen(ev))
		dwells_add(&t->calls,
			   (struct dwell){ev->start_ns, ev->end_ns, activity_of(r, client, ev)});
}

typedef void effect_take(struct effect_reading *r, const struct evspace_client *client,
			 const struct evspace_event *ev);

static int archive_take(struct effect_reading *r, const char *folder, effect_take *take,
			struct error *e)
{
	char *address = memory_format(CLIENT_REPLAY "%s", folder);
	const struct evspace_options look = {.connect = address, .view = ""};
	enum evspace_failure failure;
	struct evspace_client *client = evspace_open(&look, &failure, e->text, sizeof(e->text));
	struct evspace_event ev;
	struct evspace_loss loss;
	int rc = -1;

	free(address);
	while (client && (rc = evspace_next(client, -1)) == 1) {
		r->end_ns = evspace_wave(client)->taken_ns;
		while (rc == 1 && evspace_event(client, &ev)) {
			const char *channel = strrchr(ev.name, '/');
			bool sample = channel && strcmp(channel, "/sample") == 0;

			if (sample != (take == sample_take))
				rc = errorf(
					e, "%s: %s", folder,
					sample ? "it has samples; the trace is to be one of "
						 "events (--view events)"
					       : "it has other events than samples; it is to be "
						 "one of a view with `read sample`");
			else if (ev.number == UINT64_MAX)
				rc = errorf(e, "%s: a filter has left out some of it", folder);
			else
				take(r, client, &ev);
		}
		if (rc < 0)
			break;
		evspace_rewind(client);
		while (take == sample_take && evspace_loss(client, &loss))
			r->samples_lost += loss.lost;
	}
	if (client && rc < 0 && *evspace_why(client))
		errorf(e, "%s", evspace_why(client));
	evspace_close(client);
	return rc < 0 ? -1 : 0;
}

/* ---- what comes of it ---- */

static void thread_spend(struct effect_reading *r, struct sampled_thread *t)
{
	const int64_t to = t->last < r->end_ns ? t->last : r->end_ns;
	const size_t n = HASH_COUNT(r->activities);
	double *by_trace = memory_new(n, sizeof(*by_trace)), ns = 0;
	double *by_samples = memory_new(n, sizeof(*by_samples));
	struct dwells calls = {0}, unknown = {0}, samples = {0};

	dwells_flatten(&t->calls, t->first, to, 0, &calls);
	dwells_flatten(&t->samples, t->first, to, 0, &samples);
	dwells_flatten(&t->unknown, t->first, to, 0, &unknown);
	r->unknown_ns += dwells_spend(&calls, &unknown, by_trace);
	dwells_spend(&samples, &unknown, by_samples);
	for (size_t i = 0; i < n; i++) {
		r->by_trace[i] += by_trace[i];
		r->by_samples[i] += by_samples[i];
		ns += by_trace[i];
	}
	r->all_ns += ns;
	r->apart_ns += ns * spent_apart(by_trace, by_samples, n);
	free(by_trace);
	free(by_samples);
	dwells_fini(&calls);
	dwells_fini(&unknown);
	dwells_fini(&samples);
}

static int effect_settle(struct effect_reading *r, struct error *e)
{
	const size_t n = HASH_COUNT(r->activities);

	r->by_trace = memory_new(n, sizeof(*r->by_trace));
	r->by_samples = memory_new(n, sizeof(*r->by_samples));
	for (struct sampled_thread *t = r->threads; t; t = t->hh.next) {
		if (t->samples.n == 0 || t->calls.n == 0)
			continue;
		r->n_threads++;
		thread_spend(r, t);
	}
	if (r->n_threads == 0)
		return errorf(e, "no thread has two samples and an event of the trace: are both "
				 "archives of the same run?");
	if (r->all_ns <= 0)
		return errorf(e,
			      "nothing can be compared: the trace lacks all times of the samples "
			      "(%llu events lost)",
			      (unsigned long long)r->lost);
	for (struct activity *a = r->activities; a; a = a->hh.next) {
		a->trace = r->by_trace[a->number] / r->all_ns;
		a->samples = r->by_samples[a->number] / r->all_ns;
	}
	return 0;
}

static int by_share(const struct activity *a, const struct activity *b)
{
	return (a->trace < b->trace) - (a->trace > b->trace);
}

static void print_json(const struct effect_reading *r)
{
	for (const struct activity *a = r->activities; a; a = a->hh.next)
		json_print(json_pack("{s:s,s:o,s:o,s:o}", "type", "profile", "what",
				     json_text(a->name), "trace", json_figure(a->trace), "samples",
				     json_figure(a->samples)),
			   stdout);
	json_print(json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "profile_error",
			     "error", json_figure(r->apart_ns / r->all_ns), "threads",
			     json_count(r->n_threads), "kept", json_count(r->kept), "sampled_out",
			     json_count(r->left_out), "samples_lost", json_count(r->samples_lost),
			     "compared_s", json_figure(r->all_ns / 1e9), "lost",
			     json_count(r->lost), "not_compared_s",
			     json_figure((double)r->unknown_ns / 1e9)),
		   stdout);
}

static void print_text(const struct effect_reading *r)
{
	char time[UNIT_TEXT], unknown[UNIT_TEXT];

	printf("   trace  samples  of the time\n");
	for (const struct activity *a = r->activities; a; a = a->hh.next)
		printf("%7.2f%% %7.2f%%  %s\n", 100 * a->trace, 100 * a->samples, a->name);
	printf("the samples have %.2f %% of the time elsewhere: %s of %llu thread%s, %llu of %llu "
	       "samples kept\n",
	       100 * r->apart_ns / r->all_ns, unit_duration(time, (uint64_t)r->all_ns),
	       (unsigned long long)r->n_threads, plural(r->n_threads, "s"),
	       (unsigned long long)r->kept, (unsigned long long)(r->kept + r->left_out));
	if (r->samples_lost > 0)
		printf("%llu kept samples are lost: they were overwritten before they were read\n",
		       (unsigned long long)r->samples_lost);
	if (r->unknown_ns > 0)
		printf("not compared: %s, where the trace has lost events, %llu in all\n",
		       unit_duration(unknown, r->unknown_ns), (unsigned long long)r->lost);
}

static void effect_print(struct effect_reading *r, bool json)
{
	HASH_SORT(r->activities, by_share);
	(json ? print_json : print_text)(r);
}

static void reading_fini(struct effect_reading *r)
{
	struct sampled_thread *t, *next_t;
	struct activity *a, *next_a;
	struct traced *element, *next;

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

int sampling_effect(const char *trace, const char *samples, bool json)
{
	struct effect_reading r = {0};
	struct error e = {""};
	int code = EXIT_FINE;

	activity_number(&r, "outside");
	if (archive_take(&r, samples, sample_take, &e) || archive_take(&r, trace, call_take, &e) ||
	    effect_settle(&r, &e)) {
		fprintf(stderr, "evspace entropy: %s\n", e.text);
		code = EXIT_BAD_NEWS;
	} else {
		effect_print(&r, json);
	}
	reading_fini(&r);
	return code;
}
