/* SPDX-License-Identifier: BSD-3-Clause */
/* Spawns a program with two pipes, and reads both until it has ended or its time is over. */
#include "consumers/deploy/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/utf8.h"
#include "tree/data/clock.h"

/* What is taken of what a program prints: much more than all jobs of a large machine. */
#define OUTPUT_MOST (16u << 20)

/* What comes out of one pipe. */
struct stream {
	int fd; /* -1: it has ended */
	char *text;
	size_t n, room;
};

struct subprocess {
	pid_t pid;
	struct stream out, errors;
};

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

static int subprocess_start(struct subprocess *r, char *const *argv)
{
	posix_spawn_file_actions_t actions;
	int out[2], errors[2], rc;

	if (pipe2(out, O_CLOEXEC) < 0)
		return errno;
	if (pipe2(errors, O_CLOEXEC) < 0) {
		rc = errno;
		close(out[0]);
		close(out[1]);
		return rc;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
	rc = posix_spawnp(&r->pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(out[1]);
	close(errors[1]);
	r->out.fd = out[0];
	r->errors.fd = errors[0];
	if (rc == 0)
		return 0;
	close(out[0]);
	close(errors[0]);
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

/* The last line of @text that has something to say, cut out of it. */
static char *last_line(char *text)
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
	said = last_line(r->errors.text);
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
	int rc = subprocess_start(&r, argv);
	uint64_t until_ns;
	bool in_time;

	if (rc != 0) {
		errno = rc;
		errorf(e, "cannot start %s: %s", argv[0], strerror(rc));
		return NULL;
	}
	until_ns = clock_mono_ns() + seconds * (uint64_t)1000000000;
	in_time = subprocess_read(&r, until_ns) && subprocess_wait(&r, until_ns);
	if (r.out.fd >= 0)
		close(r.out.fd);
	if (r.errors.fd >= 0)
		close(r.errors.fd);
	rc = subprocess_end(&r, argv[0], seconds, in_time, e);
	free(r.errors.text);
	if (rc == 0)
		return r.out.text ? r.out.text : memory_copy("");
	free(r.out.text);
	return NULL;
}
