/* SPDX-License-Identifier: BSD-3-Clause */
/* Tools elsewhere: each document is the body of a POST over HTTPS, with a certificate on both
 * sides. */
#ifndef EVSPACE_HTTPS_H
#define EVSPACE_HTTPS_H

#include "consumers/mir/errand.h"
#include "consumers/mir/framing.h"
#include "pathmap/base/error.h"
#include "tree/link/tls.h"

/** Most connections at once; others wait until one ends. Of those that have not proved who they
 * are, the oldest one goes for one more. Most requests of one name that wait for their answers. */
#define HTTPS_MAX      128u
#define HTTPS_UNPROVEN 64u
#define HTTPS_VISITS   32u

/** Most bytes of all documents that have come in part, or are not read yet: else the connection
 * with the largest one ends. */
#define HTTPS_BODIES (4 * FRAMING_MAX)

/** Most bytes of all answers that are not taken yet: else the connection with the largest one ends.
 */
#define HTTPS_ANSWERS ((size_t)128 << 20)

/** The @n bytes of a document have come from @peer, whose certificate is verified: answer it, by
 * @done with @done_arg. Returns NULL with @e: the peer may not ask this. */
typedef struct errand *https_ask(void *arg, const struct peer *peer, const char *text, size_t n,
				 errand_done *done, void *done_arg, struct error *e);

/** Answer who connects to @fd, a socket that listens, which is taken, as is @tls. */
struct https *https_new(struct event_base *base, int fd, struct tls *tls, https_ask *ask,
			void *arg);

/** End all connections; no errand of theirs is answered. NULL is fine. */
void https_free(struct https *https);

#endif
