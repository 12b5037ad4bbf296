/* SPDX-License-Identifier: BSD-3-Clause */
/* Announcements: names and communicators that an answer says for the first time on its link. */
#ifndef EVSPACE_DICTIONARY_H
#define EVSPACE_DICTIONARY_H

#include <stddef.h>

#include "tree/data/names-comm.h"
#include "tree/wire/wire.h"

/** What was announced on a link. Plain data, usable when zeroed. */
struct dictionary {
	size_t names, comms;
	Evspace__Name *name_items;
	Evspace__Name **name_list;
	Evspace__Comm *comm_items;
	Evspace__Comm **comm_list;
};

/**
 * Put into @answer what @names has and was not announced yet, as much as a header has room for
 * besides its other content and as does not delay the receiver; the rest goes into the next answer.
 * The lists are valid until dictionary_clear().
 */
void dictionary_fill(struct dictionary *said, struct names *names, Evspace__Answer *answer);
void dictionary_clear(struct dictionary *said);

/** Does @answer announce no more than dictionary_fill() does? Returns 0, or -1 with EPROTO and
 * @e. */
int dictionary_check(const Evspace__Answer *answer, struct error *e);

/** Make @message, which need not be initialised, of the communicator @comm; borrows its texts and
 * members. */
void dictionary_comm(Evspace__Comm *message, const struct name_comm *comm);

/** Learn the @n communicators and labels in such messages, up to the limits of @talk. */
void dictionary_take(Evspace__Comm *const *comms, size_t n, struct names *names,
		     struct names_talk *talk);

#endif
