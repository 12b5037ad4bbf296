/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts `evspace archive`, and reads what it says of itself, line by line. */
#include "consumers/mir/archiver.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "consumers/cli/subprocess.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/* Most bytes of a line that are read, and most options. */
#define LINE	512u
#define OPTIONS 24

#define PATIENCE_NS UINT64_C(5000000000)

struct archiver {
	LIST_ENTRY(archiver) link;
	pid_t pid;
	int fd; /* what it says */
	struct event *readable;
	char line[LINE], said[LINE]; /* the one that comes, and the last that was no JSON */
	size_t n;
	bool begun, ended, left; /* left: nobody asks for it any more */
	char *why;
};

static void archiver_free(struct archiver *a)
{
	event_free(a->readable);
	close(a->fd);
	free(a->why);
	free(a);
}

/* Its end of the pipe is closed: it ends. */
static void archiver_ended(struct archiver *a)
{
	int status = 0;

	while (waitpid(a->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		a->why = memory_copy(a->said[0] ? a->said : "evspace archive has ended");
	/* else who has begun it is told */
	if (a->why && a->begun && !a->left)
		fprintf(stderr, "evspace mir: %s\n", a->why);
	a->ended = true;
	event_del(a->readable);
	LIST_REMOVE(a, link);
	if (a->left)
		archiver_free(a);
}

static void line_take(struct archiver *a)
{
	a->line[a->n] = '\0';
	a->n = 0;
	if (a->line[0] == '{')
		a->begun |= strstr(a->line, "\"type\":\"begun\"") != NULL;
	else
		memcpy(a->said, a->line, sizeof(a->said));
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct archiver *a = arg;
	char bytes[LINE];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	(void)what;
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		archiver_ended(a);
		return;
	}
	for (ssize_t i = 0; i < n; i++) {
		if (bytes[i] == '\n')
			line_take(a);
		else if (a->n < LINE - 1)
			a->line[a->n++] = bytes[i];
	}
}

static void option_add(const char **words, size_t *n, const char *option, const char *value)
{
	if (!value)
		return;
	words[(*n)++] = option;
	words[(*n)++] = value;
}

/* The folder is its standard input: its name may be another's by now. */
static int archiver_start(const struct evspace_options *look, const char *define, int folder,
			  int said, pid_t *pid)
{
	const struct subprocess_way way = {.fds = {folder, said, said}, .dies = SIGINT};
	const char *words[OPTIONS] = {"/proc/self/exe", "archive", "--json", "--new"};
	size_t n = 4;

	option_add(words, &n, "--define", define);
	option_add(words, &n, "--run", look->run);
	option_add(words, &n, "--connect", look->connect);
	option_add(words, &n, "--tls", look->tls);
	option_add(words, &n, "--identity", look->identity);
	option_add(words, &n, "--entry", look->entry);
	if (look->wait)
		words[n++] = "--wait";
	words[n] = "/proc/self/fd/0";
	return subprocess_start((char *const *)(uintptr_t)words, &way, pid);
}

struct archiver *archiver_new(struct archivers *all, struct event_base *base,
			      const struct evspace_options *look, const char *define, int folder)
{
	struct archiver *a;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 ||
	    archiver_start(look, define, folder, ends[1], &pid) < 0) {
		close(ends[0]);
		close(ends[1]);
		return NULL;
	}
	close(ends[1]);
	a = memory_new(1, sizeof(*a));
	a->pid = pid;
	a->fd = ends[0];
	a->readable = event_new(base, a->fd, EV_READ | EV_PERSIST, on_readable, a);
	if (!a->readable || event_add(a->readable, NULL) < 0)
		abort();
	LIST_INSERT_HEAD(all, a, link);
	return a;
}

bool archiver_has_begun(const struct archiver *archiver)
{
	return archiver->begun || archiver->ended;
}

const char *archiver_why(const struct archiver *archiver)
{
	return archiver->why;
}

void archiver_end(struct archiver *archiver)
{
	if (!archiver)
		return;
	archiver->left = true;
	if (archiver->ended)
		archiver_free(archiver);
	else
		kill(archiver->pid, SIGINT);
}

void archivers_fini(struct archivers *all, struct event_base *base)
{
	uint64_t until_ns = clock_mono_ns() + PATIENCE_NS;
	const struct timeval turn = {0, 100000};
	struct archiver *a;

	while (!LIST_EMPTY(all) && clock_mono_ns() < until_ns) {
		event_base_loopexit(base, &turn);
		event_base_loop(base, EVLOOP_ONCE);
	}
	while ((a = LIST_FIRST(all))) {
		LIST_REMOVE(a, link);
		archiver_free(a);
	}
}
