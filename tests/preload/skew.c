/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into the processes of one host under test: its clocks are those of a machine elsewhere.
 * The file $SKEW, of 256 bytes at least, says by how much they lead those of the kernel, in pieces:
 * "FROM AHEAD PPM, ..."; from FROM ns of the kernel's CLOCK_MONOTONIC on they are AHEAD ns ahead,
 * and gain PPM. It may be written anew in place, with changes to come. The kernel is said not to
 * trust the TSC, which cannot be replaced.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PIECES	   8
#define FILE_BYTES 256

static const char *file;

static int (*real)(clockid_t clock, struct timespec *out);

static void __attribute__((constructor)) begin(void)
{
	const char *path = getenv("SKEW");
	int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0) : -1;
	void *next = dlsym(RTLD_NEXT, "clock_gettime");

	memcpy(&real, &next, sizeof(real));
	if (fd < 0)
		return;
	file = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		abort();
	close(fd);
}

static int kernel_time(clockid_t clock, struct timespec *out)
{
	return real ? real(clock, out) : (int)syscall(SYS_clock_gettime, clock, out);
}

struct piece {
	double from, ahead, ppm;
};

/* By thread, as none waits for another. */
static const struct piece *pieces_now(void)
{
	static _Thread_local char text[FILE_BYTES + 1];
	static _Thread_local struct piece pieces[PIECES + 1];
	const char *at = text;

	if (!file || memcmp(text, file, FILE_BYTES) == 0)
		return pieces;
	memcpy(text, file, FILE_BYTES);
	for (unsigned n = 0; n <= PIECES; n++) {
		struct piece *p = &pieces[n];

		if (n == PIECES || !at ||
		    sscanf(at, "%lf %lf %lf", &p->from, &p->ahead, &p->ppm) != 3)
			*p = (struct piece){1e300, 0, 0};
		at = at ? strchr(at, ',') : NULL;
		at = at ? at + 1 : NULL;
	}
	return pieces;
}

static int64_t ahead_ns(void)
{
	struct timespec now = {0};
	double ns;
	int64_t ahead = 0;

	kernel_time(CLOCK_MONOTONIC, &now);
	ns = (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
	for (const struct piece *p = pieces_now(); file && p->from <= ns; p++)
		ahead = (int64_t)(p->ahead + (ns - p->from) * p->ppm * 1e-6);
	return ahead;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int rc = kernel_time(clock, out);
	int64_t ns;

	if (rc < 0 || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
		return rc;
	ns = out->tv_sec * INT64_C(1000000000) + out->tv_nsec + ahead_ns();
	out->tv_sec = ns / 1000000000;
	out->tv_nsec = ns % 1000000000;
	return rc;
}

/* The kernel says when something was received by its own clock. */
ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	const ssize_t n = syscall(SYS_recvmsg, fd, message, flags);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(message) : NULL;

	for (; c; c = CMSG_NXTHDR(message, c)) {
		struct timespec time;
		int64_t ns;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&time, CMSG_DATA(c), sizeof(time));
		ns = time.tv_sec * INT64_C(1000000000) + time.tv_nsec + ahead_ns();
		time = (struct timespec){ns / 1000000000, ns % 1000000000};
		memcpy(CMSG_DATA(c), &time, sizeof(time));
	}
	return n;
}

int open(const char *path, int flags, ...)
{
	static const char sources[] = "hpet\n";
	va_list more;
	int mode, fd;

	va_start(more, flags);
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, int) : 0;
	va_end(more);
	if (!strstr(path, "/available_clocksource"))
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	fd = memfd_create("sources", MFD_CLOEXEC);
	if (fd >= 0 && pwrite(fd, sources, sizeof(sources) - 1, 0) < 0)
		return -1;
	return fd;
}
