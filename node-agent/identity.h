/* SPDX-License-Identifier: BSD-3-Clause */
/* The identity: an agent's certificates, which may change while it runs, and warnings about
 * them. */
#ifndef EVSPACE_IDENTITY_H
#define EVSPACE_IDENTITY_H

#include "tree/link/link.h"
#include "tree/link/tls.h"

struct event_base;
struct identity;

/**
 * Keep @tls and the links of @hub, which stay the caller's, up to date. When a file in the folder
 * changes (F_NOTIFY, fcntl(2), as users have few inotify instances), or on SIGHUP, reload the
 * files, and close connections that would no longer be accepted. Once a day, warn of certificates
 * that expire soon; that is the only wake-up at rest. Lines go to stderr.
 */
struct identity *identity_new(struct event_base *base, struct tls *tls, struct link_hub *hub);

/** NULL is fine. */
void identity_free(struct identity *identity);

#endif
