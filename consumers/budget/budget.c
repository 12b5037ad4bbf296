/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves levers so that the upper bound of a slowdown stays within a budget. */
#include "consumers/budget/budget.h"

#include <math.h>
#include <stdio.h>

/* Half of the interval that holds at all times, in standard errors, where that of effect.h is
 * narrowest; wider for few pairs, as there. */
#define WIDTH 3.03

/* Weight of the older pairs: halves in 256. */
#define KEPT 0.9973

/* Moves: what is aimed at, how far up at once, and from which difference on. */
#define AIM	  0.95
#define UP_MOST	  1.5
#define UP_LEAST  1.125
#define DOWN_MOST 4.0

/* Pairs from one move up to the next, and a move down. */
#define UP_AFTER   8u
#define DOWN_AFTER 4u

static double clamp(double x, double least, double most)
{
	return x < least ? least : x > most ? most : x;
}

static double rate_most(const struct budget *b)
{
	double most = lever_rows[LEVER_RATE].most;

	return b->plan.most_hz > 0 && b->plan.most_hz < most ? b->plan.most_hz : most;
}

static double rate_least(const struct budget *b)
{
	return fmin(lever_rows[LEVER_RATE].least, rate_most(b));
}

/* What is left for looking. */
static double left_over(const struct budget *b)
{
	return b->plan.share - b->direct.collecting;
}

/* The rate at which looking costs all of it, by direct cost. */
static double direct_rate(const struct budget *b)
{
	if (b->direct.wave_s <= 0)
		return fmin(1, rate_most(b));
	return AIM * left_over(b) / (BUDGET_DIRECT_MOST * b->direct.wave_s);
}

static void levers_set(struct budget *b, double rate_hz, enum budget_why why)
{
	double way = rate_hz * b->direct.latency_s;

	b->levers.rate_hz = rate_hz;
	b->levers.window = (unsigned)clamp(1 + way, 1, lever_rows[LEVER_WINDOW].most);
	b->why = why;
	b->quiet = 0;
}

void budget_begin(struct budget *b, const struct budget_plan *plan,
		  const struct budget_direct *direct)
{
	*b = (struct budget){.plan = *plan, .direct = *direct};
	levers_set(b, clamp(direct_rate(b), rate_least(b), rate_most(b)),
		   left_over(b) > 0 ? BUDGET_BEGINS : BUDGET_IDLE);
}

/* ---- the model ---- */

void budget_pair(struct budget *b, double log, double rate_hz)
{
	b->n = KEPT * b->n + 1;
	b->rr = KEPT * b->rr + rate_hz * rate_hz;
	b->rd = KEPT * b->rd + rate_hz * log;
	b->dd = KEPT * b->dd + log * log;
	b->recent[b->pairs % BUDGET_RECENT] = log;
	b->recent_hz[b->pairs % BUDGET_RECENT] = rate_hz;
	b->pairs++;
	b->quiet++;
}

/* The logarithm's cost for each wave a second, and its standard error. */
static double cost_of(const struct budget *b, double *error)
{
	double cost = b->rd / b->rr, rest = b->dd - cost * b->rd;

	*error = sqrt(fmax(rest, 0) / fmax(b->n - 1, 1) / b->rr);
	return cost;
}

static double width_of(const struct budget *b)
{
	return WIDTH * (1 + 4 / b->n);
}

static bool is_known(const struct budget *b)
{
	return b->pairs >= EFFECT_PAIRS_LEAST && b->rr > 0;
}

struct effect_interval budget_effect(const struct budget *b, double rate_hz)
{
	struct effect_interval i = {.n = b->pairs, .low = -INFINITY, .high = INFINITY};
	double error, cost, half;

	i.visible = INFINITY;
	if (b->rr <= 0)
		return i;
	cost = cost_of(b, &error);
	i.estimate = expm1(cost * rate_hz);
	if (!is_known(b))
		return i;
	half = width_of(b) * error;
	i.low = expm1((cost - half) * rate_hz);
	i.high = expm1((cost + half) * rate_hz);
	i.visible = expm1(half * rate_hz);
	return i;
}

/* What a wave a second costs at most: by the pairs, or by its processor time, while they are not
 * certain and say nothing else. */
static double cost_most(const struct budget *b)
{
	double error, cost = cost_of(b, &error), most = cost + width_of(b) * error;
	double direct = BUDGET_DIRECT_MOST * b->direct.wave_s;

	return direct > 0 ? fmin(most, fmax(direct, cost + error)) : most;
}

/* Are the last pairs, all together, over what is left? Then something has changed. */
static bool is_surge(const struct budget *b)
{
	double log = 0, spread = 0, most = log1p(left_over(b));

	if (b->pairs < 2 * BUDGET_RECENT || b->quiet < BUDGET_RECENT)
		return false;
	for (unsigned i = 0; i < BUDGET_RECENT; i++)
		log += b->recent[i] / BUDGET_RECENT;
	for (unsigned i = 0; i < BUDGET_RECENT; i++)
		spread += (b->recent[i] - log) * (b->recent[i] - log);
	spread = sqrt(spread / (BUDGET_RECENT - 1) / BUDGET_RECENT);
	return log - WIDTH * 1.5 * spread > most;
}

/* What was learnt before counts little from now on. */
static void forget(struct budget *b)
{
	b->n = b->rr = b->rd = b->dd = 0;
	for (unsigned i = 0; i < BUDGET_RECENT; i++) {
		b->n += 1;
		b->rr += b->recent_hz[i] * b->recent_hz[i];
		b->rd += b->recent_hz[i] * b->recent[i];
		b->dd += b->recent[i] * b->recent[i];
	}
}

/* ---- steps ---- */

/* Move towards @rate_hz, if that is far enough and it is time. */
static bool move(struct budget *b, double rate_hz, enum budget_why down, enum budget_why up)
{
	double now = b->levers.rate_hz, least = rate_least(b), most = rate_most(b);

	rate_hz = clamp(rate_hz, least, most);
	if (rate_hz < now / 1.05 && b->quiet >= DOWN_AFTER) {
		levers_set(b, fmax(rate_hz, now / DOWN_MOST), down);
		return true;
	}
	if (b->quiet < UP_AFTER || rate_hz < now * UP_LEAST)
		return false;
	rate_hz = fmin(rate_hz, now * UP_MOST);
	levers_set(b, rate_hz, rate_hz >= most ? BUDGET_WANTED : up);
	return true;
}

/* By direct cost alone: there is no experiment, or none yet. */
static bool step_direct(struct budget *b)
{
	double now = b->levers.rate_hz;
	double rate_hz = clamp(direct_rate(b), rate_least(b), rate_most(b));

	if (rate_hz > now / UP_LEAST && rate_hz < now * UP_LEAST)
		return false;
	levers_set(b, rate_hz, BUDGET_BEGINS);
	return true;
}

bool budget_step(struct budget *b, const struct budget_direct *direct)
{
	double cost, error;

	b->direct = *direct;
	if (left_over(b) <= 0) {
		bool moves = b->why != BUDGET_IDLE;

		levers_set(b, rate_least(b), BUDGET_IDLE);
		return moves;
	}
	if (!is_known(b))
		return step_direct(b);
	if (is_surge(b)) {
		forget(b);
		levers_set(b, fmax(b->levers.rate_hz / 2, rate_least(b)), BUDGET_SURGE);
		return true;
	}
	cost = cost_most(b);
	if (cost <= 0)
		return move(b, rate_most(b), BUDGET_OVER, BUDGET_ROOM);
	return move(b, AIM * log1p(left_over(b)) / cost,
		    cost_of(b, &error) > error ? BUDGET_OVER : BUDGET_UNCERTAIN, BUDGET_ROOM);
}

/* ---- words ---- */

const char *budget_words(const struct budget *b, char *buf, size_t n)
{
	static const char *const whys[] = {
		[BUDGET_BEGINS] = "by the processor time of agents",
		[BUDGET_ROOM] = "there is room",
		[BUDGET_OVER] = "its upper bound was over the budget",
		[BUDGET_SURGE] = "it has become dearer",
		[BUDGET_WANTED] = "all that was asked for fits",
		[BUDGET_IDLE] = "collecting alone takes the budget: `evspace collect --class "
				"CLASS time` lessens that, or allow more",
		[BUDGET_UNCERTAIN] = "what it costs cannot be told well enough yet",
	};
	struct effect_interval i = budget_effect(b, b->levers.rate_hz);
	char measured[96] = "", collecting[48] = "";

	if (b->direct.collecting > 0)
		snprintf(collecting, sizeof(collecting), " (%.2g %% for collecting)",
			 b->direct.collecting * 100);
	if (isfinite(i.high))
		snprintf(measured, sizeof(measured), ", which slow down by %.2f %% (%.2f to %.2f)",
			 i.estimate * 100, i.low * 100, i.high * 100);
	snprintf(buf, n, "budget %.3g %%%s: up to %.3g waves a second%s: %s", b->plan.share * 100,
		 collecting, b->levers.rate_hz, measured, whys[b->why]);
	return buf;
}
