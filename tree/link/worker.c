/* SPDX-License-Identifier: BSD-3-Clause */
/* Forks for work that takes long, and reads what the child prints as it comes. */
#include "tree/link/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pathmap/base/memory.h"

/* Bytes that are read in one turn of the loop. */
#define TURN ((size_t)1 << 20)

/* Exit codes of a child. */
#define SAID_FINE  0
#define SAID_WRONG 1
#define SAID_LESS  2 /* it could not print all */

/* Where a child has its pipe. */
#define CHILD_PIPE 3

struct worker {
	pid_t pid; /* 0: it has ended */
	int fd;
	struct event *readable;
	char *text;
	size_t n, room;
	bool wrong;
	char *why; /* why nothing came of it; NULL: something did */
	struct worker_limits limits;
	void (*ended)(void *arg);
	void *ended_arg;
};

/* Those that were killed, and have not ended yet: nobody waits for what the kernel does. */
#define KILLED_MOST 64u

static pid_t killed[KILLED_MOST];

/* Returns whether it has ended; @block: wait for that. */
static bool child_reap(pid_t pid, bool block, int *status)
{
	pid_t got;

	do
		got = waitpid(pid, status, block ? 0 : WNOHANG);
	while (got < 0 && errno == EINTR);
	return got != 0;
}

/* Look after the killed ones, and after @pid, too (0: none), if there is room. Returns whether
 * there was. */
static bool killed_reap(pid_t pid)
{
	bool taken = pid == 0;
	int status;

	for (unsigned i = 0; i < KILLED_MOST; i++) {
		if (killed[i] && child_reap(killed[i], false, &status))
			killed[i] = 0;
		if (!killed[i] && !taken) {
			killed[i] = child_reap(pid, false, &status) ? 0 : pid;
			taken = true;
		}
	}
	return taken;
}

/* Nothing of this process's connections is open in the child, whose end all would see late; and no
 * signal wakes up the loop of this one. */
static _Noreturn void child_work(pid_t parent, int fd, worker_function *work, void *arg)
{
	FILE *out;
	bool wrong;

	/* what guards reads of files that are cut (segment-read.h) stays */
	for (int number = 1; number < NSIG; number++)
		if (number != SIGBUS)
			signal(number, SIG_DFL);
	setpgid(0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
	    dup2(fd, CHILD_PIPE) < 0 || close_range(CHILD_PIPE + 1, ~0U, 0) < 0 ||
	    fcntl(CHILD_PIPE, F_SETFD, FD_CLOEXEC) < 0 || !(out = fdopen(CHILD_PIPE, "w")))
		_exit(SAID_LESS);
	wrong = work(arg, out);
	/* the pipe ends with the process, which is waited for then */
	if (fflush(out) != 0)
		_exit(SAID_LESS);
	_exit(wrong ? SAID_WRONG : SAID_FINE);
}

static const char *remedy_of(const struct worker *w)
{
	return w->limits.remedy ? w->limits.remedy : "";
}

static void worker_end(struct worker *w, char *why)
{
	pid_t pid = w->pid;
	int status = 0;

	event_del(w->readable);
	w->pid = 0;
	w->why = why;
	if (why) {
		kill(-pid, SIGKILL); /* with what it has started */
		kill(pid, SIGKILL);
		if (!killed_reap(pid))
			child_reap(pid, true, &status);
		return;
	}
	child_reap(pid, true, &status);
	w->wrong = WIFEXITED(status) && WEXITSTATUS(status) == SAID_WRONG;
	if (!WIFEXITED(status) || WEXITSTATUS(status) > SAID_WRONG)
		w->why = memory_format("the process for it has ended before it was done%s",
				       remedy_of(w));
}

static void worker_tell(const struct worker *w)
{
	if (w->ended)
		w->ended(w->ended_arg);
}

static void on_output(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;
	ssize_t n;

	if (w->room - w->n < TURN) {
		w->room = 2 * w->room + TURN;
		w->text = realloc(w->text, w->room);
		if (!w->text)
			abort();
	}
	n = read(fd, w->text + w->n, TURN);
	/* what this process has come to late is there all the same */
	if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
		if (!(what & EV_TIMEOUT))
			return;
		worker_end(w, memory_format("it takes longer than %u ms%s", w->limits.ms,
					    remedy_of(w)));
	} else if (n <= 0) {
		worker_end(w, NULL);
	} else if ((w->n += (size_t)n) > w->limits.bytes)
		worker_end(w, memory_format("the answer is larger than %zu KiB%s",
					    w->limits.bytes >> 10, remedy_of(w)));
	if (w->pid == 0)
		worker_tell(w);
}

struct worker *worker_new(struct event_base *base, const struct worker_limits *limits,
			  worker_function *work, void *arg, void (*ended)(void *ended_arg),
			  void *ended_arg)
{
	const struct timeval most = {limits->ms / 1000, limits->ms % 1000 * 1000};
	const pid_t parent = getpid();
	struct worker *w;
	int ends[2];
	pid_t pid;

	killed_reap(0);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	pid = fork();
	if (pid == 0)
		child_work(parent, ends[1], work, arg);
	close(ends[1]);
	if (pid < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) {
		close(ends[0]);
		return NULL;
	}
	w = memory_new(1, sizeof(*w));
	w->pid = pid;
	w->fd = ends[0];
	w->limits = *limits;
	w->ended = ended;
	w->ended_arg = ended_arg;
	setpgid(pid, pid);
	w->readable = event_new(base, w->fd, EV_READ | EV_PERSIST, on_output, w);
	if (!w->readable || event_add(w->readable, &most) < 0)
		abort();
	return w;
}

bool worker_ended(const struct worker *worker, const char **text, size_t *n, bool *wrong,
		  const char **why)
{
	if (worker->pid > 0)
		return false;
	*text = worker->text;
	*n = worker->n;
	*wrong = worker->wrong;
	*why = worker->why;
	return true;
}

void worker_free(struct worker *worker)
{
	if (!worker)
		return;
	if (worker->pid > 0)
		worker_end(worker, memory_copy("nobody waits for it"));
	event_free(worker->readable);
	close(worker->fd);
	free(worker->why);
	free(worker->text);
	free(worker);
}
