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

/* Moves: what is aimed at, how far up at once, and from which difference on; how far down, and how
 * much lower than it must be. */
#define AIM	   0.95
#define UP_MOST	   1.5
#define UP_LEAST   1.125
#define UP_DIRECT  1.25
#define DOWN_LEAST 1.05
#define DOWN_BELOW 0.95
#define DOWN_MOST  4.0

/* Pairs from one move to the next one, up or down; after each move up that had to be taken back
 * they are twice as many for the next one, up to so often. */
#define UP_AFTER   8u
#define DOWN_AFTER 4u
#define TURNS_MOST 6u

/* Of the budget, for collecting; of that, what it falls below before more is recorded again, which
 * doubles it. */
#define COLLECT_PART  0.5
#define COLLECT_AGAIN 0.4
#define HALVINGS_MOST 16u

/* Idle agents that miss so many deadlines are woken. */
#define LATE_MOST 0.2

static double clamp(double x, double least, double most)
{
	return x < least ? least : x > most ? most : x;
}

static double rate_wanted(const struct budget *b)
{
	double most = lever_rows[LEVER_RATE].most;

	return b->plan.most_hz > 0 && b->plan.most_hz < most ? b->plan.most_hz : most;
}

/* Beyond that asks would wait at the entry. */
static double rate_held(const struct budget *b)
{
	return b->plan.part > 0 && b->direct.wave_s > 0 ? AIM * b->plan.part / b->direct.wave_s
							: INFINITY;
}

static double rate_most(const struct budget *b)
{
	return fmax(fmin(rate_wanted(b), rate_held(b)),
		    fmin(lever_rows[LEVER_RATE].least, rate_wanted(b)));
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

static void rate_set(struct budget *b, double rate_hz, enum budget_why why)
{
	b->levers.rate_hz = rate_hz;
	b->why = why;
	b->quiet = 0;
}

/* As many waves under way as come in a round trip. More at once, fewer only if a quarter would do.
 */
static bool window_step(struct budget *b)
{
	double way = b->levers.rate_hz * b->direct.latency_s;
	unsigned needed = (unsigned)clamp(1 + way, 1, lever_rows[LEVER_WINDOW].most);

	if (needed <= b->levers.window && needed * 4 > b->levers.window)
		return false;
	b->levers.window = needed;
	return true;
}

void budget_begin(struct budget *b, const struct budget_plan *plan,
		  const struct budget_direct *direct)
{
	*b = (struct budget){.plan = *plan, .share = plan->share, .direct = *direct};
	rate_set(b, clamp(direct_rate(b), rate_least(b), rate_most(b)),
		 left_over(b) > 0 ? BUDGET_BEGINS : BUDGET_IDLE);
	window_step(b);
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
	b->turns = 0;
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
static void move(struct budget *b, double rate_hz, enum budget_why down, enum budget_why up)
{
	double now = b->levers.rate_hz, least = rate_least(b), most = rate_most(b);

	rate_hz = clamp(rate_hz, least, most);
	if (rate_hz < now / DOWN_LEAST && b->quiet >= DOWN_AFTER) {
		b->turns += b->rose && b->turns < TURNS_MOST;
		b->rose = false;
		rate_set(b, fmax(rate_hz * DOWN_BELOW, fmax(now / DOWN_MOST, least)), down);
		return;
	}
	if (b->quiet < UP_AFTER << b->turns || rate_hz < now * UP_LEAST)
		return;
	b->rose = true;
	rate_hz = fmin(rate_hz, now * UP_MOST);
	rate_set(b, rate_hz,
		 rate_hz < most		 ? up
		 : most < rate_wanted(b) ? BUDGET_HELD
					 : BUDGET_WANTED);
}

/* By direct cost alone: there is no experiment, or none yet. */
static void step_direct(struct budget *b)
{
	double now = b->levers.rate_hz;
	double rate_hz = clamp(direct_rate(b), rate_least(b), rate_most(b));

	if (rate_hz < now / DOWN_LEAST || rate_hz > now * UP_DIRECT)
		rate_set(b, rate_hz, BUDGET_BEGINS);
}

/* What a wave costs is as before: the rate changes with what is left. @before: what was left. */
static void rate_share(struct budget *b, double before)
{
	double rate_hz = b->levers.rate_hz * (before > 0 ? left_over(b) / before : 1);

	rate_set(b, clamp(rate_hz, rate_least(b), rate_most(b)), BUDGET_SHARED);
}

static void rate_step(struct budget *b, double before)
{
	bool shared = b->share < b->plan.share || b->share > b->plan.share;
	double cost, error;

	b->share = b->plan.share;
	if (left_over(b) <= 0) {
		rate_set(b, rate_least(b), BUDGET_IDLE);
	} else if (shared) {
		rate_share(b, before);
	} else if (!is_known(b)) {
		step_direct(b);
	} else if (is_surge(b)) {
		forget(b);
		rate_set(b, fmax(b->levers.rate_hz / 2, rate_least(b)), BUDGET_SURGE);
	} else if ((cost = cost_most(b)) <= 0) {
		move(b, rate_most(b), BUDGET_OVER, BUDGET_ROOM);
	} else {
		move(b, AIM * log1p(left_over(b)) / cost,
		     cost_of(b, &error) > error ? BUDGET_OVER : BUDGET_UNCERTAIN, BUDGET_ROOM);
	}
}

/* ---- the other levers ---- */

/* What is recorded is halved as often as it must be, and doubled one step at a time. */
static void collect_step(struct budget *b)
{
	double most = COLLECT_PART * b->plan.share, costs = b->direct.collecting;
	unsigned before = b->levers.halvings, now = before;

	if (!b->plan.collect || b->direct.unsettled)
		return;
	for (; costs > most && now < HALVINGS_MOST; costs /= 2)
		now++;
	if (now == before && now > 0 && costs < COLLECT_AGAIN * most) {
		costs *= 2;
		now--;
	}
	b->levers.halvings = now;
	b->direct.collecting = costs;
}

/* Is less seen than is wanted, as that would cost too much? */
static bool is_short(const struct budget *b)
{
	return b->levers.rate_hz * UP_LEAST < rate_most(b);
}

/* Agents leave cores to the program. What was learnt of those that did not counts little then. */
static void idle_set(struct budget *b, bool idle, enum budget_why why)
{
	b->levers.idle = idle;
	b->why = why;
	b->quiet = 0;
	if (b->pairs >= BUDGET_RECENT)
		forget(b);
}

static void urgency_step(struct budget *b)
{
	double error = 0, cost = b->rr > 0 ? cost_of(b, &error) : 0;
	bool settled = b->quiet >= 2 * UP_AFTER && cost > error;

	if (!b->plan.urgency || left_over(b) <= 0)
		return;
	if (b->levers.idle && b->direct.late > LATE_MOST) {
		b->was_late = true;
		idle_set(b, false, BUDGET_LATE);
	} else if (!b->levers.idle && !b->was_late && is_short(b) &&
		   (b->direct.alone ? b->direct.wave_s > 0 : settled)) {
		idle_set(b, true, BUDGET_MEEK);
	}
}

bool budget_step(struct budget *b, const struct budget_direct *direct)
{
	struct levers before = b->levers;
	bool was_idle = b->why == BUDGET_IDLE;
	double was_left = b->share - b->direct.collecting;

	b->direct = *direct;
	collect_step(b);
	rate_step(b, was_left);
	if (b->levers.halvings != before.halvings)
		b->why = b->levers.halvings > before.halvings ? BUDGET_THINNED : BUDGET_FULLER;
	if (levers_moved(&before, &b->levers) == 0)
		urgency_step(b);
	b->moved = levers_moved(&before, &b->levers);
	if (window_step(b) && b->moved == 0)
		b->why = BUDGET_LATENCY;
	b->moved = levers_moved(&before, &b->levers);
	return b->moved || (b->why == BUDGET_IDLE && !was_idle);
}

bool budget_fits(const struct budget *b)
{
	return b->levers.rate_hz * UP_LEAST >= rate_wanted(b);
}

void budget_shared(double own, double total, double part, double collecting,
		   struct budget_plan *plan, struct budget_direct *direct)
{
	double its = total > 0 ? collecting * part / total : 0;
	bool shares = total > 0 && (own <= 0 || part - its < own - collecting);

	plan->share = shares ? part : own;
	plan->total = shares ? total : 0;
	plan->part = total > 0 ? part : 0;
	direct->collecting = shares ? its : collecting;
}

/* ---- words ---- */

static const char *reason(const struct budget *b)
{
	static const char *const whys[] = {
		[BUDGET_BEGINS] = "by the processor time of agents",
		[BUDGET_ROOM] = "there is room",
		[BUDGET_OVER] = "its upper bound was over the budget",
		[BUDGET_SURGE] = "it has become dearer",
		[BUDGET_WANTED] = "all that was asked for fits",
		[BUDGET_IDLE] = "collecting alone takes the budget: `--budget PERCENT,collect` "
				"lessens that, or allow more",
		[BUDGET_UNCERTAIN] = "what it costs cannot be told well enough yet",
		[BUDGET_MEEK] = "agents now leave all cores to the program, as less is seen than "
				"is wanted",
		[BUDGET_LATE] = "idle agents miss deadlines here: they take their turn again",
		[BUDGET_LATENCY] = "waves take so long now",
		[BUDGET_SHARED] = "the budget is shared out anew",
		[BUDGET_THINNED] = "collecting took more than half of it",
		[BUDGET_FULLER] = "collecting takes so little by now",
		[BUDGET_HELD] = "its part of the map's budget lets no more through",
	};

	return whys[b->why];
}

/* What else is moved than the rate. */
static void words_of_levers(const struct budget *b, char *buf, size_t n)
{
	size_t used = 0;

	buf[0] = '\0';
	if (b->levers.window > 1)
		used += (size_t)snprintf(buf, n, ", %u under way", b->levers.window);
	if (b->levers.halvings > 0)
		used += (size_t)snprintf(buf + used, n - used, ", one event in %u recorded",
					 1u << b->levers.halvings);
	if (b->levers.idle)
		snprintf(buf + used, n - used, ", from idle agents");
}

const char *budget_words(const struct budget *b, char *buf, size_t n)
{
	struct effect_interval i = budget_effect(b, b->levers.rate_hz);
	char measured[96] = "", collecting[48] = "", total[40] = "", levers[240];

	words_of_levers(b, levers, sizeof(levers));
	if (b->direct.collecting > 0)
		snprintf(collecting, sizeof(collecting), " (%.2g %% for collecting)",
			 b->direct.collecting * 100);
	if (b->plan.total > 0)
		snprintf(total, sizeof(total), " of %.3g %% for all", b->plan.total * 100);
	if (isfinite(i.high))
		snprintf(measured, sizeof(measured), ", which slow down by %.2f %% (%.2f to %.2f)",
			 i.estimate * 100, i.low * 100, i.high * 100);
	snprintf(buf, n, "budget %.3g %%%s%s: up to %.3g waves a second%s%s: %s",
		 b->plan.share * 100, total, collecting, b->levers.rate_hz, levers, measured,
		 reason(b));
	return buf;
}
