/* SPDX-License-Identifier: BSD-3-Clause */
/* Disagreements of ranks about their next collective: from events, to words and JSON. */
#ifndef EVSPACE_DISAGREEMENT_H
#define EVSPACE_DISAGREEMENT_H

#include <jansson.h>

#include "consumers/cli/words.h"
#include "consumers/watch/agreement.h"
#include "consumers/watch/thread-states.h"

/** Tell @agreement of @event, of the thread @of, if it is the call of a collective. */
void disagreement_hear(struct agreement *agreement, const struct evspace_client *client,
		       const struct evspace_event *event, const struct thread_state *of);

/** Tell it of the call sites of @threads that are in one. */
void disagreement_locate(struct agreement *agreement, const struct thread_states *threads);

/** Write "MPI_Bcast #17 on the world has not the same root for all: rank 2 calls …". @now_ns: Unix
 * time. Returns @buf. */
const char *disagreement_words(char buf[WORDS_TEXT], const struct evspace_client *client,
			       const struct disagreement *disagreement, int64_t now_ns);

/** The same, of the wave with this number. */
json_t *disagreement_json(const struct evspace_client *client,
			  const struct disagreement *disagreement, uint64_t wave);

#endif
