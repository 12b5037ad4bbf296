/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeps and wakes by futex(2), between processes. */
#include "node-agent/pastset/pastset-sleep.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tree/data/clock.h"

uint64_t pastset_until(int timeout_ms)
{
	return timeout_ms < 0 ? UINT64_MAX : clock_mono_ns() + (uint64_t)timeout_ms * 1000000u;
}

int pastset_sleep(const _Atomic uint32_t *word, uint32_t value, uint64_t until_ns)
{
	uint64_t now = clock_mono_ns(), ns = PASTSET_SLICE_NS;
	struct timespec time;

	if (now >= until_ns) {
		errno = ETIMEDOUT;
		return -1;
	}
	if (until_ns - now < ns)
		ns = until_ns - now;
	time = (struct timespec){.tv_nsec = (long)ns};
	if (syscall(SYS_futex, word, FUTEX_WAIT, value, &time, NULL, 0) == 0 || errno == EAGAIN)
		return 1;
	return errno == ETIMEDOUT ? 0 : -1;
}

void pastset_wake(const _Atomic uint32_t *word)
{
	int saved = errno;

	(void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	errno = saved;
}
