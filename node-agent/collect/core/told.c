/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives a program what agents have told it, which is not believed. */
#include "node-agent/collect/core/member.h"

#include <math.h>
#include <stdio.h>

#include "node-agent/collect/core/collect.h"
#include "node-agent/segment/segment-class.h"
#include "node-agent/segment/segment-told.h"

#ifndef EVSPACE_DOOR
struct evspace_told evspace_told_1;
#endif

_Static_assert(CHANNEL_PROGRAMS <= EVSPACE_MODES, "there is room for all classes");
_Static_assert(SEGMENT_TOLD_OPS <= EVSPACE_OPERATIONS, "and for all operations");

static double told_age(uint64_t since_ns)
{
	uint64_t now = clock_mono_ns();

	return since_ns < now ? (double)(now - since_ns) / 1e9 : 0;
}

static double told_figure(double said)
{
	return isfinite(said) ? said : NAN;
}

/* What is recorded of each channel on the world, or of no communicator if nothing came there. */
static int told_modes(const struct segment *s, struct evspace_class_mode *modes)
{
	const struct segment_control *control =
		(const void *)((const char *)s->header + s->layout.control_at);
	uint32_t at[CHANNEL_PROGRAMS], n = segment_classes(s);

	for (unsigned i = 0; i < CHANNEL_PROGRAMS; i++)
		at[i] = i;
	for (uint32_t i = CHANNEL_PROGRAMS; i < n; i++) {
		const struct segment_class *class = segment_class(s, i);

		if (class && class->comm == s->said.world && class->channel < CHANNEL_PROGRAMS)
			at[class->channel] = i;
	}
	for (unsigned i = 0; i < CHANNEL_PROGRAMS; i++) {
		unsigned mode = atomic_load_explicit(&control->mode[at[i]], memory_order_relaxed);

		snprintf(modes[i].name, sizeof(modes[i].name), "%s", channel_name(i));
		snprintf(modes[i].mode, sizeof(modes[i].mode), "%s",
			 segment_mode_name(mode & ~(unsigned)MODE_MISSED));
	}
	return CHANNEL_PROGRAMS;
}

static int told_budget(struct evspace_budget *budget)
{
	/* it may be another one, or none, at any time (collect_abandon()), but it stays mapped */
	const struct segment *s = collect.segment;
	struct segment_told_budget said;

	if (!s->header || !segment_told_budget(segment_told_own(s), &said) ||
	    told_age(said.mono_ns) * 1e9 > (double)said.for_ns)
		return 0;
	*budget = (struct evspace_budget){
		.age_s = told_age(said.mono_ns),
		.budget = told_figure(said.budget),
		.slowdown = told_figure(said.slowdown),
		.low = told_figure(said.low),
		.high = told_figure(said.high),
		.rate_hz = told_figure(said.rate_hz),
	};
	budget->n_modes = told_modes(s, budget->modes);
	return 1;
}

/* The newest wave that the page has of the view; of any, if it has no name. */
static bool told_find(const struct segment_told *told, const char *view, size_t length,
		      struct segment_told_view *newest)
{
	struct segment_told_view one;

	newest->mono_ns = 0;
	for (unsigned i = 0; i < SEGMENT_TOLD_VIEWS; i++)
		if (segment_told_view(told, i, &one) && one.mono_ns > newest->mono_ns &&
		    (!view || (strlen(one.view) == length && !memcmp(one.view, view, length))))
			*newest = one;
	return newest->mono_ns > 0;
}

static int told_latest(const char *view, size_t length, struct evspace_figures *figures)
{
	const struct segment *s = collect.segment;
	struct segment_told_view newest;

	if (!s->header)
		return 0;
	/* the first time, agents begin to write it */
	if (!atomic_load_explicit(&s->header->asks, memory_order_relaxed))
		atomic_store_explicit(&s->header->asks, 1, memory_order_relaxed);
	if (!told_find(segment_told_own(s), view, length, &newest))
		return 0;
	*figures = (struct evspace_figures){
		.age_s = told_age(newest.mono_ns),
		.over_s = newest.over_ns ? (double)newest.over_ns / 1e9 : NAN,
		.wave = newest.wave,
	};
	for (unsigned i = 0; i < SEGMENT_TOLD_OPS && newest.ops[i].count > 0; i++) {
		const struct segment_told_op *op = &newest.ops[i];
		struct evspace_operation *to = &figures->operations[figures->n++];

		snprintf(to->name, sizeof(to->name), "%s", op_name((uint16_t)op->op));
		to->count = op->count;
		to->bytes = op->bytes;
		to->mean_s = (double)op->sum_ns / (double)op->count / 1e9;
		to->most_s = (double)op->most_ns / 1e9;
	}
	return 1;
}

void told_begin(void)
{
	__atomic_store_n(&evspace_told_1.budget, told_budget, __ATOMIC_RELEASE);
	__atomic_store_n(&evspace_told_1.latest, told_latest, __ATOMIC_RELEASE);
}
