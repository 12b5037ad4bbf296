/* SPDX-License-Identifier: BSD-3-Clause */
/* Loss: what a stream has lost since that was said last, and what helps, in words. */
#ifndef EVSPACE_LOSS_H
#define EVSPACE_LOSS_H

#include <stdint.h>

#include "consumers/client/evspace-client.h"
#include "consumers/cli/options.h"

/** Room for loss_words(). */
#define LOSS_TEXT 240

/** What is to be said. Plain data, zeroed at first. */
struct loss {
	uint64_t lost, read; /* tuples since it was said */
	uint64_t told_ns;    /* when that was by loss_tell(), 0: never */
};

/** Take in what wave @w has lost. */
void loss_add(struct loss *loss, const struct evspace_wave *w);

/** "1,200 of 3,000 tuples lost; …" with what helps as of @w, in @buf (LOSS_TEXT); "": none. */
const char *loss_words(const struct loss *loss, const struct common *common,
		       const struct evspace_wave *w, char *buf);

/** Say so on stderr, as @command: at once, then every ten seconds. */
void loss_tell(struct loss *loss, const char *command, const struct common *common,
	       const struct evspace_wave *w);

#endif
