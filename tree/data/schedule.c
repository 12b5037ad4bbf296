/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and changes what the kernel's scheduler says of processes. */
#include "tree/data/schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In /proc/PID/stat, counted from the state on, which follows the name in brackets. */
#define FIELD_STARTED 19

static const int policies[] = {
	[URGENCY_IDLE] = SCHED_IDLE,
	[URGENCY_BATCH] = SCHED_BATCH,
	[URGENCY_NORMAL] = SCHED_OTHER,
};

enum urgency schedule_class(void)
{
	int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;

	for (int i = URGENCY_IDLE; i <= URGENCY_NORMAL; i++)
		if (policies[i] == policy)
			return (enum urgency)i;
	return URGENCY_UNSAID;
}

static int policy_set(enum urgency urgency)
{
	const struct sched_param none = {.sched_priority = 0};

	return sched_setscheduler(0, policies[urgency], &none);
}

int schedule_class_set(enum urgency urgency, struct error *e)
{
	if (policy_set(urgency) == 0)
		return 0;
	return errorf(e, "this host does not allow it: %s", strerror(errno));
}

bool schedule_returns(void)
{
	pid_t pid = fork(), ended;
	int status = 0;

	if (pid == 0)
		_exit(policy_set(URGENCY_IDLE) == 0 && policy_set(URGENCY_BATCH) == 0 ? 0 : 1);
	do {
		ended = pid < 0 ? -1 : waitpid(pid, &status, 0);
	} while (ended < 0 && pid > 0 && errno == EINTR);
	return ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int schedule_waited_open(void)
{
	return open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
}

int schedule_waited(int fd, uint64_t *ns)
{
	char text[96], *waited;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return -1;
	text[n] = '\0';
	waited = strchr(text, ' ');
	if (!waited)
		return -1;
	*ns = strtoull(waited, NULL, 10);
	return 0;
}

/* Read state and start of a process. Returns 0, or -1. */
static int stat_read(const char *path, char *state, uint64_t *started)
{
	char text[1024], *at, *next;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	at = strrchr(text, ')');
	if (!at || at[1] != ' ' || !at[2])
		return -1;
	*state = at[2];
	at += 2;
	for (int i = 0; i < FIELD_STARTED; i++) {
		next = strchr(at, ' ');
		if (!next)
			return -1;
		at = next + 1;
	}
	*started = strtoull(at, NULL, 10);
	return 0;
}

struct schedule_process schedule_self(void)
{
	struct schedule_process self = {getpid(), 0};
	char state;

	if (stat_read("/proc/self/stat", &state, &self.started) < 0)
		self.pid = 0;
	return self;
}

char schedule_state(const struct schedule_process *p)
{
	char path[64], state;
	uint64_t started;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)p->pid);
	if (p->pid <= 0 || stat_read(path, &state, &started) < 0 || started != p->started)
		return '?';
	return state;
}
