/* SPDX-License-Identifier: BSD-3-Clause */
/* Announcements: names and communicators that an answer says for the first time on its link. */
#ifndef EVSPACE_ANNOUNCE_H
#define EVSPACE_ANNOUNCE_H

#include <stddef.h>

#include "tree/names.h"
#include "tree/wire.h"

/** How much has been said on a link. Plain data, usable when zeroed. */
struct announce {
	size_t names, comms;
	Evspace__Name *name_items;
	Evspace__Name **name_list;
	Evspace__Comm *comm_items;
	Evspace__Comm **comm_list;
};

/**
 * Put into @answer what has not been said of @names, as much of it as a header has room for beside
 * what is in it, and as nobody is held up by; the rest goes with the next answer. What it points to
 * lasts until announce_clear().
 */
void announce_fill(struct announce *said, struct names *names, Evspace__Answer *answer);
void announce_clear(struct announce *said);

/** Does @answer announce no more than announce_fill() puts into one? Returns 0, or -1 with EPROTO
 * and @e. */
int announce_check(const Evspace__Answer *answer, struct error *e);

/** The communicator @comm as a message, which is initialised here; texts and members stay the
 * communicator's. */
void announce_comm(Evspace__Comm *message, const struct name_comm *comm);

/** Hear the @n communicators and labels of such messages, as far as @talk lasts. */
void announce_take(Evspace__Comm *const *comms, size_t n, struct names *names,
		   struct names_talk *talk);

#endif
