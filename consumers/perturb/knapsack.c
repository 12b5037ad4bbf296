/* SPDX-License-Identifier: BSD-3-Clause */
/* Frequencies reduced to a budget by selection (Problem 1), and what a plan with a probe is worth.
 */
#include "consumers/perturb/knapsack.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"

/* Of the time to report an event, if seeing it takes nearly as long. */
#define EXTRA_LEAST 1e-6

/* A class's reports above its minimum. */
struct class_item {
	double density; /* information a second of reporting */
	double cost;	/* seconds of each second if all are reported */
};

static double class_density(const struct event_class *c)
{
	return c->weight / c->t_trace;
}

/* The frequency that a class is reported with at least. */
static double class_least(const struct event_class *c)
{
	return c->minimum < c->frequency ? c->minimum : c->frequency;
}

static double class_more(const struct event_class *c)
{
	return (c->frequency - class_least(c)) * c->t_trace;
}

/* Put the items of at least @least, or of more than it, in front of the others, without a branch
 * that depends on them. Returns how many, and what they cost. */
static size_t items_part(struct class_item *items, size_t n, double least, bool more, double *cost)
{
	size_t front = 0;

	*cost = 0;
	for (size_t i = 0; i < n; i++) {
		struct class_item item = items[i];
		bool is = more ? item.density > least : item.density >= least;

		items[i] = items[front];
		items[front] = item;
		front += is;
		*cost += is * item.cost;
	}
	return front;
}

/* The density of the item that does not fit whole when @room is filled with the densest first;
 * below 0: all fit. */
static double items_critical(struct class_item *items, size_t n, double room)
{
	uint64_t seed = 1;

	while (n > 0) {
		double pivot, cost;
		size_t front;

		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		pivot = items[(seed >> 33) % n].density;
		front = items_part(items, n, pivot, true, &cost);
		if (cost > room) {
			n = front;
			continue;
		}
		room -= cost;
		items += front;
		n -= front;
		front = items_part(items, n, pivot, false, &cost);
		if (cost > room)
			return pivot;
		room -= cost;
		items += front;
		n -= front;
	}
	return -1;
}

/* What all classes take for what is not to be chosen. */
static double reduced_floor(const struct event_class *classes, size_t n)
{
	double used = 0;

	for (size_t i = 0; i < n; i++)
		used += classes[i].frequency * classes[i].t_detect +
			class_least(&classes[i]) * classes[i].t_trace;
	return used;
}

/* The share of its reports above the minimum that a class gets out of @room. */
static double class_share(const struct event_class *c, double critical, double *room)
{
	double density = class_density(c), cost = class_more(c), share;

	if (density > critical)
		return 1;
	if (density < critical)
		return 0;
	share = cost <= *room ? 1 : *room / cost;
	*room -= share * cost;
	return share;
}

int knapsack_reduced(const struct event_class *classes, size_t n, const struct plan_budget *budget,
		     double *frequency, struct reduced_plan *plan)
{
	double least = reduced_floor(classes, n), critical, room = budget->share - least;
	struct class_item *items;

	*plan = (struct reduced_plan){.used = least};
	if (room < -budget->share * KNAPSACK_ROUNDING)
		return -1;
	items = memory_new(n + 1, sizeof(*items));
	for (size_t i = 0; i < n; i++)
		items[i] = (struct class_item){class_density(&classes[i]), class_more(&classes[i])};
	critical = items_critical(items, n, room);
	free(items);
	for (size_t i = 0; i < n; i++)
		if (class_density(&classes[i]) > critical)
			room -= class_more(&classes[i]);
	room = room > 0 ? room : 0;
	for (size_t i = 0; i < n; i++) {
		const struct event_class *c = &classes[i];
		double share = class_share(c, critical, &room), lowest = class_least(c);

		frequency[i] = lowest + share * (c->frequency - lowest);
		plan->information += frequency[i] * c->weight;
		plan->used += share * class_more(c);
	}
	return 0;
}

int knapsack_halvings(const struct event_class *c, double hz)
{
	double left = c->frequency;
	int halvings = 0;

	if (hz <= 0)
		return -1;
	for (; left > hz * (1 + KNAPSACK_ROUNDING); left /= 2)
		if (++halvings > KNAPSACK_HALVINGS)
			return -1;
	return halvings;
}

double knapsack_part_least(const struct event_class *c)
{
	double least = c->frequency;

	for (int halvings = 0; halvings < KNAPSACK_HALVINGS && least / 2 >= c->minimum; halvings++)
		least /= 2;
	return c->minimum > 0 ? least : 0;
}

struct probing_plan *knapsack_plans_new(size_t most, size_t n)
{
	struct probing_plan *plans = memory_new(1, most * (sizeof(*plans) + n * sizeof(bool)) + 1);
	bool *traced = (bool *)(plans + most);

	for (size_t i = 0; i < most; i++)
		plans[i].traced = traced + i * n;
	return plans;
}

void knapsack_plans_free(struct probing_plan *plans)
{
	free(plans);
}

double knapsack_extra(const struct event_class *c)
{
	double least = c->t_trace * EXTRA_LEAST;

	return c->t_trace - c->t_detect > least ? c->t_trace - c->t_detect : least;
}

double knapsack_left(const struct plan_budget *budget, double used)
{
	double left = (budget->share - used) / budget->t_sampling;
	double whole = budget->share / budget->t_sampling;

	return left < 0 && left > -whole * KNAPSACK_ROUNDING ? 0 : left;
}

bool knapsack_value(const struct event_class *classes, size_t n, const struct plan_budget *budget,
		    struct probing_plan *plan)
{
	double used = 0, traced = 0, hits = 0, least = 0;

	for (size_t i = 0; i < n; i++) {
		const struct event_class *c = &classes[i];

		used += c->frequency * c->t_detect;
		if (plan->traced[i]) {
			used += c->frequency * knapsack_extra(c);
			traced += c->frequency * c->weight;
		} else {
			hits += c->duty * c->weight;
			if (c->minimum > least)
				least = c->minimum;
		}
	}
	plan->probing_hz = knapsack_left(budget, used);
	plan->information = traced + plan->probing_hz * hits;
	return plan->probing_hz >= least;
}
