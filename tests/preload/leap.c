/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a program under test: its real-time clock leaps one hour ahead as soon as the file
 * $LEAP_FILE exists, as when somebody sets the clock, or by as many seconds as are in that.
 * CLOCK_MONOTONIC and the TSC go on as they are.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { LEAP_SECONDS = 3600 };

static time_t leap(void)
{
	const char *path = getenv("LEAP_FILE");
	int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char text[16] = "";
	ssize_t n;

	if (file < 0)
		return 0;
	n = read(file, text, sizeof(text) - 1);
	close(file);
	return n > 0 ? atol(text) : LEAP_SECONDS;
}

/* Below what is replaced here, so that nothing has to be looked up. */
static int kernel_time(clockid_t clock, struct timespec *out)
{
	return (int)syscall(SYS_clock_gettime, clock, out);
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int rc = kernel_time(clock, out);

	if (rc == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		out->tv_sec += leap();
	return rc;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &now) < 0)
		return -1;
	out->tv_sec = now.tv_sec;
	out->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *out)
{
	struct timespec now = {0};

	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}
