/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps a client's budget: experiments on the program, by pauses in looking, set its rate. */
#ifndef EVSPACE_CLIENT_BUDGET_H
#define EVSPACE_CLIENT_BUDGET_H

#include <stdint.h>

struct client_answer;
struct evspace_client;

/** The client is open: if it has a budget, begin to keep it. */
void client_budget_begin(struct evspace_client *c);

/** It serves an experiment, and keeps no budget, whatever the map says. Before its first wave. */
void client_budget_never(struct evspace_client *c);

/** The client is closed: end the experiment. Also if it is the experiment's own. */
void client_budget_end(struct evspace_client *c);

/** It has asked for @n waves now. */
void client_budget_asked(struct evspace_client *c, uint32_t n);

/** The part that it has of its user's budget, if it was opened with one, is another one: above 0.
 */
void client_budget_own(struct evspace_client *c, double share);

/** The map lets all clients spend @total, and this one @part of it; 0: any. */
void client_budget_share(struct evspace_client *c, double total, double part);

/** A wave is taken. */
void client_budget_wave(struct evspace_client *c, const struct client_answer *a);

#endif
