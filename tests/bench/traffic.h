/* SPDX-License-Identifier: BSD-3-Clause */
/* Traffic: bytes that TCP connections to known addresses have carried, as the kernel counts them.
 */
#ifndef EVSPACE_BENCH_TRAFFIC_H
#define EVSPACE_BENCH_TRAFFIC_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"

/**
 * Sum up the payload, both ways, of all connections of this host whose accepting end is one of the
 * @n addresses at @ends: TLS is in it, the headers of TCP and IP are not (NETLINK_SOCK_DIAG,
 * tcp_info of RFC 4898's kind). Works for sockets of any process. Returns 0, or -1 with @e.
 */
int traffic_sum(const struct sockaddr_in *ends, size_t n, uint64_t *bytes, struct error *e);

#endif
