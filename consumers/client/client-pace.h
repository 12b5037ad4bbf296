/* SPDX-License-Identifier: BSD-3-Clause */
/* When a client asks for waves. */
#ifndef EVSPACE_CLIENT_PACE_H
#define EVSPACE_CLIENT_PACE_H

#include <stdint.h>

struct client_answer;
struct evspace_client;

/** How long a stream waits for its first wave, so that it is not empty. */
void client_tempo_begin(struct evspace_client *c);

/** How many waves may be asked for at @now. */
uint32_t client_due(struct evspace_client *c, uint64_t now);

/** @n waves were asked for. */
void client_asked(struct evspace_client *c, uint32_t n);

/** It was not to ask since then (0: never before), and may by now: nothing is caught up. */
void client_pace_rested(struct evspace_client *c, uint64_t since_ns);

/** Wait until the next one is due. */
void client_pace(struct evspace_client *c, uint64_t now);

/** How long the entry may let an ask wait; 0: as short as possible. */
uint32_t client_every_us(const struct evspace_client *c);

/** Adjust the rate after the wave @a, which has used @cpu_us of its busiest host. */
void client_judge(struct evspace_client *c, struct client_answer *a, uint32_t cpu_us);

#endif
