/* SPDX-License-Identifier: BSD-3-Clause */
/* A client asks for waves, and takes them. */
#ifndef EVSPACE_CLIENT_WAVE_H
#define EVSPACE_CLIENT_WAVE_H

#include <stdbool.h>
#include <stdint.h>

struct evspace_client;
struct frame;

void client_pump(struct evspace_client *c);
void client_answer(struct evspace_client *c, const struct frame *frame);
void client_ask_unanswered(struct evspace_client *c);
bool client_take(struct evspace_client *c);

/** How many more waves it may ask for, or again, now: by what the map lets it have under way. */
uint32_t client_room(const struct evspace_client *c);

/** Is there a wave to take? */
bool client_has_wave(struct evspace_client *c);

/** Has it asked for something? */
bool client_owed(const struct evspace_client *c);
void client_waves_fini(struct evspace_client *c);

#endif
