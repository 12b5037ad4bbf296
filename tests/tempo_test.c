/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how often a stream asks: against elements that fill as programs fill them. */
#include "consumers/client/flow-control.h"

#include "tests/tap.h"

/* An element that is written @rate times a second, and a stream over it. */
struct play {
	struct tempo tempo;
	double capacity, rate, cpu_s;
	bool silent; /* the agent is of before it said how full its elements are */
	double lost, time_s;
	unsigned waves;
};

static struct play play_begin(double base_s, double capacity, double cpu_s)
{
	struct play p = {.capacity = capacity, .cpu_s = cpu_s};

	tempo_begin(&p.tempo, base_s);
	tempo_wave(&p.tempo, &(struct tempo_wave){.read = 1});
	return p;
}

/* Let @s seconds pass, with @rate tuples a second. */
static void play(struct play *p, double s, double rate)
{
	double end = p->time_s + s;

	p->rate = rate;
	for (; p->time_s < end; p->waves++) {
		double n = p->rate * p->tempo.interval_s;
		double lost = n > p->capacity ? n - p->capacity : 0;
		struct tempo_wave w = {
			.apart_s = p->tempo.interval_s,
			.cpu_s = p->cpu_s,
			.fill = p->silent ? 0 : n / p->capacity,
			.read = (uint64_t)(n - lost),
			.lost = (uint64_t)lost,
		};

		p->time_s += p->tempo.interval_s;
		p->lost += lost;
		tempo_wave(&p->tempo, &w);
	}
}

static void no_hurry_without_need(void)
{
	struct play p = play_begin(0.1, 8000, 100e-6);

	play(&p, 10, 5000);
	CU_ASSERT_DOUBLE_EQUAL(p.tempo.interval_s, 0.1, 1e-9);
	CU_ASSERT_EQUAL(p.tempo.window, 1);
	CU_ASSERT_FALSE(p.tempo.held_back);
	/* the default of evspace view: the same elements fill to two thirds in a second */
	p = play_begin(1, 8000, 100e-6);
	play(&p, 10, 5000);
	CU_ASSERT_EQUAL(p.lost, 0);
	CU_ASSERT(p.tempo.interval_s < 0.5 && p.tempo.interval_s > 0.3);
}

static void what_fills_is_read_before_it_is_full(void)
{
	struct play p = play_begin(0.1, 200, 100e-6);

	play(&p, 1, 1500);
	CU_ASSERT_EQUAL(p.lost, 0);
	/* four times as much finds room until the next wave has seen it */
	play(&p, 1, 5800);
	CU_ASSERT_EQUAL(p.lost, 0);
	CU_ASSERT(p.tempo.interval_s < 0.25 * 200 / 5800 * 1.2);
}

static void what_is_lost_is_lost_once(void)
{
	struct play p = play_begin(0.1, 200, 100e-6);

	/* the paper's capacity and the wind tunnel's rate: two thirds went unseen for ever */
	play(&p, 20, 5000);
	CU_ASSERT(p.lost <= 300);
	CU_ASSERT(p.waves < 20 / 0.008);
	p = play_begin(0.1, 200, 100e-6);
	p.silent = true;
	play(&p, 20, 5000);
	CU_ASSERT(p.lost < 0.1 * 20 * 5000);
}

static void it_calms_down(void)
{
	struct play p = play_begin(0.1, 200, 100e-6);

	play(&p, 1, 50000);
	CU_ASSERT(p.tempo.interval_s < 0.002);
	play(&p, 1, 10);
	CU_ASSERT_DOUBLE_EQUAL(p.tempo.interval_s, 0.1, 1e-9);
}

static void it_costs_what_it_may(void)
{
	struct play p = play_begin(0.1, 200, 0.002);

	play(&p, 5, 100000);
	CU_ASSERT(p.lost > 0);
	CU_ASSERT_TRUE(p.tempo.held_back);
	CU_ASSERT_DOUBLE_EQUAL(p.cpu_s / p.tempo.interval_s, TEMPO_SHARE, 1e-6);
	CU_ASSERT(1 / p.tempo.needed_s > 1000);
	/* never slower than without any hurry, whatever that costs */
	p = play_begin(0.1, 200, 0.5);
	play(&p, 5, 100000);
	CU_ASSERT_DOUBLE_EQUAL(p.tempo.interval_s, 0.1, 1e-9);
	CU_ASSERT_TRUE(p.tempo.held_back);
	play(&p, 10, 0);
	CU_ASSERT_FALSE(p.tempo.held_back);
	/* nor faster than timers are good for */
	p = play_begin(0.1, 200, 0);
	play(&p, 1, 1e9);
	CU_ASSERT_DOUBLE_EQUAL(p.tempo.interval_s, TEMPO_LEAST_S, 1e-9);
}

static void far_away_more_are_under_way(void)
{
	struct tempo t;

	tempo_begin(&t, 0.1);
	tempo_wave(&t,
		   &(struct tempo_wave){.apart_s = 0.1, .latency_s = 0.1, .fill = 1, .read = 1});
	CU_ASSERT_DOUBLE_EQUAL(t.interval_s, 0.025, 1e-9);
	CU_ASSERT_EQUAL(t.window, 5);
	tempo_wave(&t, &(struct tempo_wave){.apart_s = 0.1, .latency_s = 9, .fill = 1, .read = 1});
	CU_ASSERT_EQUAL(t.window, TEMPO_WINDOW);
}

int main(void)
{
	static CU_TestInfo tempo[] = {
		{"no hurry without need", no_hurry_without_need},
		{"what fills is read before it is full", what_fills_is_read_before_it_is_full},
		{"what is lost is lost once", what_is_lost_is_lost_once},
		{"it calms down", it_calms_down},
		{"it costs what it may", it_costs_what_it_may},
		{"far away more waves are under way", far_away_more_are_under_way},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "tempo", .pTests = tempo},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
