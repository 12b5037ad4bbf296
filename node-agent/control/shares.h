/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares of consumers in what looking at a run may cost by the map: one for each session and run,
 * by weight. Each consumer is told its part; what it asks for beyond that waits. */
#ifndef EVSPACE_SHARES_H
#define EVSPACE_SHARES_H

#include <stdint.h>

#include "node-agent/control/opened.h"

struct event_base;
struct shares;

/** No share yet, and no limit. */
struct shares *shares_new(struct event_base *base);
void shares_free(struct shares *shares);

/** The map lets all consumers of a run together spend @total of its time; 0: any. */
void shares_total(struct shares *shares, double total);

/** A session has opened the view @o: it shares from now on. @session is who it belongs to. */
void share_join(struct shares *shares, const void *session, struct opened *o);

/** The view is about to be closed. */
void share_leave(struct opened *o);

/** As opened_ask(), of what the share lets through now. What waits goes on by itself. */
int share_ask(struct opened *o, const Evspace__Ask *ask, struct error *e);

/** What waits may go on: its tree was switched. */
void share_resume(struct opened *o);

#endif
