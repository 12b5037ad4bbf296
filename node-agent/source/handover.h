/* SPDX-License-Identifier: BSD-3-Clause */
/* Handovers: where other nodes of the same event space have stopped reading what is read here from
 * now on, because a map puts its rank here. */
#ifndef EVSPACE_HANDOVER_H
#define EVSPACE_HANDOVER_H

#include <stdint.h>

#include "node-agent/store/cursor.h"

/** What has become of an element that a map puts here. */
enum handover {
	HANDOVER_NONE, /* no other node has read of its process in this scope */
	HANDOVER_WAIT, /* another one does so still: its tuples stay in the ring till it gives up */
	HANDOVER_TAKEN, /* it is to be read here */
};

/** The cursors of the other nodes of a scope, as they are now. */
struct handovers;

/** Look at all cursor files of scope @id in @dir but @node's own. Aborts when memory is out. */
struct handovers *handovers_open(const char *dir, const unsigned char id[16], const char *node);
void handovers_close(struct handovers *handovers);

/**
 * Who has read the element @key (whatever tenure)? When nobody does so any more, it is to be read
 * on from *@position. What an agent that is gone had not given away is taken from it.
 */
enum handover handover_take(struct handovers *handovers, const struct cursor_key *key,
			    uint64_t *position);

#endif
