/* SPDX-License-Identifier: BSD-3-Clause */
/* The service manager that may have started us: sockets that it listens at for us, and telling it
 * when we are ready. */
#ifndef EVSPACE_NOTIFY_H
#define EVSPACE_NOTIFY_H

#include <sys/types.h>

#include "tree/link/address.h"

/**
 * A stream socket that hears at @at (it listens there, or at any address with that port) and that
 * the service manager has handed to this process: socket activation, sd_listen_fds(3). Nonblocking
 * and closed on exec; the caller's from now on. -1: there is none.
 */
int notify_socket(const union address_any *at);

/** We were forked by @parent: sockets that were handed to it are ours as well. */
void notify_inherit(pid_t parent);

/** Tell the service manager that we serve (sd_notify(3), NOTIFY_SOCKET). Without one, nothing. */
void notify_ready(void);

#endif
