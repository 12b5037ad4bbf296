/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace entropy --samples, --trace: compares in what the threads were for how long by samples and
 * by the trace of one run. */
#include "consumers/perturb/sampling-effect.h"

#include <stdio.h>
#include <stdlib.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/perturb/sampling-read.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"

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
		printf("not compared: %s, where events were lost, %llu of the trace at most\n",
		       unit_duration(unknown, r->unknown_ns), (unsigned long long)r->lost);
}

static void effect_print(struct effect_reading *r, bool json)
{
	HASH_SORT(r->activities, by_share);
	(json ? print_json : print_text)(r);
}

int sampling_effect(const char *trace, const char *samples, bool json)
{
	struct effect_reading r = {0};
	struct error e = {""};
	int code = EXIT_FINE;

	if (sampling_read(&r, samples, trace, &e) || effect_settle(&r, &e)) {
		fprintf(stderr, "evspace entropy: %s\n", e.text);
		code = EXIT_BAD_NEWS;
	} else {
		effect_print(&r, json);
	}
	sampling_reading_fini(&r);
	return code;
}
