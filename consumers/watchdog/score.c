/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the last times of each process in each region, and compares their medians. */
#include "consumers/watchdog/score.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

/* A process in a region. */
struct scored {
	struct pair_key {
		struct score_region region;
		uint32_t process;
	} key;
	uint64_t n;		   /* times so far */
	double times[SCORE_TIMES]; /* the last of these, in a ring */
	int64_t ends[SCORE_TIMES]; /* when each was over */
	double now, past; /* medians: of these; the least that there was of as many, 0: none */
	UT_hash_handle hh;
};

/* Of a region, while who is slow is found: who is the fastest. */
struct rivals {
	struct score_region region;
	const struct scored *best;
	UT_hash_handle hh;
};

/* What a thread has computed since the last region. */
struct section {
	uint64_t thread;
	int64_t since_ns; /* end of its last call */
	double ns;
	UT_hash_handle hh;
};

struct scores {
	size_t most;
	struct scored *pairs; /* the one that was not used for longest is the first */
	struct section *sections;
};

struct scores *scores_new(size_t most)
{
	struct scores *s = memory_new(1, sizeof(*s));

	s->most = most;
	return s;
}

void scores_free(struct scores *s)
{
	struct scored *pair, *next;
	struct section *section, *after;

	if (!s)
		return;
	HASH_ITER(hh, s->pairs, pair, next)
	{
		HASH_DEL(s->pairs, pair);
		free(pair);
	}
	HASH_ITER(hh, s->sections, section, after)
	{
		HASH_DEL(s->sections, section);
		free(section);
	}
	free(s);
}

/* ---- times ---- */

static int compare_times(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(const double *times)
{
	double sorted[SCORE_TIMES];

	memcpy(sorted, times, sizeof(sorted));
	qsort(sorted, SCORE_TIMES, sizeof(sorted[0]), compare_times);
	return sorted[SCORE_TIMES / 2];
}

/* Where there is no room, that goes which was not used for longest. */
static struct scored *pair_of(struct scores *s, uint32_t process, struct score_region region)
{
	const struct pair_key key = {region, process};
	struct scored *pair;

	HASH_FIND(hh, s->pairs, &key, sizeof(key), pair);
	if (pair) {
		HASH_DEL(s->pairs, pair);
	} else if (HASH_COUNT(s->pairs) >= s->most) {
		pair = s->pairs;
		HASH_DEL(s->pairs, pair);
		memset(pair, 0, sizeof(*pair));
	} else {
		pair = memory_new(1, sizeof(*pair));
	}
	pair->key = key;
	HASH_ADD(hh, s->pairs, key, sizeof(pair->key), pair);
	return pair;
}

void scores_add(struct scores *s, uint32_t process, struct score_region region, double ns,
		int64_t end_ns)
{
	struct scored *pair = ns >= 0 ? pair_of(s, process, region) : NULL;

	if (!pair)
		return;
	/* times that all came after those of the last median make a new one */
	if (pair->n >= SCORE_TIMES && pair->n % SCORE_TIMES == 0) {
		double before = median(pair->times);

		pair->past = pair->past > 0 && pair->past < before ? pair->past : before;
	}
	pair->times[pair->n % SCORE_TIMES] = ns;
	pair->ends[pair->n % SCORE_TIMES] = end_ns;
	pair->n++;
}

static struct section *section_of(struct scores *s, const struct score_call *call)
{
	struct section *section;

	HASH_FIND(hh, s->sections, &call->thread, sizeof(call->thread), section);
	if (section || HASH_COUNT(s->sections) >= s->most)
		return section;
	section = memory_new(1, sizeof(*section));
	section->thread = call->thread;
	section->since_ns = call->start_ns;
	HASH_ADD(hh, s->sections, thread, sizeof(section->thread), section);
	return section;
}

void scores_call(struct scores *s, const struct score_call *call)
{
	struct section *section = section_of(s, call);

	if (!section)
		return;
	/* a call within another one, or one whose tuple came late, ends nothing */
	if (call->start_ns > section->since_ns)
		section->ns += (double)(call->start_ns - section->since_ns);
	if (call->end_ns > section->since_ns)
		section->since_ns = call->end_ns;
	if (!call->ends.what)
		return;
	scores_add(s, call->process, call->ends, section->ns, call->end_ns);
	section->ns = 0;
}

/* ---- who is slow ---- */

static const struct scored **best_in(struct rivals **fields, struct score_region region)
{
	struct rivals *field;

	HASH_FIND(hh, *fields, &region, sizeof(region), field);
	if (!field) {
		field = memory_new(1, sizeof(*field));
		field->region = region;
		HASH_ADD(hh, *fields, region, sizeof(field->region), field);
	}
	return &field->best;
}

static void fields_free(struct rivals *fields)
{
	struct rivals *field, *next;

	HASH_ITER(hh, fields, field, next)
	{
		HASH_DEL(fields, field);
		free(field);
	}
}

static int64_t newest_end(const struct scored *p)
{
	return p->ends[(p->n - 1) % SCORE_TIMES];
}

/* Which share of the time since the oldest of its times a process would save with @ns less in
 * each. */
static double share(const struct scored *p, double ns)
{
	double span = (double)(newest_end(p) - p->ends[p->n % SCORE_TIMES]);

	return span > 0 ? ns * (SCORE_TIMES - 1) / span : 0;
}

static struct score_slow slow_of(const struct scored *p, const struct scored *best)
{
	double past = p->past > 0 ? p->past : p->now;
	double least = best->now < past ? best->now : past;

	return (struct score_slow){
		.process = p->key.process,
		.best = best->key.process,
		.region = p->key.region,
		.relative = p->now > 0 ? best->now / p->now : 1,
		.own = p->now > past && p->now > 0 ? past / p->now : 1,
		.ns = p->now,
		.best_ns = best->now,
		.past_ns = past,
		.cost = share(p, p->now - least),
	};
}

/* Put @slow where it belongs among the @n found so far, who loses most first. Returns how many
 * there are now. */
static size_t place(struct score_slow *found, size_t n, size_t room, const struct score_slow *slow)
{
	size_t at = n;

	while (at > 0 && found[at - 1].cost < slow->cost)
		at--;
	if (at >= room)
		return n;
	n += n < room;
	memmove(&found[at + 1], &found[at], (n - at - 1) * sizeof(*found));
	found[at] = *slow;
	return n;
}

static bool is_present(const struct scored *p, int64_t since_ns)
{
	return p->n >= SCORE_TIMES && newest_end(p) >= since_ns;
}

size_t scores_find(struct scores *s, const struct score_wish *wish, struct score_slow *found,
		   size_t room)
{
	struct rivals *fields = NULL;
	size_t n = 0;

	for (struct scored *p = s->pairs; p; p = p->hh.next) {
		const struct scored **best;

		if (!is_present(p, wish->since_ns))
			continue;
		p->now = median(p->times);
		best = best_in(&fields, p->key.region);
		if (!*best || p->now < (*best)->now)
			*best = p;
	}
	for (const struct scored *p = s->pairs; p; p = p->hh.next) {
		struct score_slow slow;

		if (!is_present(p, wish->since_ns))
			continue;
		slow = slow_of(p, *best_in(&fields, p->key.region));
		if ((slow.relative < wish->below || slow.own < wish->below) &&
		    slow.cost >= wish->cost)
			n = place(found, n, room, &slow);
	}
	fields_free(fields);
	return n;
}
