/* SPDX-License-Identifier: BSD-3-Clause */
/* Analyses one look at all threads: who is stuck, who is waited for, where the chains end. */
#include "consumers/watch/stall.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/data/op.h"
#include "tree/data/tuple.h"

/* A tag that matches all (MPI_ANY_TAG is -1 in all known MPIs). */
#define ANY_TAG UINT32_MAX

struct stall {
	struct thread_state *thread_states;
	size_t n;
	stall_members *members;
	void *arg;
	int32_t **lists; /* of awaited ranks, shared by threads in the same collective */
	size_t n_lists;
	size_t *order; /* stuck threads in collectives, those in the same one adjacent */
	bool *blocked; /* per thread: cannot go on, as far as is known */
};

struct stall *stall_new(void)
{
	return memory_new(1, sizeof(struct stall));
}

static void stall_clear(struct stall *s)
{
	for (size_t i = 0; i < s->n_lists; i++)
		free(s->lists[i]);
	free(s->lists);
	free(s->order);
	free(s->blocked);
	*s = (struct stall){0};
}

void stall_free(struct stall *s)
{
	if (!s)
		return;
	stall_clear(s);
	free(s);
}

/* ---- ranks ---- */

/* By world and rank. */
static int compare_where(const struct thread_state *p, uint32_t world, int32_t rank)
{
	if (p->world != world)
		return p->world > world ? 1 : -1;
	return (p->rank > rank) - (p->rank < rank);
}

/* The first thread of @rank in the world of @of; *@count is how many it has. */
static size_t rank_threads(const struct stall *s, const struct thread_state *of, int32_t rank,
			   size_t *count)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_where(&s->thread_states[middle], of->world, rank) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (*count = 0; low + *count < s->n &&
			 compare_where(&s->thread_states[low + *count], of->world, rank) == 0;)
		++*count;
	return low;
}

static bool speaks_rather(const struct thread_state *a, const struct thread_state *b)
{
	if (a->running != b->running)
		return a->running;
	return a->running ? a->still_ns > b->still_ns : a->still_ns < b->still_ns;
}

static size_t rank_speaker(const struct stall *s, const struct thread_state *of, int32_t rank)
{
	size_t count, first = rank_threads(s, of, rank, &count), best = first;

	for (size_t i = first + 1; i < first + count; i++) {
		if (speaks_rather(&s->thread_states[i], &s->thread_states[best]))
			best = i;
	}
	return count ? best : STALL_NOBODY;
}

/* ---- collectives ---- */

static bool is_finalize(const struct thread_state *p)
{
	return op_channel(p->op_number) == CHANNEL_ENV && !op_is_pvm(p->op_number);
}

static bool is_collective(const struct thread_state *p)
{
	return op_is_collective(p->op_number) || is_finalize(p);
}

/* Numbers count up and may wrap. */
static int compare_seq(uint32_t a, uint32_t b)
{
	return a == b ? 0 : (int32_t)(a - b) > 0 ? 1 : -1;
}

/* Where a rank is, relative to a collective. */
enum whereabouts { UNSEEN, BEFORE, ELSEWHERE, UNSURE, INSIDE, PAST };

static enum whereabouts thread_whereabouts(const struct thread_state *p,
					   const struct thread_state *t)
{
	int seq;

	if (!is_collective(t) || t->comm != p->comm || is_finalize(t) != is_finalize(p))
		return ELSEWHERE;
	if (p->unnumbered || t->unnumbered)
		return t->running && t->op_number == p->op_number ? INSIDE : UNSURE;
	seq = is_finalize(p) ? 0 : compare_seq(t->seq, p->seq);
	if (seq != 0)
		return seq > 0 ? PAST : BEFORE;
	if (!t->running)
		return PAST;
	return t->op_number == p->op_number ? INSIDE : BEFORE;
}

/* The farthest thread stands for its rank. */
static enum whereabouts rank_whereabouts(const struct stall *s, const struct thread_state *p,
					 int32_t rank)
{
	size_t count, first = rank_threads(s, p, rank, &count);
	enum whereabouts farthest = UNSEEN;

	for (size_t i = first; i < first + count; i++) {
		enum whereabouts w = thread_whereabouts(p, &s->thread_states[i]);

		farthest = w > farthest ? w : farthest;
	}
	return farthest;
}

static int compare_ranks(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Ranks of its world that take part in @p's collective: a list owned by the stall, and its
 * length. */
static int32_t *participants(struct stall *s, const struct thread_state *p, size_t *n)
{
	size_t room = is_finalize(p) ? s->n : s->members(s->arg, p->comm, NULL, 0);
	int32_t *list = memory_new(room + 1, sizeof(*list));

	*n = room;
	if (is_finalize(p)) {
		*n = 0;
		for (size_t i = 0; i < room; i++)
			if (s->thread_states[i].world == p->world)
				list[(*n)++] = s->thread_states[i].rank;
	} else if (s->members(s->arg, p->comm, list, room) != room) {
		*n = 0;
	}
	qsort(list, *n, sizeof(*list), compare_ranks);
	s->lists = memory_room(s->lists, s->n_lists, sizeof(*s->lists));
	s->lists[s->n_lists++] = list;
	return list;
}

/* Whom @p waits for in its collective. */
static void await_members(struct stall *s, struct thread_state *p)
{
	size_t n, kept = 0;
	int32_t *list = participants(s, p, &n), last = -1;

	p->why = n == 0				 ? STALL_UNKNOWN
		 : op_synchronizes(p->op_number) ? STALL_MEMBERS
						 : STALL_SOME;
	for (size_t i = 0; i < n; i++) {
		int32_t rank = list[i];
		enum whereabouts w;

		if (rank < 0 || rank == last || rank == p->rank)
			continue;
		last = rank;
		w = rank_whereabouts(s, p, rank);
		if (w == INSIDE || w == PAST)
			continue;
		/* without valid numbers, it may have left already */
		if (w == UNSURE && p->why == STALL_MEMBERS)
			p->why = STALL_SOME;
		list[kept++] = rank;
	}
	p->awaits = list;
	p->n_awaits = kept;
	if (kept == 0)
		p->why = STALL_UNKNOWN;
}

/* ---- one thread ---- */

/* Which halves of a message an operation may be: a Wait and an exchange may be both. */
enum half { SENDS = 1, RECEIVES = 2 };

static unsigned halves(const struct thread_state *p)
{
	const char *name = op_name(p->op_number);
	bool receives = strstr(name, "ecv") || strstr(name, "robe");

	if (op_channel(p->op_number) == CHANNEL_WAIT)
		return SENDS | RECEIVES;
	return (receives ? RECEIVES : 0u) | (strstr(name, "end") || !receives ? SENDS : 0u);
}

/* Could the two operations be the two ends of one message? */
static bool thread_meets(const struct thread_state *p, const struct thread_state *t)
{
	unsigned mine = halves(p), theirs = halves(t);

	if (!t->running || is_collective(t) || (t->peer != p->rank && t->peer != TUPLE_ANY_PEER))
		return false;
	if (!((mine & SENDS && theirs & RECEIVES) || (mine & RECEIVES && theirs & SENDS)))
		return false;
	/* a Wait's number counts requests, and an exchange has two tags: only plain tags must
	 * agree */
	if (mine == (SENDS | RECEIVES) || theirs == (SENDS | RECEIVES))
		return true;
	return p->comm == t->comm && (p->seq == t->seq || p->seq == ANY_TAG || t->seq == ANY_TAG);
}

static void await_peer(struct stall *s, struct thread_state *p)
{
	size_t count, first = rank_threads(s, p, p->peer, &count);

	p->why = STALL_PEER;
	p->awaits = &p->peer;
	p->n_awaits = 1;
	for (size_t i = first; i < first + count; i++)
		p->meets = p->meets ||
			   (&s->thread_states[i] != p && thread_meets(p, &s->thread_states[i]));
}

static void await_any(struct stall *s, struct thread_state *p)
{
	size_t n, kept = 0;
	int32_t *list = participants(s, p, &n);

	for (size_t i = 0; i < n; i++) {
		if (list[i] >= 0 && list[i] != p->rank)
			list[kept++] = list[i];
	}
	p->why = kept ? STALL_ANY : STALL_UNKNOWN;
	p->awaits = list;
	p->n_awaits = kept;
}

static void await(struct stall *s, struct thread_state *p)
{
	int channel = op_channel(p->op_number);

	if (p->rank < 0)
		p->why = STALL_UNKNOWN;
	else if (is_collective(p))
		await_members(s, p);
	else if (p->peer >= 0)
		await_peer(s, p);
	else if (p->peer == TUPLE_ANY_PEER && channel == CHANNEL_P2P)
		await_any(s, p);
	else
		p->why = STALL_UNKNOWN;
}

int64_t stall_since(const struct thread_state *p)
{
	return p->running || p->died_inside ? p->start_ns : p->end_ns;
}

/* ---- chains ---- */

/* Prefer one that is in no operation, as that is the one to look at; then the one that is still
 * longest. */
static bool blamed_rather(const struct thread_state *a, const struct thread_state *b)
{
	if (a->running != b->running)
		return !a->running;
	return a->still_ns > b->still_ns;
}

static size_t choose_next(const struct stall *s, const struct thread_state *p)
{
	size_t best = STALL_NOBODY;

	if (p->meets || p->why == STALL_UNKNOWN || (p->why == STALL_ANY && p->n_awaits > 1))
		return STALL_NOBODY;
	for (size_t i = 0; i < p->n_awaits; i++) {
		size_t speaker = rank_speaker(s, p, p->awaits[i]);

		if (speaker == STALL_NOBODY)
			continue;
		if (best == STALL_NOBODY ||
		    blamed_rather(&s->thread_states[speaker], &s->thread_states[best]))
			best = speaker;
	}
	return best;
}

/* Are they threads of one rank in the same operation with the same peer? One of them speaks for
 * all, but all wait for the same. */
static bool is_alike(const struct thread_state *a, const struct thread_state *b)
{
	return compare_where(a, b->world, b->rank) == 0 && a->op_number == b->op_number &&
	       a->comm == b->comm && a->peer == b->peer;
}

/* Does the chain that begins at @at come back to it? */
static bool comes_back(const struct stall *s, size_t at)
{
	size_t i = s->thread_states[at].next;

	for (size_t steps = 0; i != STALL_NOBODY && steps < s->n; steps++) {
		if (is_alike(&s->thread_states[i], &s->thread_states[at]))
			return true;
		i = s->thread_states[i].next;
	}
	return false;
}

static void follow(struct stall *s, size_t at, int64_t after_ns)
{
	struct thread_state *p = &s->thread_states[at], *end;
	double apart, error;

	if (p->next == STALL_NOBODY || p->circle)
		return;
	end = &s->thread_states[p->next];
	while (!end->circle && end->next != STALL_NOBODY)
		end = &s->thread_states[end->next];
	p->cause = (size_t)(end - s->thread_states);
	end->holds_up++;
	if (!end->running) {
		end->culprit = true;
		end->stuck = end->still_ns >= after_ns;
	}
	apart = (double)(stall_since(p) - stall_since(end));
	error = p->error_ns + end->error_ns;
	p->order = apart > error    ? STALL_SILENT_BEFORE
		   : apart < -error ? STALL_SILENT_AFTER
				    : STALL_CANNOT_TELL;
}

/* ---- deadlocks ---- */

/* Are all known threads of the rank blocked, and is there one? */
static bool rank_blocked(const struct stall *s, const struct thread_state *of, int32_t rank)
{
	size_t count, first = rank_threads(s, of, rank, &count);

	for (size_t i = first; i < first + count; i++) {
		if (!s->blocked[i])
			return false;
	}
	return count > 0;
}

static bool can_go_on(const struct stall *s, const struct thread_state *p)
{
	size_t blocked = 0;

	if (p->meets)
		return true;
	for (size_t i = 0; i < p->n_awaits; i++)
		blocked += rank_blocked(s, p, p->awaits[i]);
	return p->why == STALL_ANY ? blocked < p->n_awaits : blocked == 0;
}

/* Suppose that all who wait can never go on, and remove those that can, until nothing changes. */
static void find_deadlocks(struct stall *s)
{
	bool changed = true;

	s->blocked = memory_new(s->n + 1, sizeof(*s->blocked));
	for (size_t i = 0; i < s->n; i++) {
		enum stall_why why = s->thread_states[i].why;

		s->blocked[i] = why == STALL_PEER || why == STALL_ANY || why == STALL_MEMBERS;
	}
	while (changed) {
		changed = false;
		for (size_t i = 0; i < s->n; i++) {
			if (!s->blocked[i] || !can_go_on(s, &s->thread_states[i]))
				continue;
			s->blocked[i] = false;
			changed = true;
		}
	}
	for (size_t i = 0; i < s->n; i++)
		s->thread_states[i].deadlock = s->blocked[i];
}

/* ---- all threads ---- */

static int by_collective(const void *a, const void *b, void *arg)
{
	const struct thread_state *thread_states = arg;
	const struct thread_state *x = &thread_states[*(const size_t *)a],
				  *y = &thread_states[*(const size_t *)b];

	if (x->world != y->world)
		return x->world > y->world ? 1 : -1;
	if (x->comm != y->comm)
		return x->comm > y->comm ? 1 : -1;
	if (x->seq != y->seq)
		return x->seq > y->seq ? 1 : -1;
	if (x->unnumbered != y->unnumbered)
		return x->unnumbered - y->unnumbered;
	return x->op_number - y->op_number;
}

/* Threads in the same collective wait for the same others: find these once. */
static void await_all(struct stall *s)
{
	size_t n = 0;

	s->order = memory_new(s->n + 1, sizeof(*s->order));
	for (size_t i = 0; i < s->n; i++) {
		if (s->thread_states[i].stuck && is_collective(&s->thread_states[i]))
			s->order[n++] = i;
		else if (s->thread_states[i].stuck)
			await(s, &s->thread_states[i]);
	}
	qsort_r(s->order, n, sizeof(*s->order), by_collective, s->thread_states);
	for (size_t i = 0; i < n; i++) {
		struct thread_state *p = &s->thread_states[s->order[i]];
		const struct thread_state *last = i ? &s->thread_states[s->order[i - 1]] : NULL;

		if (!last || by_collective(&s->order[i], &s->order[i - 1], s->thread_states) != 0) {
			await(s, p);
			continue;
		}
		p->why = last->why;
		p->awaits = last->awaits;
		p->n_awaits = last->n_awaits;
	}
}

void stall_reset(struct thread_state *p)
{
	p->stuck = p->culprit = p->circle = p->deadlock = p->meets = p->odd = false;
	p->why = STALL_NOT;
	p->order = STALL_CANNOT_TELL;
	p->awaits = NULL;
	p->n_awaits = p->holds_up = 0;
	p->next = p->cause = STALL_NOBODY;
}

size_t stall_find(struct stall *s, struct thread_state *thread_states, size_t n, int64_t after_ns,
		  stall_members *members, void *arg)
{
	size_t stuck = 0;

	stall_clear(s);
	s->thread_states = thread_states;
	s->n = n;
	s->members = members;
	s->arg = arg;
	for (size_t i = 0; i < n; i++) {
		stall_reset(&thread_states[i]);
		thread_states[i].stuck =
			thread_states[i].running && thread_states[i].still_ns >= after_ns;
	}
	await_all(s);
	for (size_t i = 0; i < n; i++)
		thread_states[i].next =
			thread_states[i].stuck ? choose_next(s, &thread_states[i]) : STALL_NOBODY;
	for (size_t i = 0; i < n; i++)
		thread_states[i].circle = thread_states[i].stuck && comes_back(s, i);
	find_deadlocks(s);
	for (size_t i = 0; i < n; i++) {
		if (thread_states[i].running && thread_states[i].stuck)
			follow(s, i, after_ns);
	}
	stall_odd(thread_states, n);
	for (size_t i = 0; i < n; i++)
		stuck += thread_states[i].stuck;
	return stuck;
}
