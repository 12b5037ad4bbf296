/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets asks wait for those that are expected soon, and seats all that wait on one wave. */
#include "tree/scope/riding.h"

#include <errno.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"

/* An ask, or what is left of it, that waits for its waves to begin. */
struct riding_ask {
	TAILQ_ENTRY(riding_ask) entry;
	struct rider *rider;
	struct ride ride;
	uint64_t asked_ns, due_ns;
	unsigned at, boards; /* which of the waves that begin is its first, and how many are its */
	bool fast;	     /* of a rider that asks as fast as it can */
};

/* A rider's place on a wave that has begun. */
struct riding_seat {
	TAILQ_ENTRY(riding_seat) entry;
	struct rider *rider;
	uint64_t number, wave; /* of the trunk, and of the rider */
	bool alone;
};

/* Of as many slots, all riders have a share for each; the others are for whoever asks first. */
#define SHARED (RIDING_WAVES / 2)

/* What one rider may be without that is an agent: it asks for its riders, also again, and its waves
 * may have ended. */
#define RIDING_BELOW ((RIDING_WAVES + 1) * RIDING_WAVES)

_Static_assert(RIDING_WAVES == 64, "there is a bit for each slot");

void riding_init(struct riding *r, bool timed)
{
	*r = (struct riding){.timed = timed};
	TAILQ_INIT(&r->riders);
	TAILQ_INIT(&r->asks);
	TAILQ_INIT(&r->seats);
}

void riding_join(struct riding *r, struct rider *rider)
{
	*rider = (struct rider){.every_ns = 0};
	TAILQ_INSERT_TAIL(&r->riders, rider, entry);
	r->n++;
}

static void ask_free(struct riding *r, struct riding_ask *ask)
{
	ask->rider->waiting -= ask->ride.count;
	TAILQ_REMOVE(&r->asks, ask, entry);
	free(ask);
}

static void seat_free(struct riding *r, struct riding_seat *seat)
{
	struct riding_slots *slots = &r->slots[seat->alone];
	unsigned slot = seat->number % RIDING_WAVES;

	if (--slots->seats[slot] == 0)
		slots->busy &= ~(UINT64_C(1) << slot);
	seat->rider->seats--;
	TAILQ_REMOVE(&r->seats, seat, entry);
	free(seat);
}

void riding_leave(struct riding *r, struct rider *rider)
{
	struct riding_ask *ask = TAILQ_FIRST(&r->asks), *next_ask;
	struct riding_seat *seat = TAILQ_FIRST(&r->seats), *next_seat;

	for (; ask; ask = next_ask) {
		next_ask = TAILQ_NEXT(ask, entry);
		if (ask->rider == rider)
			ask_free(r, ask);
	}
	for (; seat; seat = next_seat) {
		next_seat = TAILQ_NEXT(seat, entry);
		if (seat->rider == rider)
			seat_free(r, seat);
	}
	TAILQ_REMOVE(&r->riders, rider, entry);
	r->n--;
}

/* ---- asking ---- */

static int rider_room(const struct riding *r, const struct rider *rider, uint32_t count,
		      struct error *e)
{
	const unsigned most = r->timed ? RIDING_BELOW : RIDING_WAVES;

	if (rider->waiting + rider->seats + count <= most)
		return 0;
	errno = EPROTO;
	return errorf(e,
		      "an ask for %u waves besides %u that have not been answered; %u at once are "
		      "possible",
		      count, rider->waiting + rider->seats, most);
}

/* How long an ask may wait for others. */
static uint64_t ride_patience(const struct riding *r, const struct ride *ride)
{
	uint64_t most = RIDING_WAIT_NS, every_ns = ride->every_ns / (r->brief ? 2 : 1);

	if (ride->every_ns == 0)
		return r->took_ns / 2;
	if (r->timed && ride->deadline_ms * UINT64_C(250000) < most)
		most = ride->deadline_ms * UINT64_C(250000);
	return every_ns < most ? every_ns : most;
}

int riding_ask(struct riding *r, struct rider *rider, const struct ride *ride, uint64_t now,
	       struct error *e)
{
	bool first = rider->asked_ns == 0;
	struct riding_ask *ask;

	if (rider_room(r, rider, ride->count, e) < 0)
		return -1;
	ask = memory_new(1, sizeof(*ask));
	ask->rider = rider;
	ask->ride = *ride;
	ask->fast = ride->every_ns == 0 && !first;
	ask->asked_ns = now;
	ask->due_ns = first ? now : now + ride_patience(r, ride);
	TAILQ_INSERT_TAIL(&r->asks, ask, entry);
	rider->every_ns = ride->every_ns;
	rider->asked_ns = now;
	rider->deadline_ms = ride->deadline_ms;
	rider->waiting += ride->count;
	return 0;
}

static void seat_add(struct riding *r, struct rider *rider, uint64_t number, uint64_t wave,
		     bool alone)
{
	struct riding_seat *seat = memory_new(1, sizeof(*seat));

	*seat = (struct riding_seat){
		.rider = rider, .number = number, .wave = wave, .alone = alone};
	TAILQ_INSERT_TAIL(&r->seats, seat, entry);
	r->slots[alone].seats[number % RIDING_WAVES]++;
	r->slots[alone].busy |= UINT64_C(1) << number % RIDING_WAVES;
	rider->seats++;
}

static bool slot_is_busy(uint64_t busy, uint64_t number)
{
	return busy >> number % RIDING_WAVES & 1;
}

/* The number of the first of @ride's waves: the next one whose slot is free, if one is. Who is
 * alone finds its own numbers again. */
static uint64_t number_next(const struct riding *r, const struct ride *ride, uint64_t busy)
{
	uint64_t number = r->last + 1;

	/* a far one could make numbers end */
	if (r->n == 1 && ride->wave > r->last && ride->wave - r->last <= UINT32_MAX)
		number = ride->wave;
	while (busy != UINT64_MAX && slot_is_busy(busy, number))
		number++;
	return number;
}

int riding_alone(struct riding *r, struct rider *rider, const struct ride *ride, uint64_t *number,
		 struct error *e)
{
	if (rider_room(r, rider, ride->count, e) < 0)
		return -1;
	*number = number_next(r, ride, r->slots[true].busy);
	r->last = *number + ride->count - 1;
	for (uint32_t k = 0; k < ride->count; k++)
		seat_add(r, rider, *number + k, ride->wave + k, true);
	return 0;
}

void riding_hurry(struct riding *r)
{
	struct riding_ask *ask;

	TAILQ_FOREACH (ask, &r->asks, entry) {
		ask->due_ns = 0;
		ask->fast = false;
	}
}

/* ---- beginning ---- */

/* Several that ask as fast as they can get no more waves together than one of them alone. */
static bool is_full(const struct riding *r, unsigned under_way)
{
	const struct rider *rider;
	unsigned most = 0;

	TAILQ_FOREACH (rider, &r->riders, entry) {
		if (rider->waiting + rider->seats > most)
			most = rider->waiting + rider->seats;
	}
	return under_way > most / 2;
}

/* Until when an ask may wait. */
static uint64_t ask_due(const struct riding_ask *ask, bool full)
{
	return ask->due_ns + (ask->fast && full ? RIDING_WAIT_NS : 0);
}

/* How many waves the rider may begin now. */
static unsigned rider_share(const struct riding *r, const struct rider *rider)
{
	const unsigned busy = (unsigned)__builtin_popcountll(r->slots[false].busy);
	const unsigned share = SHARED / r->n ? SHARED / r->n : 1;
	const unsigned own = rider->seats < share ? share - rider->seats : 0;
	const unsigned open = busy < SHARED ? SHARED - busy : 0;

	if (busy == RIDING_WAVES || r->n == 1)
		return RIDING_WAVES - busy;
	return own > open ? own : open;
}

/* The ask that may wait least of those that may begin, and until when; NULL: none. */
static struct riding_ask *ask_first(const struct riding *r, unsigned under_way, uint64_t *due)
{
	struct riding_ask *ask, *first = NULL;
	bool full = r->n > 1 && is_full(r, under_way);

	TAILQ_FOREACH (ask, &r->asks, entry) {
		if ((first && ask_due(ask, full) >= *due) || rider_share(r, ask->rider) == 0)
			continue;
		first = ask;
		*due = ask_due(ask, full);
	}
	return first;
}

/* When the rider has surely asked for what may board with @first, if it does so before @due as it
 * did so far; else 0. */
static uint64_t rider_expected(const struct riding *r, const struct rider *rider,
			       const struct riding_ask *first, uint64_t due)
{
	uint64_t next = rider->asked_ns + rider->every_ns, late = next + rider->every_ns / 4;

	if (rider->waiting > 0 || rider->asked_ns == 0 ||
	    rider->deadline_ms != first->ride.deadline_ms)
		return 0;
	if (rider->every_ns == 0 && (rider->seats > 0 || rider->rest_ns == 0))
		return 0;
	if (rider->every_ns == 0)
		late = next = rider->rest_ns + r->took_ns / 2;
	if (next > due)
		return 0;
	return late < due ? late : due;
}

uint64_t riding_due(const struct riding *r, unsigned under_way, uint64_t now)
{
	const struct riding_ask *first;
	const struct rider *rider;
	uint64_t due, begin = now;

	first = ask_first(r, under_way, &due);
	if (!first)
		return UINT64_MAX;
	if (due != first->due_ns)
		return due > now ? due : now;
	TAILQ_FOREACH (rider, &r->riders, entry) {
		uint64_t expected = r->n > 1 ? rider_expected(r, rider, first, due) : 0;

		if (expected > begin)
			begin = expected;
	}
	return begin;
}

uint64_t riding_patience(const struct riding *r, unsigned under_way)
{
	uint64_t due = UINT64_MAX;

	(void)ask_first(r, under_way, &due);
	return due;
}

uint64_t riding_expected(const struct riding *r, uint64_t now, uint64_t due)
{
	uint64_t next = r->began_ns + r->every_ns, late = next + r->every_ns / 4;

	if (r->n == 0 || next <= now || next > due)
		return 0;
	return late < due ? late : due;
}

/* All asks with the deadline of *@ride board, each rider's in a row, as far as there is room for
 * their waves. Makes *@ride what they need together. */
static void board(struct riding *r, uint64_t now, struct ride *ride)
{
	const uint32_t deadline_ms = ride->deadline_ms, room = ride->count;
	struct riding_ask *ask;
	struct rider *rider;

	ride->count = 0;
	TAILQ_FOREACH (rider, &r->riders, entry)
		rider->boarding = 0;
	TAILQ_FOREACH (ask, &r->asks, entry) {
		uint64_t waited_ms = r->timed ? (now - ask->asked_ns) / 1000000u : 0;
		uint64_t left_ms = waited_ms < deadline_ms ? deadline_ms - waited_ms : 1;
		unsigned most = rider_share(r, ask->rider);

		most = (most < room ? most : room) - ask->rider->boarding;
		ask->boards = ask->ride.count < most ? ask->ride.count : most;
		if (ask->ride.deadline_ms != deadline_ms)
			ask->boards = 0;
		if (ask->boards == 0)
			continue;
		ask->at = ask->rider->boarding;
		ask->rider->boarding += ask->boards;
		if (ask->rider->boarding > ride->count)
			ride->count = ask->rider->boarding;
		if (ask->ride.every_ns < ride->every_ns)
			ride->every_ns = ask->ride.every_ns;
		if (left_ms < ride->deadline_ms)
			ride->deadline_ms = (uint32_t)left_ms;
	}
}

/* Seat the ask's rider on the waves that begin. What of it does not, waits on. */
static void ask_seat(struct riding *r, struct riding_ask *ask, uint64_t number)
{
	for (uint32_t k = 0; k < ask->boards; k++)
		seat_add(r, ask->rider, number + ask->at + k, ask->ride.wave + k, false);
	if (ask->boards == ask->ride.count) {
		ask_free(r, ask);
		return;
	}
	ask->rider->waiting -= ask->boards;
	ask->ride.wave += ask->boards;
	ask->ride.count -= ask->boards;
}

/* How many waves can begin with the number: behind it there may be one under way. */
static unsigned numbers_free(uint64_t busy, uint64_t number)
{
	unsigned n = 0;

	while (n < RIDING_WAVES && !slot_is_busy(busy, number + n))
		n++;
	return n;
}

bool riding_begin(struct riding *r, unsigned under_way, uint64_t now, struct ride *ride)
{
	const uint64_t busy = r->slots[false].busy;
	struct riding_ask *ask, *next;
	uint64_t due;

	if (riding_due(r, under_way, now) > now)
		return false;
	*ride = ask_first(r, under_way, &due)->ride;
	ride->wave = number_next(r, ride, busy);
	ride->count = numbers_free(busy, ride->wave);
	board(r, now, ride);
	r->last = ride->wave + ride->count - 1;
	r->began_ns = now;
	r->every_ns = ride->every_ns;
	for (ask = TAILQ_FIRST(&r->asks); ask; ask = next) {
		next = TAILQ_NEXT(ask, entry);
		if (ask->boards > 0)
			ask_seat(r, ask, ride->wave);
	}
	return true;
}

/* ---- ending ---- */

unsigned riding_seated(const struct riding *r, uint64_t number, bool alone)
{
	return r->slots[alone].seats[number % RIDING_WAVES];
}

void riding_end(struct riding *r, uint64_t number, bool alone, uint64_t now, uint64_t took_ns,
		void (*answer)(void *arg, struct rider *rider, uint64_t wave), void *arg)
{
	struct riding_seat *seat = TAILQ_FIRST(&r->seats), *next;

	r->took_ns = took_ns;
	for (; seat; seat = next) {
		next = TAILQ_NEXT(seat, entry);
		if (seat->number != number || seat->alone != alone)
			continue;
		if (seat->rider->seats == 1 && seat->rider->waiting == 0)
			seat->rider->rest_ns = now;
		answer(arg, seat->rider, seat->wave);
		seat_free(r, seat);
	}
}
