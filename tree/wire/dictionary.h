/* SPDX-License-Identifier: BSD-3-Clause */
/* Announcements: names and communicators that an answer says for the first time on its link. */
#ifndef EVSPACE_DICTIONARY_H
#define EVSPACE_DICTIONARY_H

#include <stddef.h>

#include "tree/data/names-comm.h"
#include "tree/wire/wire.h"

/** How much has been said on a link. Plain data, usable when zeroed. */
struct dictionary {
	size_t names, comms;
	Evspace__Name *name_items;
	Evspace__Name **name_list;
	Evspace__Comm *comm_items;
	Evspace__Comm **comm_list;
};

/**
 * Put into @answer what has not been said of @names, as much of it as a header has room for beside
 * what is in it, and as nobody is held up by; the rest goes with the next answer. What it points to
 * lasts until dictionary_clear().
 */
void dictionary_fill(struct dictionary *said, struct names *names, Evspace__Answer *answer);
void dictionary_clear(struct dictionary *said);

/** Does @answer announce no more than dictionary_fill() puts into one? Returns 0, or -1 with EPROTO
 * and @e. */
int dictionary_check(const Evspace__Answer *answer, struct error *e);

/** The communicator @comm as a message, which is initialised here; texts and members stay the
 * communicator's. */
void dictionary_comm(Evspace__Comm *message, const struct name_comm *comm);

/** Hear the @n communicators and labels of such messages, as far as @talk lasts. */
void dictionary_take(Evspace__Comm *const *comms, size_t n, struct names *names,
		     struct names_talk *talk);

#endif
