/* SPDX-License-Identifier: BSD-3-Clause */
/* Dwells: what a thread was in and from when to when; how the time of one account of it differs
 * from another's. Pure. */
#ifndef EVSPACE_DWELL_H
#define EVSPACE_DWELL_H

#include <stddef.h>
#include <stdint.h>

/** A stay in something, a number of the caller's; empty if @to is not behind @from. */
struct dwell {
	int64_t from, to;
	uint32_t what;
};

/** A list of them. Zeroed: empty. */
struct dwells {
	struct dwell *all;
	size_t n;
};

/** Append one, or nothing if it is empty. */
void dwells_add(struct dwells *list, struct dwell dwell);

void dwells_fini(struct dwells *list);

/**
 * Of stays within each other, as of operations in regions, the innermost at each time, which is the
 * one that began last of those that go on: append to @flat what covers @from to @to without gap or
 * overlap, in order; where there is none, @outside. @nested is sorted.
 */
void dwells_flatten(struct dwells *nested, int64_t from, int64_t to, uint32_t outside,
		    struct dwells *flat);

/**
 * Add the times of @flat to @spent[what], without those at which @unknown, which covers the same
 * time in the same way, has something else than 0. Returns the time that was left out.
 */
uint64_t dwells_spend(const struct dwells *flat, const struct dwells *unknown, double *spent);

/** The share of the time of two accounts, each of @n entries and of the same sum, that one has in
 * another entry than the other: half of the sum of differences (total variation), 0 to 1. */
double spent_apart(const double *a, const double *b, size_t n);

#endif
