/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests riding: which wave answers which ask, and when it begins. */
#include "tree/scope/riding.h"
#include "tests/tap.h"

#include <errno.h>
#include <string.h>

#define RIDERS 32u
#define MS     UINT64_C(1000000)
#define T0     (1000 * MS)

static struct riding riding;
static struct rider riders[RIDERS];
static unsigned under_way;

/* What each has been answered: its wave, and the wave of the trunk. */
static struct {
	uint64_t wave, number;
	unsigned n;
} answered[RIDERS];
static uint64_t ends;

static void begin_case(unsigned n, bool timed)
{
	riding_init(&riding, timed);
	memset(answered, 0, sizeof(answered));
	under_way = 0;
	for (unsigned i = 0; i < n; i++)
		riding_join(&riding, &riders[i]);
}

static void end_case(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		riding_leave(&riding, &riders[i]);
	CU_ASSERT_TRUE(TAILQ_EMPTY(&riding.asks));
	CU_ASSERT_TRUE(TAILQ_EMPTY(&riding.seats));
	CU_ASSERT_EQUAL(riding.n, 0);
}

static int ask(unsigned i, uint64_t wave, uint32_t count, uint64_t every_ns, uint64_t now)
{
	struct error e;

	return riding_ask(&riding, &riders[i], &(struct ride){wave, count, 1000, every_ns}, now,
			  &e);
}

static void on_answer(void *arg, struct rider *rider, uint64_t wave)
{
	size_t i = (size_t)(rider - riders);

	(void)arg;
	answered[i].wave = wave;
	answered[i].number = ends;
	answered[i].n++;
}

static void end(uint64_t number, uint64_t now, uint64_t took)
{
	ends = number;
	under_way--;
	riding_end(&riding, number, false, now, took, on_answer, NULL);
}

/* How many waves begin now, the last of them in @ride. */
static unsigned begins(uint64_t now, struct ride *ride)
{
	unsigned n = 0;

	while (riding_begin(&riding, under_way, now, ride)) {
		n += ride->count;
		under_way += ride->count;
	}
	return n;
}

static void who_is_alone_does_not_wait(void)
{
	struct ride ride;

	begin_case(1, false);
	for (uint64_t w = 5; w < 8; w++) {
		CU_ASSERT_EQUAL(ask(0, w, 1, 100 * MS, T0 + w), 0);
		CU_ASSERT_EQUAL(begins(T0 + w, &ride), 1);
		CU_ASSERT_EQUAL(ride.wave, w);
	}
	/* its own numbers stay, also with several waves under way */
	end(6, T0 + 20, 1);
	CU_ASSERT_EQUAL(answered[0].wave, 6);
	end_case(1);
}

static void first_asks_do_not_wait(void)
{
	struct ride ride;

	begin_case(2, false);
	ask(0, 1, 1, 1000 * MS, T0);
	CU_ASSERT_EQUAL(begins(T0, &ride), 1);
	end(ride.wave, T0 + MS, MS);
	ask(1, 1, 1, 1000 * MS, T0 + 2 * MS);
	CU_ASSERT_EQUAL(begins(T0 + 2 * MS, &ride), 1);
	CU_ASSERT_EQUAL(ride.wave, 2);
	end_case(2);
}

/* 32 at 10 Hz, at any time of their own, are 10 waves a second; none gets an older one. */
static void equal_ones_share_waves(void)
{
	uint64_t next[RIDERS], wave[RIDERS] = {0}, asked[RIDERS], began = 0, waves = 0;
	struct ride ride;

	begin_case(RIDERS, false);
	for (unsigned i = 0; i < RIDERS; i++)
		next[i] = T0 + i * 17 % 100 * MS;
	for (uint64_t now = T0; now < T0 + 10000 * MS; now += MS) {
		for (unsigned i = 0; i < RIDERS; i++) {
			if (now < next[i])
				continue;
			asked[i] = now;
			next[i] += 100 * MS;
			CU_ASSERT_EQUAL(ask(i, ++wave[i], 1, 100 * MS, now), 0);
		}
		/* a wave takes a ms */
		while (under_way > 0)
			end(riding.last - under_way + 1, now, MS);
		for (unsigned i = 0; i < RIDERS; i++)
			CU_ASSERT_TRUE(answered[i].n == 0 || riders[i].seats + riders[i].waiting ||
				       asked[i] <= began);
		if (begins(now, &ride)) {
			began = now;
			waves += now >= T0 + 1000 * MS;
		}
	}
	CU_ASSERT_TRUE(waves <= 90 + 9);
	CU_ASSERT_TRUE(waves >= 85);
	for (unsigned i = 0; i < RIDERS; i++)
		CU_ASSERT_TRUE(answered[i].n >= 98);
	end_case(RIDERS);
}

static void the_fastest_sets_the_pace(void)
{
	uint64_t waves = 0, slow = 0, fast = 0, late = 0, asked = 0;
	struct ride ride;

	begin_case(2, false);
	for (uint64_t now = T0; now < T0 + 10000 * MS; now += MS) {
		if ((now - T0) % (10 * MS) == 3 * MS) {
			ask(0, ++fast, 1, 10 * MS, now);
			asked = now;
		}
		if ((now - T0) % (1000 * MS) == 500 * MS)
			ask(1, ++slow, 1, 1000 * MS, now);
		while (under_way > 0)
			end(riding.last - under_way + 1, now, MS);
		if (begins(now, &ride)) {
			waves++;
			late += now > asked + 3 * MS;
		}
	}
	CU_ASSERT_EQUAL(answered[0].n, 1000);
	CU_ASSERT_EQUAL(answered[1].n, 10);
	CU_ASSERT_TRUE(waves <= 1002);
	CU_ASSERT_TRUE(late <= 12);
	end_case(2);
}

/* Who asks no more is waited for once, and not for long. */
static void who_has_stopped_is_not_waited_for(void)
{
	struct ride ride;

	begin_case(2, false);
	ask(0, 1, 1, 100 * MS, T0);
	ask(1, 1, 1, 100 * MS, T0);
	CU_ASSERT_EQUAL(begins(T0, &ride), 1);
	end(1, T0 + MS, MS);
	CU_ASSERT_EQUAL(answered[0].number, answered[1].number);
	ask(0, 2, 1, 100 * MS, T0 + 100 * MS);
	CU_ASSERT_EQUAL(riding_due(&riding, 0, T0 + 100 * MS), T0 + 125 * MS);
	CU_ASSERT_EQUAL(begins(T0 + 124 * MS, &ride), 0);
	CU_ASSERT_EQUAL(begins(T0 + 125 * MS, &ride), 1);
	end(2, T0 + 126 * MS, MS);
	ask(0, 3, 1, 100 * MS, T0 + 200 * MS);
	CU_ASSERT_EQUAL(begins(T0 + 200 * MS, &ride), 1);
	/* and who leaves, or is in a hurry, is not, either */
	ask(1, 2, 1, 100 * MS, T0 + 201 * MS);
	ask(0, 4, 1, 100 * MS, T0 + 202 * MS);
	end(3, T0 + 203 * MS, MS);
	riding_leave(&riding, &riders[1]);
	riding_join(&riding, &riders[1]);
	ask(1, 1, 1, 1000 * MS, T0 + 210 * MS);
	CU_ASSERT_TRUE(begins(T0 + 210 * MS, &ride) > 0);
	ask(1, 2, 1, 1000 * MS, T0 + 220 * MS);
	CU_ASSERT_EQUAL(begins(T0 + 220 * MS, &ride), 0);
	riding_hurry(&riding);
	CU_ASSERT_EQUAL(begins(T0 + 220 * MS, &ride), 1);
	end_case(2);
}

/* Two that ask as fast as they can are answered by as many waves as one alone. */
static void fast_ones_share_what_one_has(void)
{
	uint64_t waves = 0;
	uint64_t wave[2] = {0};
	struct ride ride;

	begin_case(2, false);
	for (unsigned i = 0; i < 2; i++) {
		ask(i, 1, 16, 0, T0 + i);
		wave[i] = 16;
	}
	/* one wave comes each ms; who has half of its window asks for the other half */
	for (uint64_t now = T0 + MS; now < T0 + 1000 * MS; now += MS) {
		waves += begins(now, &ride);
		CU_ASSERT_TRUE(under_way <= 32);
		if (under_way > 0)
			end(riding.last - under_way + 1, now, 8 * MS);
		for (unsigned i = 0; i < 2; i++) {
			if (riders[i].waiting + riders[i].seats > 8)
				continue;
			CU_ASSERT_EQUAL(ask(i, wave[i] + 1, 8, 0, now), 0);
			wave[i] += 8;
		}
	}
	CU_ASSERT_TRUE(waves <= 1032);
	CU_ASSERT_TRUE(answered[0].n > 950 && answered[1].n > 950);
	end_case(2);
}

/* Asks of one rider are answered by waves one after the other, by the same for both. */
static void asks_of_one_board_in_a_row(void)
{
	struct ride ride;

	begin_case(2, false);
	ask(0, 1, 1, MS, T0);
	ask(1, 1, 1, MS, T0);
	CU_ASSERT_EQUAL(begins(T0, &ride), 1);
	end(1, T0 + 1, 1);
	ask(0, 2, 2, 100 * MS, T0 + MS);
	ask(0, 4, 1, 100 * MS, T0 + 2 * MS);
	ask(1, 2, 1, 100 * MS, T0 + 3 * MS);
	CU_ASSERT_EQUAL(begins(T0 + 3 * MS, &ride), 3);
	CU_ASSERT_EQUAL(ride.wave, 2);
	end(2, T0 + 4 * MS, 1);
	CU_ASSERT_EQUAL(answered[0].wave, 2);
	CU_ASSERT_EQUAL(answered[1].wave, 2);
	end(4, T0 + 4 * MS, 1);
	CU_ASSERT_EQUAL(answered[0].wave, 4);
	CU_ASSERT_EQUAL(answered[1].n, 2);
	end(3, T0 + 4 * MS, 1);
	CU_ASSERT_EQUAL(answered[0].n, 4);
	end_case(2);
}

/* Nobody changes another one's deadline; an agent's runs on while its ask waits. */
static void deadlines_stay_apart(void)
{
	struct ride ride, long_one = {2, 1, 60000, 100 * MS};
	struct error e;

	begin_case(2, true);
	ask(0, 1, 1, 100 * MS, T0);
	ask(1, 1, 1, 100 * MS, T0);
	CU_ASSERT_EQUAL(begins(T0, &ride), 1);
	end(1, T0 + 1, 1);
	ask(0, 2, 1, 100 * MS, T0 + 140 * MS);
	CU_ASSERT_EQUAL(riding_ask(&riding, &riders[1], &long_one, T0 + 150 * MS, &e), 0);
	CU_ASSERT_EQUAL(begins(T0 + 150 * MS, &ride), 2);
	CU_ASSERT_EQUAL(ride.deadline_ms, 60000);
	end(2, T0 + 151 * MS, 1);
	CU_ASSERT_EQUAL(answered[0].n, 2);
	CU_ASSERT_EQUAL(answered[1].n, 1);
	/* a quarter of the deadline at most, and that much is gone then */
	ask(0, 3, 1, 1000 * MS, T0 + 1000 * MS);
	riders[1].every_ns = 200 * MS;
	riders[1].deadline_ms = 1000;
	riders[1].asked_ns = T0 + 1040 * MS;
	CU_ASSERT_EQUAL(begins(T0 + 1249 * MS, &ride), 0);
	CU_ASSERT_EQUAL(begins(T0 + 1250 * MS, &ride), 1);
	CU_ASSERT_EQUAL(ride.deadline_ms, 750);
	end_case(2);
}

/* One that asks for all that it can, by deadlines of its own, leaves others their waves: these
 * begin at once, and none gets their slots. */
static void nobody_takes_all(void)
{
	struct ride ride, mine = {1, 1, 1, 1};
	uint64_t its[20 * RIDING_WAVES], number, ended = 0, begun = 0;
	struct error e;

	begin_case(2, false);
	for (; mine.deadline_ms <= RIDING_WAVES; mine.deadline_ms++)
		CU_ASSERT_EQUAL(riding_ask(&riding, &riders[0], &mine, T0, &e), 0);
	for (; riding_begin(&riding, 0, T0 + MS, &ride); begun++)
		its[begun] = ride.wave;
	CU_ASSERT_EQUAL(begun, RIDING_WAVES / 2);
	CU_ASSERT_EQUAL(riding_due(&riding, 0, T0 + MS), UINT64_MAX);
	CU_ASSERT_EQUAL(ask(1, 1, 16, 50 * MS, T0 + MS), 0);
	CU_ASSERT_EQUAL(begins(T0 + MS, &ride), 16);
	number = ride.wave;
	for (; mine.deadline_ms <= 10 * RIDING_WAVES; mine.deadline_ms++) {
		end(its[ended++], T0 + MS, MS);
		CU_ASSERT_EQUAL(riding_ask(&riding, &riders[0], &mine, T0 + MS, &e), 0);
		for (; riding_begin(&riding, 0, T0 + 2 * MS, &ride); begun++) {
			CU_ASSERT_TRUE((ride.wave - number) % RIDING_WAVES >= 16);
			its[begun] = ride.wave;
		}
	}
	CU_ASSERT_TRUE(begun > 9 * RIDING_WAVES);
	CU_ASSERT_EQUAL(answered[1].n, 0);
	for (unsigned i = 0; i < 16; i++)
		end(number + i, T0 + 3 * MS, MS);
	CU_ASSERT_EQUAL(answered[1].n, 16);
	end_case(2);
}

/* What an agent has under way for all of its riders is not too much for those below it. */
static void agents_may_wait_for_more(void)
{
	struct ride ride;
	unsigned n = 0;

	begin_case(1, true);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(ask(0, 1 + i * RIDING_WAVES, RIDING_WAVES, MS, T0), 0);
	CU_ASSERT_EQUAL(begins(T0 + MS, &ride), RIDING_WAVES);
	for (uint64_t number = 1; number <= 3 * RIDING_WAVES; number++) {
		end(number, T0 + 2 * MS, MS);
		n += begins(T0 + 2 * MS, &ride);
	}
	CU_ASSERT_EQUAL(n, 2 * RIDING_WAVES);
	CU_ASSERT_EQUAL(answered[0].n, 3 * RIDING_WAVES);
	end_case(1);
}

static void numbers_and_waves_are_bounded(void)
{
	struct ride ride;

	begin_case(1, false);
	CU_ASSERT_EQUAL(ask(0, UINT64_MAX - 64, 64, 0, T0), 0);
	CU_ASSERT_EQUAL(begins(T0, &ride), 64);
	CU_ASSERT_EQUAL(ride.wave, 1);
	errno = 0;
	CU_ASSERT_EQUAL(ask(0, 1, 1, 0, T0), -1);
	CU_ASSERT_EQUAL(errno, EPROTO);
	CU_ASSERT_EQUAL(riding_alone(&riding, &riders[0], &(struct ride){.count = 1}, &ride.wave,
				     &(struct error){""}),
			-1);
	end(1, T0 + 1, 1);
	CU_ASSERT_EQUAL(ask(0, 1, 1, 0, T0), 0);
	end_case(1);
}

/* A ring fills while a stream's ask waits. */
static void streams_wait_for_half_as_long(void)
{
	struct ride ride;

	begin_case(1, false);
	riding.brief = true;
	ask(0, 1, 1, 100 * MS, T0);
	CU_ASSERT_EQUAL(begins(T0, &ride), 1);
	ask(0, 2, 1, 100 * MS, T0 + 100 * MS);
	CU_ASSERT_EQUAL(riding_patience(&riding, 0), T0 + 150 * MS);
	end_case(1);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"who is alone does not wait", who_is_alone_does_not_wait},
		{"first asks do not wait", first_asks_do_not_wait},
		{"equal ones share waves", equal_ones_share_waves},
		{"the fastest sets the pace", the_fastest_sets_the_pace},
		{"who has stopped is not waited for", who_has_stopped_is_not_waited_for},
		{"fast ones share what one has", fast_ones_share_what_one_has},
		{"asks of one board in a row", asks_of_one_board_in_a_row},
		{"deadlines stay apart", deadlines_stay_apart},
		{"nobody takes all waves", nobody_takes_all},
		{"agents may wait for more", agents_may_wait_for_more},
		{"numbers and waves are bounded", numbers_and_waves_are_bounded},
		{"streams wait for half as long", streams_wait_for_half_as_long},
		CU_TEST_INFO_NULL,
	};
	const CU_SuiteInfo suites[] = {{.pName = "riding", .pTests = cases}, CU_SUITE_INFO_NULL};

	return tap_run(suites);
}
