/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a host could not be reached, in words that say what to do. */
#ifndef EVSPACE_DISPATCH_WORDS_H
#define EVSPACE_DISPATCH_WORDS_H

#include "consumers/deploy/target.h"

/**
 * What of @said, which ssh or the host's shell has written on stderr, tells why; @otherwise when
 * nothing does. The caller's to free.
 */
char *parallel_words(const struct target *post, const char *said, const char *otherwise);

#endif
