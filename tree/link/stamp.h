/* SPDX-License-Identifier: BSD-3-Clause */
/* Stamps: when the kernel received bytes, not when somebody woke up to take them. */
#ifndef EVSPACE_STAMP_H
#define EVSPACE_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** Of one socket. Zeroed: nothing was received. */
struct kernel_stamp {
	int64_t real_ns;  /* the last bytes that were taken had been received, by CLOCK_REALTIME; 0:
			   * the kernel does not say */
	int64_t ahead_ns; /* CLOCK_REALTIME of CLOCK_MONOTONIC, when that was looked at last */
	bool looked;
};

/** Have the kernel say of the socket @fd when bytes were received. */
void stamp_ask(int fd);

/** As recv(2) without flags. */
ssize_t stamp_receive(struct kernel_stamp *stamp, int fd, void *data, size_t room);

/** When what was taken last, at @taken_ns (CLOCK_MONOTONIC), had been received: not before that,
 * and @taken_ns where it is not known, as after CLOCK_REALTIME was set. */
uint64_t stamp_mono_ns(struct kernel_stamp *stamp, uint64_t taken_ns);

#endif
