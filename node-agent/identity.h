/* SPDX-License-Identifier: BSD-3-Clause */
/* The identity: an agent's certificates, which change while it runs, and what is to be told of
 * them. */
#ifndef EVSPACE_IDENTITY_H
#define EVSPACE_IDENTITY_H

#include "tree/link/link.h"
#include "tree/link/tls.h"

struct event_base;
struct identity;

/**
 * Look after @tls and the links of @hub, which stay the caller's. When a file in the folder changes
 * (F_NOTIFY, fcntl(2): no inotify instance, of which users have few), or on SIGHUP, the files are
 * loaded again, and connections that would not be let in any more are closed. Once a day what is
 * about to end is told; that is the only wake-up at rest. Lines go to stderr.
 */
struct identity *identity_new(struct event_base *base, struct tls *tls, struct link_hub *hub);

/** NULL is fine. */
void identity_free(struct identity *identity);

#endif
