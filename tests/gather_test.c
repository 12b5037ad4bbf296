/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests gathers: waves end when all inputs have answered, or at the deadline with who is missing.
 */
#include "tests/gather-bed.h"
#include "tests/tap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tree/scope/ask.h"
#include "tree/data/clock.h"
#include "tree/scope/quota.h"

/* What one wave has room for in any case. */
#define WAVE_MIB 48

static unsigned late[INPUTS], done;
static uint64_t last_number;
static size_t last_missing;
static unsigned last_leaves;

static void on_late(void *arg, struct wave *w, size_t input)
{
	(void)arg;
	late[input]++;
	wave_miss(w, (uint32_t)input, MISSING_LATE, w->asked_ns, NULL);
}

static void on_done(void *arg, struct wave *w)
{
	(void)arg;
	done++;
	last_number = w->number;
	last_missing = w->n_missing;
	last_leaves = w->leaves;
}

/* Inputs that were asked later than the others, and what is to be asked of them. */
static unsigned asked_more;
static size_t at_once;

static void on_more(void *arg, struct wave *w)
{
	(void)arg;
	while (w->next < INPUTS && w->pending < at_once) {
		gather_expect(gather, w, w->next++, 1);
		asked_more++;
	}
}

static const struct gather_events events = {
	.more = on_more,
	.late = on_late,
	.done = on_done,
};

static void begin_case(void)
{
	memset(late, 0, sizeof(late));
	done = 0;
	gather_bed_begin(&events);
}

static void answer_of(struct gather *of, uint64_t number, size_t input)
{
	struct wave *w = gather_waiting(of, number, false, input, 1);

	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	w->leaves++;
	gather_answered(of, w, input);
}

static void answer(uint64_t number, size_t input)
{
	answer_of(gather, number, input);
}

static void all_answer(void)
{
	begin_case();
	ask(1, 1000);
	answer(1, 2);
	answer(1, 0);
	CU_ASSERT_EQUAL(done, 0);
	CU_ASSERT_PTR_NULL(gather_waiting(gather, 1, false, 0, 1));
	answer(1, 1);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_EQUAL(last_leaves, 3);
	CU_ASSERT_EQUAL(last_missing, 0);
	/* At rest no timer is pending: the loop has nothing to wait for. */
	CU_ASSERT_EQUAL(event_base_dispatch(base), 1);
	end_case();
}

static void deadline_ends_a_wave(void)
{
	uint64_t start = clock_mono_ns();

	begin_case();
	ask(1, 30);
	answer(1, 1);
	CU_ASSERT_EQUAL(event_base_dispatch(base), 1);
	CU_ASSERT(clock_mono_ns() - start >= 30000000u);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_EQUAL(last_missing, 2);
	CU_ASSERT_EQUAL(late[0], 1);
	CU_ASSERT_EQUAL(late[1], 0);
	CU_ASSERT_PTR_NULL(gather_waiting(gather, 1, false, 0, 1));
	end_case();
}

/* One that was asked for again has longer than those that come behind it. */
static void each_has_its_deadline(void)
{
	begin_case();
	ask(1, 600000);
	ask(2, 30);
	CU_ASSERT_EQUAL(event_base_loop(base, EVLOOP_ONCE), 0);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_EQUAL(last_number, 2);
	for (size_t i = 0; i < INPUTS; i++)
		answer(1, i);
	CU_ASSERT_EQUAL(event_base_dispatch(base), 1);
	end_case();
}

static void window_of_waves(void)
{
	begin_case();
	for (uint64_t w = 1; w <= GATHER_WINDOW; w++)
		ask(w, 10000);
	/* The 65th wave needs the first one's slot: that one ends with what it has. */
	answer(1, 0);
	ask(GATHER_WINDOW + 1, 10000);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_EQUAL(last_number, 1);
	CU_ASSERT_EQUAL(last_missing, 2);
	for (uint64_t w = 2; w <= GATHER_WINDOW + 1; w++) {
		for (size_t i = 0; i < INPUTS; i++)
			answer(w, i);
	}
	CU_ASSERT_EQUAL(done, GATHER_WINDOW + 1);
	end_case();
}

static void broken_input(void)
{
	begin_case();
	ask(1, 10000);
	ask(2, 10000);
	answer(1, 0);
	answer(1, 1);
	gather_lost(gather, 2, 1);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_EQUAL(last_number, 1);
	CU_ASSERT_EQUAL(late[2], 2);
	answer(2, 0);
	answer(2, 1);
	CU_ASSERT_EQUAL(done, 2);
	end_case();
}

/* As a scope does with `concurrency N`: the first N inputs, the others as answers come. */
static struct wave *ask_some(uint64_t number, size_t n, unsigned deadline_ms)
{
	struct wave *w = gather_begin(gather, number, false, 0, deadline_ms);

	at_once = n;
	asked_more = 0;
	for (w->next = 0; w->next < n; w->next++)
		gather_expect(gather, w, w->next, 1);
	gather_seal(gather, w);
	return w;
}

static void one_after_the_other(void)
{
	struct wave *w;

	begin_case();
	w = ask_some(1, 1, 1000);
	CU_ASSERT_PTR_NULL(gather_waiting(gather, 1, false, 1, 1));
	answer(1, 0);
	CU_ASSERT_EQUAL(asked_more, 1);
	CU_ASSERT_PTR_NULL(gather_waiting(gather, 1, false, 2, 1));
	/* Who goes away is no reason not to ask the next one. */
	gather_lost(gather, 1, 1);
	CU_ASSERT_EQUAL(asked_more, 2);
	CU_ASSERT_EQUAL(done, 0);
	answer(1, 2);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_EQUAL(last_missing, 1);
	CU_ASSERT_EQUAL(late[1], 1);
	CU_ASSERT_FALSE(w->busy);
	end_case();
}

static void two_at_once(void)
{
	begin_case();
	ask_some(1, 2, 1000);
	answer(1, 1);
	CU_ASSERT_EQUAL(asked_more, 1);
	answer(1, 0);
	CU_ASSERT_EQUAL(done, 0);
	answer(1, 2);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_EQUAL(last_leaves, 3);
	end_case();
}

/* Those that were not asked before the deadline are late, too. */
static void not_asked_in_time(void)
{
	begin_case();
	ask_some(1, 1, 30);
	CU_ASSERT_EQUAL(event_base_dispatch(base), 1);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_EQUAL(last_missing, 3);
	CU_ASSERT_EQUAL(asked_more, 0);
	end_case();
}

static void again_is_another_wave(void)
{
	struct wave *w;

	begin_case();
	ask(5, 10000);
	w = gather_begin(gather, 5, true, 0, 10000);
	gather_expect(gather, w, 1, 1);
	gather_seal(gather, w);
	CU_ASSERT_PTR_NULL(gather_waiting(gather, 5, true, 0, 1));
	CU_ASSERT_PTR_EQUAL(gather_waiting(gather, 5, true, 1, 1), w);
	gather_answered(gather, w, 1);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_PTR_NOT_NULL(gather_waiting(gather, 5, false, 1, 1));
	end_case();
}

static void nobody_to_ask(void)
{
	struct wave *w;

	begin_case();
	w = gather_begin(gather, 1, false, 0, 1000);
	wave_miss(w, 9, MISSING_UNREACHABLE, 0, NULL);
	gather_seal(gather, w);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_EQUAL(last_missing, 1);
	end_case();
}

/* Whatever an ask says, no wave waits longer. */
static void a_minute_at_most(void)
{
	Evspace__Ask ask = EVSPACE__ASK__INIT;
	struct error e;

	ask.wave = ask.count = 1;
	ask.deadline_ms = 1000;
	CU_ASSERT_EQUAL(ask_deadline(&ask), 1000);
	ask.deadline_ms = UINT32_MAX;
	CU_ASSERT_EQUAL(ask_check(&ask, &e), 0);
	CU_ASSERT_EQUAL(ask_deadline(&ask), 60000);
}

/* Bring @mib to wave @number of a consumer's gather, which waits for more. What is said against it;
 * NULL: it is held. */
static const char *bring_one(struct gather *of, uint64_t number, size_t mib)
{
	static struct error e;
	struct wave *w = gather_begin(of, number, false, 0, 10000);
	struct buffer *buffer = buffer_new(1 << 20);
	struct batch body;
	int rc;

	batch_init(&body);
	/* Columns count as what they stand for. */
	for (size_t i = 0; i < mib; i++)
		batch_append_columns(&body, buffer, 0, i % 2 ? 1 << 20 : 64, 1 << 20);
	buffer_unref(buffer);
	gather_expect(of, w, 0, 1);
	gather_seal(of, w);
	rc = gather_bring(of, w, &(struct brought){.input = 1}, &body, &e);
	CU_ASSERT(rc == 0 || (errno == ENOBUFS && body.plain == mib << 20 && w->batch.bytes == 0));
	batch_fini(&body);
	return rc < 0 ? e.text : NULL;
}

/* The same to as many waves as that takes. */
static const char *bring(struct gather *of, uint64_t number, size_t mib)
{
	const char *why = NULL;

	for (; mib > WAVE_MIB && !why; mib -= WAVE_MIB)
		why = bring_one(of, number++, WAVE_MIB);
	return why ? why : bring_one(of, number, mib);
}

/* Who has little is not made to pay: where @mib are left, one more has so much, and then no byte.
 */
static void little_is_granted(size_t mib)
{
	struct quota *quotas[64];
	char peer[16];

	CU_ASSERT_FATAL(mib < 64);
	for (size_t i = 0; i <= mib; i++) {
		snprintf(peer, sizeof(peer), "p%zu", i);
		quotas[i] = quota_join(peer);
		CU_ASSERT_EQUAL(quota_take(quotas[i], QUOTA_LITTLE, &(struct error){""}), 0);
	}
	CU_ASSERT_EQUAL(quota_take(quotas[mib], 1, &(struct error){""}), -1);
	for (size_t i = 0; i <= mib; i++) {
		quota_give(quotas[i], QUOTA_WAVES, QUOTA_LITTLE);
		quota_leave(quotas[i]);
	}
}

/* What waits for a silent leaf is bounded: for a consumer, whatever scopes it has, and for all. */
static void held_is_bounded(void)
{
	static const char *const peers[] = {"ann", "ann", "bob", "carl"};
	struct quota *quotas[4];
	struct gather *of[4];
	const char *why;

	begin_case();
	for (int i = 0; i < 4; i++) {
		of[i] = gather_new(base, INPUTS, &events, NULL);
		quotas[i] = quota_join(peers[i]);
		gather_quota_set(of[i], quotas[i]);
	}
	CU_ASSERT_PTR_EQUAL(quotas[0], quotas[1]);
	CU_ASSERT_PTR_NULL(bring(of[0], 1, 150));
	why = bring(of[1], 1, 43);
	CU_ASSERT(why && strstr(why, "hold 150 MiB for ann here"));
	CU_ASSERT_PTR_NULL(bring(of[1], 2, 42));
	/* Two do not shut out a third. */
	CU_ASSERT_PTR_NULL(bring(of[2], 1, 96));
	CU_ASSERT_PTR_NULL(bring(of[3], 1, 48));
	why = bring(of[3], 2, 13);
	CU_ASSERT(why && strstr(why, "of 336 for all"));
	little_is_granted(384 - 336);
	for (uint64_t w = 1; w <= 4; w++)
		answer_of(of[0], w, 0);
	CU_ASSERT_PTR_NULL(bring(of[3], 3, 75));
	for (int i = 0; i < 4; i++) {
		gather_free(of[i]);
		quota_leave(quotas[i]);
	}
	/* All was given back. */
	quotas[0] = quota_join("dora");
	CU_ASSERT_EQUAL(quota_take(quotas[0], QUOTA_KIND / 2, &(struct error){""}), 0);
	quota_give(quotas[0], QUOTA_WAVES, QUOTA_KIND / 2);
	quota_leave(quotas[0]);
	end_case();
}

/* Bring @n bytes, the last of a buffer of @size and then its first, to a wave. Returns the size of
 * the buffer that it holds then. */
static size_t held_of(size_t size, size_t n)
{
	struct buffer *buffer = buffer_new(size);
	struct batch body;
	struct error e;
	struct wave *w;
	size_t kept, at = 0;

	begin_case();
	w = ask(1, 1000);
	memset(buffer->data, 'b', n / 2);
	memset(buffer->data + size - n / 2, 'a', n / 2);
	batch_init(&body);
	batch_append(&body, buffer, size - n / 2, n / 2);
	batch_append(&body, buffer, 0, n / 2);
	CU_ASSERT_EQUAL(gather_bring(gather, w, &(struct brought){.leaves = 1}, &body, &e), 0);
	CU_ASSERT_EQUAL(w->batch.bytes, n);
	for (size_t i = 0; i < w->batch.n; i++) {
		const struct extent *x = &w->batch.extents[i];

		CU_ASSERT_EQUAL(x->buffer->data[x->at], at < n / 2 ? 'a' : 'b');
		at += x->bytes;
		CU_ASSERT_EQUAL(x->buffer->data[x->at + x->bytes - 1], at <= n / 2 ? 'a' : 'b');
	}
	CU_ASSERT_EQUAL(at, n);
	CU_ASSERT_FATAL(w->batch.n > 0);
	kept = w->batch.extents[0].buffer->size;
	CU_ASSERT_EQUAL(buffer->refs, w->batch.extents[0].buffer == buffer ? 3 : 1);
	batch_fini(&body);
	buffer_unref(buffer);
	end_case();
	return kept;
}

/* A child may answer with an endless header and next to no body. */
static void held_is_what_is_counted(void)
{
	CU_ASSERT_EQUAL(held_of(8 << 20, 120), BUFFER_COMMON);
	CU_ASSERT_EQUAL(held_of(8 << 20, 1 << 20), 1 << 20);
	CU_ASSERT_EQUAL(held_of(8 << 20, 2 << 20), 8 << 20);
	CU_ASSERT_EQUAL(held_of(BUFFER_COMMON, 120), BUFFER_COMMON);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"a wave ends when all have answered, and leaves no timer", all_answer},
		{"a wave ends at its deadline and names who is late", deadline_ends_a_wave},
		{"each wave has its own deadline", each_has_its_deadline},
		{"64 waves are under way, the 65th ends the first", window_of_waves},
		{"a broken input ends what waits for it only", broken_input},
		{"concurrency 1: one input is asked after the other", one_after_the_other},
		{"concurrency 2: the third is asked when one has answered", two_at_once},
		{"concurrency: who was not asked by the deadline is late", not_asked_in_time},
		{"asked for again is another wave", again_is_another_wave},
		{"nobody to ask: the answer comes at once", nobody_to_ask},
		{"a wave waits for a minute at most", a_minute_at_most},
		{"what waves hold is bounded", held_is_bounded},
		{"waves hold no more than four times what is counted", held_is_what_is_counted},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{.pName = "gather", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
