/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts programs, and reads the output of one until it ends or its time is over. */
#include "consumers/cli/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/utf8.h"
#include "tree/data/clock.h"

/* Most output that is read: far more than all jobs of a large machine. */
#define OUTPUT_MOST (16u << 20)

/* The output of one pipe. */
struct stream {
	int fd; /* -1: it has ended */
	char *text;
	size_t n, room;
};

struct subprocess {
	pid_t pid;
	struct stream out, errors;
};

/* ---- starting ---- */

bool subprocess_find(const char *command, char *buf, size_t n)
{
	const char *dir = strchr(command, '/') ? "" : getenv("PATH"), *colon;
	struct stat st;
	int length;

	for (; dir && *command; dir = colon ? colon + 1 : NULL) {
		colon = strchr(dir, ':');
		length = colon ? (int)(colon - dir) : (int)strlen(dir);
		/* an empty one is the current folder */
		snprintf(buf, n, "%.*s%s%s", length, dir, length ? "/" : "", command);
		if (!stat(buf, &st) && S_ISREG(st.st_mode) && !access(buf, X_OK))
			return true;
	}
	return false;
}

static _Noreturn void child_exec(char *const *argv, const struct subprocess_way *way, int told)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC), failure;

	/* in a process with a closed standard stream, the pipes may have its number */
	nothing = fcntl(nothing, F_DUPFD_CLOEXEC, 3);
	told = fcntl(told, F_DUPFD_CLOEXEC, 3);
	for (int i = 0; i < 3; i++) {
		int fd = way->fds[i] < 0 ? nothing : way->fds[i];

		if (fd == i)
			fcntl(fd, F_SETFD, 0);
		else
			dup2(fd, i);
	}
	if (way->session) {
		setsid();
		signal(SIGPIPE, SIG_DFL);
	}
	if (way->dies)
		prctl(PR_SET_PDEATHSIG, way->dies);
	if (way->mask)
		sigprocmask(SIG_SETMASK, way->mask, NULL);
	execvp(argv[0], argv);
	failure = errno;
	if (write(told, &failure, sizeof(failure)) < 0)
		failure = 0; /* nobody is left to tell */
	_exit(127);
}

int subprocess_start(char *const *argv, const struct subprocess_way *way, pid_t *pid)
{
	int told[2], failure = 0;
	ssize_t got;

	if (pipe2(told, O_CLOEXEC) < 0)
		return -1;
	*pid = fork();
	if (*pid == 0)
		child_exec(argv, way, told[1]);
	failure = *pid < 0 ? errno : 0;
	close(told[1]);
	if (*pid > 0) {
		do
			got = read(told[0], &failure, sizeof(failure));
		while (got < 0 && errno == EINTR);
		failure = got == sizeof(failure) ? failure : 0;
	}
	close(told[0]);
	if (failure == 0)
		return 0;
	if (*pid > 0)
		waitpid(*pid, NULL, 0);
	errno = failure;
	return -1;
}

/* ---- output ---- */

static void close_both(int one, int other)
{
	int saved = errno;

	if (one >= 0)
		close(one);
	if (other >= 0)
		close(other);
	errno = saved;
}

static void stream_read(struct stream *s)
{
	ssize_t got;

	if (s->n + 4096 > s->room) {
		s->room = 2 * s->room + 8192;
		s->text = realloc(s->text, s->room);
		if (!s->text)
			abort();
	}
	got = read(s->fd, s->text + s->n, s->room - s->n - 1);
	if (got < 0 && errno == EINTR)
		return;
	if (got <= 0 || s->n + (size_t)got > OUTPUT_MOST) {
		close(s->fd);
		s->fd = -1;
		got = 0;
	}
	s->n += (size_t)got;
	s->text[s->n] = '\0';
}

static int subprocess_open(struct subprocess *r, char *const *argv)
{
	int out[2] = {-1, -1}, errors[2] = {-1, -1}, rc = -1;

	if (pipe2(out, O_CLOEXEC) == 0 && pipe2(errors, O_CLOEXEC) == 0)
		rc = subprocess_start(
			argv, &(struct subprocess_way){.fds = {-1, out[1], errors[1]}}, &r->pid);
	r->out.fd = out[0];
	r->errors.fd = errors[0];
	close_both(out[1], errors[1]);
	if (rc < 0)
		close_both(out[0], errors[0]);
	return rc;
}

/* Returns false when the time is over. */
static bool subprocess_read(struct subprocess *r, uint64_t until_ns)
{
	while (r->out.fd >= 0 || r->errors.fd >= 0) {
		struct pollfd polls[] = {{.fd = r->out.fd, .events = POLLIN},
					 {.fd = r->errors.fd, .events = POLLIN}};
		uint64_t now = clock_mono_ns();

		if (now >= until_ns)
			return false;
		if (poll(polls, 2, (int)((until_ns - now) / 1000000u) + 1) < 0)
			continue;
		if (polls[0].revents)
			stream_read(&r->out);
		if (polls[1].revents)
			stream_read(&r->errors);
	}
	return true;
}

/* Its pipes may be closed long before it ends. Returns false when the time is over. */
static bool subprocess_wait(const struct subprocess *r, uint64_t until_ns)
{
	struct pollfd ended = {.fd = pidfd_open(r->pid, 0), .events = POLLIN};
	uint64_t now = clock_mono_ns();

	if (ended.fd < 0)
		return true;
	for (; !ended.revents && now < until_ns; now = clock_mono_ns())
		(void)poll(&ended, 1, (int)((until_ns - now) / 1000000u) + 1);
	close(ended.fd);
	return ended.revents != 0;
}

char *subprocess_last_line(char *text)
{
	char *last = NULL, *line;

	while (text && (line = strsep(&text, "\r\n")) != NULL)
		if (*line)
			last = line;
	if (last)
		utf8_clean(last);
	return last;
}

static int subprocess_end(struct subprocess *r, const char *name, unsigned seconds, bool in_time,
			  struct error *e)
{
	const char *said;
	int status = 0;

	if (!in_time)
		kill(r->pid, SIGKILL);
	while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	said = subprocess_last_line(r->errors.text);
	errno = EIO;
	if (!in_time)
		return errorf(e, "%s has not ended within %u s%s%s", name, seconds,
			      said ? ": " : "", said ? said : "");
	if (said)
		return errorf(e, "%s", said);
	return errorf(e, "%s has failed, and does not say why", name);
}

char *subprocess_run(char *const *argv, unsigned seconds, struct error *e)
{
	struct subprocess r = {.out = {.fd = -1}, .errors = {.fd = -1}};
	uint64_t until_ns;
	bool in_time;
	int rc;

	if (subprocess_open(&r, argv) < 0) {
		errorf(e, "cannot start %s: %s", argv[0], strerror(errno));
		return NULL;
	}
	until_ns = clock_mono_ns() + seconds * (uint64_t)1000000000;
	in_time = subprocess_read(&r, until_ns) && subprocess_wait(&r, until_ns);
	close_both(r.out.fd, r.errors.fd);
	rc = subprocess_end(&r, argv[0], seconds, in_time, e);
	free(r.errors.text);
	if (rc == 0)
		return r.out.text ? r.out.text : memory_copy("");
	free(r.out.text);
	return NULL;
}
