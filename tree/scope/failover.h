/* SPDX-License-Identifier: BSD-3-Clause */
/* A failover: one input of a scope's gather, which is the hop to its child or, while that is away,
 * to a stand-in. */
#ifndef EVSPACE_FAILOVER_H
#define EVSPACE_FAILOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/scope/hop.h"

/**
 * A child that dies, is stopped or is cut off must not take its own children with it: its part is
 * opened on another host, first on the alternates in the plan, last (unless the child is a gateway)
 * on this one, until the child is back and has opened it. Leaves remember their waves
 * (docs/decisions/0004-leaves-remember.md), so nothing is lost or comes twice, whichever way a wave
 * takes. The elements that the child holds as a leaf are missing meanwhile, and reported so.
 */
struct failover;

/** A failover for @place as the gather's input number @input. Borrows @scope and @place. */
struct failover *failover_new(const struct hop_scope *scope, const struct plan_place *place,
			      size_t input);

/** Close the scope at the children (@keep: cursors stay) and free. NULL is fine. */
void failover_free(struct failover *failover, bool keep);

/** As hop_ask(); returns the way by which the answer will come, or 0. */
unsigned failover_ask(struct failover *failover, const Evspace__Ask *ask);

/** As hop_leads_to(), hop_miss() and hop_displaced(). */
bool failover_leads_to(const struct failover *failover, const uint32_t *leaves, size_t n);
void failover_miss(struct failover *failover, struct wave *w, bool late);
void failover_displaced(const struct failover *failover, struct wave *w, const char *why);

/** Calls @report once for each host of the plan that has not opened its part, child or stand-in. */
typedef void failover_report(void *arg, const struct unready *who);
void failover_unready(const struct failover *failover, failover_report *report, void *arg);

#endif
