/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the controller of budgets on simulated programs: noise, delay, steps of load. */
#include "tests/random.h"
#include "tests/tap.h"

#include <math.h>

#include "consumers/budget/budget.h"
#include "consumers/budget/collecting.h"
#include "consumers/budget/pareto.h"
#include "pathmap/base/quantity.h"

#define RUNS  60u
#define PAIRS 600u

/* A program that looking at r Hz slows down by cost x r. */
struct plant {
	uint64_t seed;
	double cost, noise;
	unsigned delay;	    /* pairs until a move is felt */
	double later;	    /* cost from half of the time on */
	double wave_s;	    /* what its waves say that they cost */
	double rates[8];    /* the last ones */
	double ideal, over; /* rate that costs the budget; pairs over 1.1 of it */
	unsigned turns;	    /* of the rate's direction in the last third */
	double rate;	    /* at the end */
};

static double uniform(struct plant *p)
{
	return ((double)random_below(&p->seed, 1u << 30) + 0.5) / (1u << 30);
}

/* Near enough to normal, of variance 1. */
static double noise(struct plant *p)
{
	double sum = -6;

	for (unsigned i = 0; i < 12; i++)
		sum += uniform(p);
	return sum;
}

static void run(struct plant *p, double share, double most_hz)
{
	struct budget_direct direct = {.wave_s = p->wave_s, .latency_s = 0.001};
	struct budget b;
	double before = 0, last = 0;
	int way = 0;

	budget_begin(&b, &(struct budget_plan){.share = share, .most_hz = most_hz}, &direct);
	for (unsigned i = 0; i < 8; i++)
		p->rates[i] = b.levers.rate_hz;
	for (unsigned i = 0; i < PAIRS; i++) {
		double cost = p->later > 0 && i >= PAIRS / 2 ? p->later : p->cost, rate;

		p->rates[i % 8] = b.levers.rate_hz;
		rate = p->rates[(i + 8 - p->delay) % 8];
		/* half of the time is to find the change */
		if (i % (PAIRS / 2) > 60)
			p->over += cost * b.levers.rate_hz > 1.1 * share;
		budget_pair(&b, log1p(cost * rate) + p->noise * noise(p), b.levers.rate_hz);
		budget_step(&b, &direct);
		last = b.levers.rate_hz;
		if (i > 2 * PAIRS / 3 && last != before) {
			int now = last > before ? 1 : -1;

			p->turns += way && now != way;
			way = now;
		}
		before = last;
		p->ideal = share / cost;
	}
	p->rate = last;
}

/* What a wave costs is from a third to three times the processor time that it says. */
static void budget_is_kept(void)
{
	double over = 0, reached = 0;
	unsigned turns = 0;

	for (unsigned i = 0; i < RUNS; i++) {
		struct plant p = {.seed = i + 1, .noise = 0.01, .delay = i % 4, .wave_s = 1e-4};

		p.cost = p.wave_s * exp(log(9) * (uniform(&p) - 0.5));
		run(&p, 0.01, 0);
		over += p.over / (PAIRS - 120);
		reached += p.rate / p.ideal / RUNS;
		turns += p.turns;
		CU_ASSERT(p.rate > 0.2 * p.ideal);
	}
	tap_note("over the budget %.2f %% of the time, %.0f %% of the rate that would do, %u turns",
		 100 * over / RUNS, 100 * reached, turns);
	CU_ASSERT(over / RUNS < 0.02);
	CU_ASSERT(reached > 0.6);
	CU_ASSERT(turns <= RUNS);
}

/* It costs four times as much from the middle on. */
static void steps_of_load_are_followed(void)
{
	double over = 0;

	for (unsigned i = 0; i < RUNS; i++) {
		struct plant p = {.seed = i + 1, .noise = 0.005, .cost = 1e-4, .wave_s = 1e-4};

		p.later = 4e-4;
		run(&p, 0.01, 0);
		over += p.over / (PAIRS - 120);
		CU_ASSERT(p.rate > 0.2 * p.ideal && p.rate < 1.2 * p.ideal);
	}
	tap_note("over the budget %.2f %% of the time", 100 * over / RUNS);
	CU_ASSERT(over / RUNS < 0.1);
}

/* A machine on which nothing can be told does not make it look as often as it likes, nor never. */
static void noise_alone_moves_little(void)
{
	for (unsigned i = 0; i < RUNS; i++) {
		struct plant p = {.seed = i + 1, .noise = 0.2, .cost = 1e-4, .wave_s = 1e-4};

		run(&p, 0.01, 0);
		CU_ASSERT(p.rate >= 0.1 && p.rate < 3 * p.ideal);
	}
}

static void no_more_than_wanted(void)
{
	struct plant p = {.seed = 1, .noise = 0.001, .cost = 1e-6, .wave_s = 1e-6};

	run(&p, 0.01, 25);
	CU_ASSERT_DOUBLE_EQUAL(p.rate, 25, 1e-9);
	CU_ASSERT_EQUAL(p.turns, 0);
}

static void collecting_may_take_all(void)
{
	struct budget_direct direct = {.collecting = 0.02, .wave_s = 1e-4};
	char words[300];
	struct budget b;

	budget_begin(&b, &(struct budget_plan){.share = 0.01, .most_hz = 25}, &direct);
	CU_ASSERT_EQUAL(b.why, BUDGET_IDLE);
	CU_ASSERT_DOUBLE_EQUAL(b.levers.rate_hz, lever_rows[LEVER_RATE].least, 1e-9);
	CU_ASSERT_PTR_NOT_NULL(strstr(budget_words(&b, words, sizeof(words)), "collecting alone"));
	CU_ASSERT(!budget_step(&b, &direct));
	direct.collecting = 0.001;
	CU_ASSERT(budget_step(&b, &direct));
	CU_ASSERT(b.levers.rate_hz > lever_rows[LEVER_RATE].least);
}

/* ---- all levers ---- */

/* A program whose events cost something, too, and whose cores agents share. */
struct world {
	struct plant p;
	double collecting;
	double idle; /* what a wave of idle agents costs, of that of others */
	double late; /* share of theirs that come late */
	bool steps;  /* its load changes now and then */
};

static struct world world_of(unsigned i)
{
	struct world w = {.p = {.seed = 1000 + i, .wave_s = 1e-4}};

	w.p.noise = 0.002 * exp(log(20) * uniform(&w.p));
	w.p.cost = 1e-4 * exp(log(9) * (uniform(&w.p) - 0.5));
	w.collecting = 0.006 * uniform(&w.p);
	w.idle = 0.1 + 0.9 * uniform(&w.p);
	w.late = uniform(&w.p) < 0.3 ? 0.5 : 0;
	w.steps = i % 2;
	return w;
}

/* What is known of it without an experiment, with the noise of measurements. */
static void world_direct(struct world *w, const struct levers *levers, struct budget_direct *direct)
{
	direct->collecting += 0.2 * (w->collecting - direct->collecting);
	direct->wave_s += 0.1 * (w->p.wave_s * (0.7 + 0.6 * uniform(&w->p)) - direct->wave_s);
	direct->latency_s += 0.1 * (0.01 * (0.5 + uniform(&w->p)) - direct->latency_s);
	direct->late += 0.1 * ((levers->idle ? w->late : 0) - direct->late);
}

/* What came of @n pairs. */
struct outcome {
	unsigned changes, turns, other; /* of the rate, of its direction, of other levers, in the
					 * last third */
	double rate_hz;
	bool up;
	unsigned over, longest; /* pairs over the budget by its own estimate, in a row */
	struct budget b;
};

static void outcome_step(struct outcome *o, unsigned i)
{
	struct budget *b = &o->b;
	double spent = budget_effect(b, b->levers.rate_hz).estimate + b->direct.collecting;
	bool least = b->levers.rate_hz <= lever_rows[LEVER_RATE].least;

	if (i > 2 * PAIRS) {
		bool changed = b->moved >> LEVER_RATE & 1, up = b->levers.rate_hz > o->rate_hz;

		o->turns += changed && o->changes && up != o->up;
		o->up = changed ? up : o->up;
		o->changes += changed;
		o->other += (b->moved & ~(1u << LEVER_RATE)) != 0;
	}
	o->over =
		b->pairs > EFFECT_PAIRS_LEAST && !least && spent > b->plan.share ? o->over + 1 : 0;
	o->longest = o->over > o->longest ? o->over : o->longest;
}

static struct outcome world_run(struct world *w, bool alone)
{
	struct budget_direct direct = {.wave_s = w->p.wave_s, .latency_s = 0.01, .alone = alone};
	struct budget_plan plan = {.share = 0.01, .most_hz = 200, .urgency = true};
	struct outcome o = {0};
	double cost;

	budget_begin(&o.b, &plan, &direct);
	for (unsigned i = 0; i < 3 * PAIRS; i++) {
		if (w->steps && i < PAIRS && i % 300 == 299)
			w->p.cost *= exp(log(16) * (uniform(&w->p) - 0.5));
		cost = w->p.cost * (o.b.levers.idle ? w->idle : 1);
		if (!alone)
			budget_pair(&o.b,
				    log1p(cost * o.b.levers.rate_hz) + w->p.noise * noise(&w->p),
				    o.b.levers.rate_hz);
		world_direct(w, &o.b.levers, &direct);
		budget_step(&o.b, &direct);
		outcome_step(&o, i);
	}
	return o;
}

/* Whatever a program costs: levers come to rest, and what it measures itself is never long over the
 * budget. */
static void levers_come_to_rest(void)
{
	unsigned longest = 0, changes = 0, turns = 0, idle = 0;

	for (unsigned i = 0; i < 4 * RUNS; i++) {
		struct world w = world_of(i);
		struct outcome o = world_run(&w, i % 8 == 7);

		longest = o.longest > longest ? o.longest : longest;
		changes = o.changes > changes ? o.changes : changes;
		turns = o.turns > turns ? o.turns : turns;
		idle += o.b.levers.idle;
		CU_ASSERT(o.longest <= BUDGET_OVER_MOST);
		CU_ASSERT(o.changes <= PAIRS / 24);
		CU_ASSERT(o.turns <= 6);
		CU_ASSERT(o.other <= 3);
		CU_ASSERT(!(o.b.levers.idle && w.late > 0));
	}
	tap_note("at most %u pairs over it in a row, %u changes of the rate in the last %u, %u of "
		 "its direction; idle agents in %u of %u runs",
		 longest, changes, PAIRS, turns, idle, 4 * RUNS);
	CU_ASSERT(idle > RUNS);
}

/* Whoever comes and goes: looking costs all of them together what is left of the total, and each of
 * them its part by weight; events are paid once. */
/* So many events that recording takes 6 % of the time, and then 0.6 %; a change is measured after
 * two steps. */
static void less_is_recorded(void)
{
	struct budget_plan plan = {.share = 0.01, .most_hz = 10, .collect = true};
	struct budget_direct direct = {.collecting = 0.06, .wave_s = 1e-6, .alone = true};
	double costs = 0.06;
	unsigned moves = 0, before;
	struct budget b;

	budget_begin(&b, &plan, &direct);
	for (unsigned i = 0; i < 100; i++) {
		costs = i < 50 ? 0.06 : 0.006;
		before = b.levers.halvings;
		direct.collecting = ldexp(costs, -(int)before);
		budget_step(&b, &direct);
		moves += b.levers.halvings != before;
		direct.unsettled = true;
		budget_step(&b, &direct);
		direct.unsettled = false;
		if (i % 50 == 49) {
			CU_ASSERT_TRUE(ldexp(costs, -(int)b.levers.halvings) <= 0.005);
			CU_ASSERT_TRUE(b.levers.halvings == 0 ||
				       ldexp(costs, -(int)b.levers.halvings) > 0.001);
			CU_ASSERT_TRUE(b.levers.rate_hz > 9);
		}
	}
	CU_ASSERT_TRUE(moves <= 5);
	plan.collect = false;
	direct.collecting = 0.06;
	budget_begin(&b, &plan, &direct);
	budget_step(&b, &direct);
	CU_ASSERT_EQUAL(b.levers.halvings, 0);
	CU_ASSERT_EQUAL(b.why, BUDGET_IDLE);
}

static void totals_are_shared(void)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		uint64_t state = seed;
		double total = 1e-3 * (double)(1 + random_below(&state, 50)), weights = 0, left = 0;
		double collecting = total * (double)random_below(&state, 80) / 100;
		unsigned n = 1 + (unsigned)random_below(&state, 6);
		double weight[6];

		for (unsigned i = 0; i < n; i++)
			weights += weight[i] = 1 + (double)random_below(&state, 9);
		for (unsigned i = 0; i < n; i++) {
			struct budget_plan plan = {.most_hz = 1e4};
			struct budget_direct direct = {.wave_s = 1e-4, .alone = true};

			budget_shared(0, total, total * weight[i] / weights, collecting, &plan,
				      &direct);
			CU_ASSERT_DOUBLE_EQUAL((plan.share - direct.collecting) * weights,
					       weight[i] * (total - collecting), 1e-12);
			left += plan.share - direct.collecting;
		}
		CU_ASSERT_DOUBLE_EQUAL(left, total - collecting, 1e-12);
	}
}

/* One's own budget counts where it leaves less. */
static void own_budgets_count_too(void)
{
	struct budget_direct direct = {.wave_s = 1e-4};
	struct budget_plan plan = {.most_hz = 1e4};

	budget_shared(0.02, 0.01, 0.005, 0.002, &plan, &direct);
	CU_ASSERT_EQUAL(plan.share, 0.005);
	CU_ASSERT_EQUAL(plan.total, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(direct.collecting, 0.001, 1e-15);
	budget_shared(0.003, 0.01, 0.005, 0.002, &plan, &direct);
	CU_ASSERT_EQUAL(plan.share, 0.003);
	CU_ASSERT_EQUAL(plan.total, 0);
	CU_ASSERT_EQUAL(plan.part, 0.005);
	CU_ASSERT_EQUAL(direct.collecting, 0.002);
	budget_shared(0.003, 0, 0, 0.002, &plan, &direct);
	CU_ASSERT_EQUAL(plan.share, 0.003);
	CU_ASSERT_EQUAL(plan.part, 0);
}

/* Measured or not: with another share the rate changes as much, at once; beyond what the entry lets
 * through it does not go. */
static void rates_follow_shares(void)
{
	struct plant p = {.noise = 0.001, .cost = 1e-5, .seed = 7};
	struct budget_direct direct = {.wave_s = 1e-4};
	struct budget_plan plan = {.share = 0.004, .total = 0.016, .part = 0.004};
	struct budget b;
	double before;

	budget_begin(&b, &plan, &direct);
	for (unsigned i = 0; i < 600; i++) {
		budget_pair(&b, log1p(p.cost * b.levers.rate_hz) + p.noise * noise(&p),
			    b.levers.rate_hz);
		budget_step(&b, &direct);
	}
	/* a wave costs a tenth of its processor time: all of the part could be spent */
	CU_ASSERT(b.levers.rate_hz > 30 && b.levers.rate_hz <= 40);
	before = b.levers.rate_hz;
	b.plan.share = b.plan.part = 0.001;
	CU_ASSERT(budget_step(&b, &direct));
	CU_ASSERT_EQUAL(b.why, BUDGET_SHARED);
	CU_ASSERT(b.levers.rate_hz < before / 3.9 && b.levers.rate_hz <= 10);
	CU_ASSERT(!budget_fits(&b));
	CU_ASSERT(!budget_step(&b, &direct));
}

static void shares_are_read(void)
{
	static const char *const wrong[] = {"",	   "-1%",  "0", "nan", "inf",
					    "101", "1 %%", "x", "1kB"};
	struct error e;
	double share = 0.5;

	CU_ASSERT(quantity_share("1%", &share, &e) == 0 && fabs(share - 0.01) < 1e-12);
	CU_ASSERT(quantity_share("0.5 %", &share, &e) == 0 && fabs(share - 0.005) < 1e-12);
	CU_ASSERT(quantity_share("2", &share, &e) == 0 && fabs(share - 0.02) < 1e-12);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT(quantity_share(wrong[i], &share, &e) == -1);
	CU_ASSERT(fabs(share - 0.02) < 1e-12);
}

static void the_best_are_marked(void)
{
	struct pareto_point p[] = {
		{.rate_hz = 10, .slowdown = 1.01}, {.rate_hz = 20, .slowdown = 1.005},
		{.rate_hz = 30, .slowdown = 1.02}, {.rate_hz = 25, .slowdown = 1.03},
		{.rate_hz = 30, .slowdown = 1.02},
	};

	pareto_mark(p, 5);
	CU_ASSERT(!p[0].best && p[1].best && p[2].best && !p[3].best && p[4].best);
	pareto_mark(p, 0);
}

/* A program of two processes on two hosts, of which one has run for an hour: 50,000 events a second
 * of 20 ns, 0.05 % of its time. Waves are sent when they are, however they are taken: several right
 * one after the other, others seconds apart; agents on idle cores miss some; what an event costs is
 * known better and better. */
static void collecting_is_measured(void)
{
	struct collecting c = {.hosts = 0};
	uint64_t seed = 3, ns = UINT64_C(3600000000000);
	double costs = NAN;

	for (unsigned i = 0; i < 400; i++) {
		uint64_t apart_us = i % 5 ? random_below(&seed, 50000) : 3000000;
		double each = 20 * (1 + 8.0 / (8 + i));
		bool late = i % 7 == 3;
		struct collecting_wave w = {.processes = late ? 1 : 2, .hosts = late};

		ns += apart_us * 1000;
		w.taken_ns = (int64_t)ns;
		w.written = (late ? 1 : 2) * ns / 1000000 * 25;
		w.cost_ns = (uint64_t)((double)w.written * each);
		costs = collecting_take(&c, &w);
		CU_ASSERT(i < 20 || (costs > 0.0004 && costs < 0.001));
	}
	CU_ASSERT_DOUBLE_EQUAL(costs, 0.0005, 0.00002);
}

/* Of few milliseconds nothing is said, nor while no event was timed; and what is over is forgotten.
 */
static void collecting_is_not_guessed(void)
{
	struct collecting c = {.hosts = 0};
	struct collecting_wave w = {.processes = 1, .taken_ns = 1000000000, .written = 1000};

	CU_ASSERT(isnan(collecting_take(&c, &w)));
	for (unsigned i = 0; i < 30; i++) {
		w.taken_ns += 20000000;
		w.written += 100000;
		CU_ASSERT(isnan(collecting_take(&c, &w)));
	}
	for (unsigned i = 0; i < 40; i++) {
		double costs;

		w.taken_ns += 20000000;
		w.written += 1000;
		w.cost_ns = w.written * 20;
		costs = collecting_take(&c, &w);
		CU_ASSERT(isnan(costs) ? i < 30 : i >= 20);
		CU_ASSERT(isnan(costs) || fabs(costs - 0.001) < 1e-5);
	}
	w.taken_ns += 100000000000;
	CU_ASSERT(collecting_take(&c, &w) < 1e-6);
	/* begun anew */
	w.taken_ns += 1000000000;
	w.written = 10;
	w.cost_ns = 200;
	CU_ASSERT(collecting_take(&c, &w) < 1e-6);
}

static CU_TestInfo cases[] = {
	{"a budget is kept, and used, without oscillation", budget_is_kept},
	{"steps of load are followed", steps_of_load_are_followed},
	{"noise alone moves little", noise_alone_moves_little},
	{"no more than wanted", no_more_than_wanted},
	{"collecting may take all of it", collecting_may_take_all},
	{"levers come to rest, whatever a program costs", levers_come_to_rest},
	{"less is recorded, if that may be, and more again", less_is_recorded},
	{"a total is shared by weight, less what events cost", totals_are_shared},
	{"a budget of one's own counts where it is less", own_budgets_count_too},
	{"rates follow shares", rates_follow_shares},
	{"what collecting costs is measured, however waves come", collecting_is_measured},
	{"... and not guessed", collecting_is_not_guessed},
	{"no other point beats the best", the_best_are_marked},
	{"budgets are read", shares_are_read},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "budget", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
