/* SPDX-License-Identifier: BSD-3-Clause */
/* Wave slots, preallocated: which inputs a wave waits for, and one timer for the nearest
 * deadline. */
#include "tree/scope/gather.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/utf8.h"
#include "tree/data/names.h"
#include "tree/data/clock.h"
#include "tree/data/turn.h"
#include "tree/scope/quota.h"
#include "tree/scope/scope-shared.h"

/* Slots of waves asked for the first time, then slots of those asked for again. */
#define SLOTS (2 * GATHER_WINDOW)

/* Most bytes of a leaf's refusal. */
#define TEXT_MAX 300

/* What is held makes room for what comes only if it is so many times as large. */
#define FAR_MORE 4

struct gather {
	LIST_ENTRY(gather) entry; /* of all */
	size_t inputs;
	const struct gather_events *events;
	void *arg;
	struct quota *quota; /* NULL: not counted */
	struct event *timer;
	uint64_t until_ns; /* when the timer ends, 0: it is not set */
	unsigned busy;
	uint8_t *waiting; /* SLOTS x inputs, for the waves' `waiting` */
	struct wave slots[SLOTS];
};

/* All of this process: a consumer may have several. */
static LIST_HEAD(, gather) gathers = LIST_HEAD_INITIALIZER(gathers);

static void gather_expire(evutil_socket_t fd, short what, void *arg);

struct gather *gather_new(struct event_base *base, size_t inputs,
			  const struct gather_events *events, void *arg)
{
	struct gather *g = calloc(1, sizeof(*g));

	if (!g)
		abort();
	g->inputs = inputs;
	g->events = events;
	g->arg = arg;
	g->timer = evtimer_new(base, gather_expire, g);
	g->waiting = calloc(SLOTS * (inputs ? inputs : 1), 1);
	if (!g->timer || !g->waiting)
		abort();
	for (size_t i = 0; i < SLOTS; i++) {
		batch_init(&g->slots[i].batch);
		g->slots[i].waiting = &g->waiting[i * inputs];
	}
	LIST_INSERT_HEAD(&gathers, g, entry);
	return g;
}

static void missing_clear(struct wave *w)
{
	for (size_t i = 0; i < w->n_missing; i++) {
		if (i == 0 || w->missing[i].text != w->missing[i - 1].text)
			free(w->missing[i].text);
	}
	w->n_missing = 0;
}

static void held_clear(struct gather *g, struct wave *w)
{
	batch_clear(&w->batch);
	brought_clear(&w->brought);
	if (g->quota)
		quota_give(g->quota, QUOTA_WAVES, w->held);
	w->held = 0;
}

void gather_free(struct gather *g)
{
	if (!g)
		return;
	LIST_REMOVE(g, entry);
	event_free(g->timer);
	for (size_t i = 0; i < SLOTS; i++) {
		held_clear(g, &g->slots[i]);
		batch_fini(&g->slots[i].batch);
		missing_clear(&g->slots[i]);
		free(g->slots[i].missing);
	}
	free(g->waiting);
	free(g);
}

void gather_quota_set(struct gather *g, struct quota *quota)
{
	g->quota = quota;
}

static struct wave *gather_slot(struct gather *g, uint64_t number, bool again)
{
	return &g->slots[number % GATHER_WINDOW + (again ? GATHER_WINDOW : 0)];
}

static void gather_finish(struct gather *g, struct wave *w)
{
	for (size_t i = w->next; i < g->inputs; i++)
		g->events->late(g->arg, w, i);
	w->next = g->inputs;
	for (size_t i = 0; w->pending > 0 && i < g->inputs; i++) {
		if (!w->waiting[i])
			continue;
		w->waiting[i] = 0;
		w->pending--;
		g->events->late(g->arg, w, i);
	}
	g->events->done(g->arg, w);
	if (!w->ending)
		gather_end(g, w);
}

void gather_end(struct gather *g, struct wave *w)
{
	held_clear(g, w);
	w->busy = w->ending = false;
	if (--g->busy == 0 && g->until_ns) {
		/* no timer may wake an idle agent */
		evtimer_del(g->timer);
		g->until_ns = 0;
	}
}

/* Wake up at @deadline_ns. */
static void gather_wait(struct gather *g, uint64_t deadline_ns)
{
	uint64_t now = clock_mono_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
	struct timeval wait = {
		.tv_sec = (time_t)(left / 1000000000u),
		.tv_usec = (suseconds_t)(left % 1000000000u / 1000u) + 1,
	};

	evtimer_add(g->timer, &wait);
	g->until_ns = deadline_ns;
}

static void gather_time(struct gather *g)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < SLOTS; i++) {
		const struct wave *w = &g->slots[i];

		if (w->busy && !w->ending && w->deadline_ns < first)
			first = w->deadline_ns;
	}
	if (first != UINT64_MAX)
		gather_wait(g, first);
}

static void gather_expire(evutil_socket_t fd, short what, void *arg)
{
	struct gather *g = arg;
	uint64_t now = clock_mono_ns();

	(void)fd;
	(void)what;
	g->until_ns = 0;
	for (size_t i = 0; i < SLOTS; i++) {
		struct wave *w = &g->slots[i];

		if (!w->busy || w->ending || w->deadline_ns > now)
			continue;
		gather_finish(g, w);
		/* the others in another turn of the loop */
		if (clock_mono_ns() >= now + TURN_NS)
			break;
	}
	gather_time(g);
}

struct wave *gather_begin(struct gather *g, uint64_t number, bool again, uint64_t have,
			  unsigned deadline_ms)
{
	struct wave *w = gather_slot(g, number, again);

	/* the first time, it may only have begun to end */
	while (w->busy)
		gather_finish(g, w);
	w->number = number;
	w->again = again;
	w->have = have;
	w->busy = true;
	w->leaves = 0;
	w->cpu_us = 0;
	w->fill = 0;
	w->waited_us = 0;
	missing_clear(w);
	w->asked_ns = clock_mono_ns();
	w->deadline_ns = w->asked_ns + (uint64_t)deadline_ms * 1000000u;
	w->pending = 0;
	w->next = g->inputs;
	g->busy++;
	return w;
}

void gather_expect(struct gather *g, struct wave *w, size_t input, unsigned way)
{
	(void)g;
	w->waiting[input] = (uint8_t)way;
	w->pending++;
}

void gather_seal(struct gather *g, struct wave *w)
{
	if (w->pending == 0)
		gather_finish(g, w);
	else if (g->until_ns == 0 || w->deadline_ns < g->until_ns)
		gather_wait(g, w->deadline_ns);
}

struct wave *gather_waiting(struct gather *g, uint64_t number, bool again, size_t input,
			    unsigned way)
{
	struct wave *w = gather_slot(g, number, again);

	return w->busy && w->number == number && w->waiting[input] == way ? w : NULL;
}

/* ---- what is brought ---- */

static void displace(struct gather *g, struct wave *w, struct brought *what, const char *why)
{
	const struct brought was = *what;

	brought_cut(&w->brought, what, &w->batch);
	if (g->quota)
		quota_give(g->quota, QUOTA_WAVES, was.plain);
	w->held -= was.plain;
	w->leaves -= was.leaves;
	g->events->displaced(g->arg, w, &was, why);
}

/* Make room in the wave. */
static int wave_room(struct gather *g, struct wave *w, size_t bytes, struct error *e)
{
	while (w->batch.plain + bytes > GATHER_PLAIN_MOST) {
		struct brought *most = brought_most(&w->brought);
		bool is_most = !most || most->plain <= bytes;

		errorf(e,
		       "its part of the wave stands for %.1f MiB of records, more than any other, "
		       "and all together have room for %u MiB; select less, or look at what is "
		       "there",
		       (double)(is_most ? bytes : most->plain) / (1 << 20),
		       GATHER_PLAIN_MOST >> 20);
		if (is_most) {
			errno = EMSGSIZE;
			return -1;
		}
		displace(g, w, most, e->text);
	}
	return 0;
}

/* What a gather holds of an input. */
struct held_part {
	struct gather *gather;
	struct wave *wave;
	struct brought *part;
};

/* Those of one bringer together, the largest first. */
static int held_order(const void *a, const void *b)
{
	const struct brought *x = ((const struct held_part *)a)->part;
	const struct brought *y = ((const struct held_part *)b)->part;

	if (x->by != y->by)
		return x->by < y->by ? -1 : 1;
	return (x->plain < y->plain) - (x->plain > y->plain);
}

/* What is held for a consumer, in whichever view, of waves that have not begun to end; in order,
 * for the caller to free. */
static struct held_part *held_list(const struct quota *quota, size_t *n)
{
	struct held_part *list = NULL;
	struct gather *g;
	struct brought *b;

	*n = 0;
	LIST_FOREACH (g, &gathers, entry) {
		for (size_t i = 0; g->quota == quota && i < SLOTS; i++) {
			struct wave *w = &g->slots[i];

			if (!w->busy || w->ending)
				continue;
			LIST_FOREACH (b, &w->brought, entry) {
				list = memory_room(list, *n, sizeof(*list));
				list[(*n)++] = (struct held_part){g, w, b};
			}
		}
	}
	if (*n)
		qsort(list, *n, sizeof(*list), held_order);
	return list;
}

/* Who has brought most of these: where his parts begin, and their sum in *@most; and what @by has
 * brought in *@own. */
static size_t held_worst(const struct held_part *list, size_t n, const void *by, size_t *most,
			 size_t *own)
{
	size_t worst = 0, sum, next;

	*most = *own = 0;
	for (size_t i = 0; i < n; i = next) {
		sum = 0;
		for (next = i; next < n && list[next].part->by == list[i].part->by; next++)
			sum += list[next].part->plain;
		if (list[i].part->by == by)
			*own = sum;
		if (sum > *most) {
			*most = sum;
			worst = i;
		}
	}
	return worst;
}

/* Make room among all waves of the consumer that wait here: who has brought far more in all than
 * this one gives way. */
static int quota_room(const struct gather *g, const void *by, size_t bytes, struct error *e)
{
	size_t n, most, own, at;
	struct held_part *list;
	int rc = g->quota ? quota_take(g->quota, bytes, e) : 0;

	if (rc == 0)
		return 0;
	list = held_list(g->quota, &n);
	at = held_worst(list, n, by, &most, &own);
	for (; rc < 0 && n > 0 && most / FAR_MORE >= own + bytes; at++) {
		most -= list[at].part->plain;
		displace(list[at].gather, list[at].wave, list[at].part, e->text);
		rc = quota_take(g->quota, bytes, e);
	}
	free(list);
	return rc;
}

/* Is it to be remembered? Where there is no room for all in a wave, at least one of them is as
 * large as the first; what is smaller than the second fills nothing, in however many waves. */
static bool is_much(const struct gather *g, size_t bytes)
{
	return bytes >= GATHER_PLAIN_MOST / (g->inputs + 1) ||
	       bytes >= QUOTA_KIND / 2 / (SLOTS * SCOPE_SHARED_PEER);
}

int gather_bring(struct gather *g, struct wave *w, const struct brought *what, struct batch *body,
		 struct error *e)
{
	/* As if its columns were open: stages open them. */
	size_t bytes = body->plain;
	struct brought noted = *what;

	if (wave_room(g, w, bytes, e) < 0 || quota_room(g, what->by, bytes, e) < 0)
		return -1;
	/* the buffer has the frame's header, too, which may be far larger than its body */
	batch_unpin(body);
	noted.at = w->batch.n;
	noted.n = body->n;
	noted.plain = bytes;
	if (is_much(g, bytes))
		brought_note(&w->brought, &noted);
	w->held += bytes;
	batch_link(&w->batch, body);
	return 0;
}

/* One input has answered or is given up: ask the next ones, or end the wave. */
static void gather_go_on(struct gather *g, struct wave *w)
{
	if (w->next < g->inputs)
		g->events->more(g->arg, w);
	if (w->pending == 0)
		gather_finish(g, w);
}

void gather_answered(struct gather *g, struct wave *w, size_t input)
{
	w->waiting[input] = 0;
	w->pending--;
	gather_go_on(g, w);
}

void gather_lost(struct gather *g, size_t input, unsigned way)
{
	for (size_t i = 0; i < SLOTS; i++) {
		struct wave *w = &g->slots[i];

		if (!w->busy || w->waiting[input] != way)
			continue;
		w->waiting[input] = 0;
		w->pending--;
		g->events->late(g->arg, w, input);
		gather_go_on(g, w);
	}
}

unsigned gather_busy(const struct gather *g)
{
	return g->busy;
}

unsigned gather_awaits(const struct gather *g, size_t input, unsigned way)
{
	unsigned n = 0;

	for (size_t i = 0; i < SLOTS; i++)
		n += g->slots[i].busy && g->slots[i].waiting[input] == way;
	return n;
}

/* A copy of @text; the previous leaf's copy if that is the same. */
static char *text_cut(const struct wave *w, const char *text)
{
	char *copy = text && *text ? memory_copy_bytes(text, strnlen(text, TEXT_MAX)) : NULL;
	char *before = w->n_missing ? w->missing[w->n_missing - 1].text : NULL;

	if (!copy)
		return NULL;
	utf8_clean(copy);
	if (!before || strcmp(before, copy) != 0)
		return copy;
	free(copy);
	return before;
}

void wave_miss(struct wave *w, uint32_t leaf, enum missing_why why, uint64_t since_ns,
	       const char *text)
{
	if (w->n_missing == w->room_missing) {
		size_t room = w->room_missing ? 2 * w->room_missing : 8;
		struct missing *more = realloc(w->missing, room * sizeof(*more));

		if (!more)
			abort();
		w->missing = more;
		w->room_missing = room;
	}
	w->missing[w->n_missing] = (struct missing){leaf, why, since_ns, text_cut(w, text)};
	w->n_missing++;
}

/* Note places that the run says it has the data of. */
static void places_note(bool *there, const struct run_view *view)
{
	const struct run *run = view->run;

	for (unsigned i = 0; run->kind == RUN_LEAVES && i < run->count; i++)
		memset(there + view->leaf_ranges[i].from, 1, view->leaf_ranges[i].count);
	if (run->kind == RUN_PART && !(run->flags & (RUN_FOLD | RUN_MANY)) &&
	    run->element <= NAME_PLACE_MAX)
		there[run->element] = true;
}

/* One walk, however many folded parts there are. Ranges may have places that are no leaves. */
void wave_drop(struct wave *w, const struct plan_place *place, const char *text)
{
	bool *there = memory_new(NAME_PLACE_MAX + 1, sizeof(*there));
	struct batch_cursor c = {0};
	struct run_view run;

	while (batch_next_packed(&w->batch, &c, &run))
		places_note(there, &run);
	PLAN_FOREACH (walk, place) {
		if (walk.place->leaf && there[walk.place->index])
			wave_miss(w, walk.place->index, MISSING_LATE, w->asked_ns, text);
	}
	free(there);
	batch_clear(&w->batch);
	brought_clear(&w->brought);
	w->leaves = 0;
}
