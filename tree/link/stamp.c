/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the kernel for its stamps, which are of CLOCK_REALTIME, and converts them. */
#include "tree/link/stamp.h"

#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "tree/data/clock.h"

/* Both clocks are read within this, or are not compared; they have one speed, so that a larger
 * change between two looks is a step. */
#define READ_NS UINT64_C(2000)
#define STEP_NS INT64_C(4000)

void stamp_ask(int fd)
{
	const int on = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
}

/* A stamp is that of the last byte. What two sends have pushed is never joined under the first
 * one's. */
ssize_t stamp_receive(struct kernel_stamp *stamp, int fd, void *data, size_t room)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct timespec))];
	} control;
	struct iovec to = {data, room};
	struct msghdr message = {.msg_iov = &to,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	const ssize_t n = recvmsg(fd, &message, 0);
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	struct timespec time;

	if (n > 0)
		stamp->real_ns = 0;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS &&
	    c->cmsg_len >= CMSG_LEN(sizeof(time))) {
		memcpy(&time, CMSG_DATA(c), sizeof(time));
		stamp->real_ns = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
	}
	return n;
}

uint64_t stamp_mono_ns(struct kernel_stamp *stamp, uint64_t taken_ns)
{
	const uint64_t before = clock_mono_ns();
	const int64_t real_ns = clock_real_ns();
	const uint64_t after = clock_mono_ns();
	const int64_t ahead_ns = real_ns - (int64_t)after, moved = ahead_ns - stamp->ahead_ns;
	const bool looked = stamp->looked;
	int64_t ns = stamp->real_ns - ahead_ns;

	if (after - before > READ_NS)
		return taken_ns;
	stamp->ahead_ns = ahead_ns;
	stamp->looked = true;
	/* a step came after it, for good */
	if (looked && (moved > STEP_NS || moved < -STEP_NS))
		stamp->real_ns = 0;
	if (!looked || !stamp->real_ns)
		return taken_ns;
	return ns > 0 && (uint64_t)ns < taken_ns ? (uint64_t)ns : taken_ns;
}
