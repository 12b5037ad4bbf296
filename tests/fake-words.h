/* SPDX-License-Identifier: BSD-3-Clause */
/* What a fake agent says in its answers: tuples, names, who is missing. */
#ifndef EVSPACE_TESTS_FAKE_WORDS_H
#define EVSPACE_TESTS_FAKE_WORDS_H

#include <stdint.h>

#include "tree/data/batch.h"
#include "tree/wire/wire.h"

/** Put the tuples [@from, @to) of an element into @b, behind @lost ones; @part counts them. */
void fake_words_run(struct batch *b, struct part *part, uint32_t leaf, unsigned e, uint64_t from,
		    uint64_t to, uint64_t lost);

/** Put the names of all elements into @a, and a communicator; static. */
void fake_words_names(Evspace__Answer *a);

/** Put @leaf into what @a has as missing; @missing has room for all leaves. */
void fake_words_miss(Evspace__Answer *a, Evspace__Missing *missing, uint32_t leaf, unsigned why,
		     uint64_t since_ns);

#endif
