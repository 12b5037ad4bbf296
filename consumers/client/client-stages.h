/* SPDX-License-Identifier: BSD-3-Clause */
/* The stages of a view over what an archive of all events has: in the client, by the same code as
 * on hosts. */
#ifndef EVSPACE_CLIENT_STAGES_H
#define EVSPACE_CLIENT_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/base/error.h"

struct client_answer;
struct client_stages;
struct evspace_client;
struct pathmap_texts;

/** Those of the client's view, as it defines it, as the archive's map @texts has it (no texts: it
 * has none), or as it is shipped; @same: what comes is of that view already, and only --select
 * counts. Returns NULL with errno and @e. */
struct client_stages *client_stages_new(const struct evspace_client *c,
					const struct pathmap_texts *texts, bool same,
					struct error *e);
void client_stages_free(struct client_stages *s);

/** Go on with what @before, of the same client and an earlier map, knows of the newest tuples. */
void client_stages_follow(struct client_stages *s, struct client_stages *before);

/** Is anything selected at all, and this element, if it is known what it is? */
bool client_stages_select(const struct client_stages *s, const struct evspace_client *c);
bool client_stages_want(const struct client_stages *s, const struct evspace_client *c,
			uint32_t element);

/** Does the view read a stream, and not the newest tuples? */
bool client_stages_stream(const struct client_stages *s);

/** Does it read counts, and not tuples? */
bool client_stages_counts(const struct client_stages *s);

/** Pass what has come in an answer through them; its sums are then those of what is left. Returns
 * 0, or -1 with @e. */
int client_stages_apply(struct client_stages *s, const struct evspace_client *c,
			struct client_answer *to, struct error *e);

#endif
