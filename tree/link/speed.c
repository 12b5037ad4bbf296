/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the kernel now and then how far away the other side is, and how fast bytes arrive there. */
#include "tree/link/speed.h"

/* The kernel's tcp.h, not the C library's, whose struct tcp_info ends before these fields. */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "tree/data/clock.h"

#define LOOK_AGAIN_NS  UINT64_C(100000000)
#define SLOW_AT_ROUND  5000u /* us */
#define SLOW_AT_BYTES  (50u * 1000 * 1000)
#define STAYS_SLOW_NS  UINT64_C(5000000000)
#define ROUND_NOT_SEEN UINT32_MAX

static bool looks_slow(struct speed *s, int fd, size_t waiting)
{
	struct tcp_info info = {0};
	socklen_t room = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &room) < 0)
		return false;
	s->rate = info.tcpi_delivery_rate;
	if (info.tcpi_min_rtt >= SLOW_AT_ROUND && info.tcpi_min_rtt != ROUND_NOT_SEEN)
		return true;
	return waiting > 0 && info.tcpi_delivery_rate < SLOW_AT_BYTES;
}

bool speed_is_slow(struct speed *s, int fd, size_t waiting)
{
	uint64_t now = clock_mono_ns();

	if (s->looked_ns && now - s->looked_ns < LOOK_AGAIN_NS)
		return s->slow;
	s->looked_ns = now;
	if (looks_slow(s, fd, waiting)) {
		s->slow_ns = now;
		s->slow = true;
	} else if (s->slow && now - s->slow_ns >= STAYS_SLOW_NS) {
		s->slow = false;
	}
	return s->slow;
}
