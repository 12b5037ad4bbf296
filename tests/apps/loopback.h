/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection of two processes of this host, as MPI_Comm_join wants one (MPI-3.1 10.5.5). */
#ifndef EVSPACE_LOOPBACK_H
#define EVSPACE_LOOPBACK_H

/** Listen on a free port of the loopback address, which goes to *@port. Returns the socket, or -1.
 */
int loopback_listen(int *port);

/** Wait for the one who connects, and close @listening. Returns the connection, or -1. */
int loopback_accept(int listening);

/** Returns a connection to the one who listens on @port, or -1. */
int loopback_connect(int port);

#endif
