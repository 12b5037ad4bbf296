/* SPDX-License-Identifier: BSD-3-Clause */
/* The service manager that may have started us: takes its listening sockets, and tells it when we
 * are ready. */
#ifndef EVSPACE_NOTIFY_H
#define EVSPACE_NOTIFY_H

#include <sys/types.h>

#include "tree/link/address.h"

/**
 * A stream socket that the service manager passed to this process (socket activation,
 * sd_listen_fds(3)) and that listens at @at, or at any address with that port. Nonblocking and
 * closed on exec; the caller owns it. -1: there is none.
 */
int notify_socket(const union address_any *at);

/** We were forked by @parent: sockets that were passed to it are ours as well. */
void notify_inherit(pid_t parent);

/** Tell the service manager that we are ready (sd_notify(3), NOTIFY_SOCKET). Does nothing without
 * one. */
void notify_ready(void);

#endif
