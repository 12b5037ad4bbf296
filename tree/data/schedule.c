/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and changes what the kernel's scheduler says of processes. */
#include "tree/data/schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void *wait_for_end(void *end)
{
	while (sem_wait(end) < 0)
		;
	return NULL;
}

bool schedule_returns(void)
{
	/* stays: a thread that is idle for good may get a core only later */
	static sem_t end;
	const struct sched_param none = {.sched_priority = 0};
	sigset_t all, before;
	pthread_t thread;
	bool returns;

	if (sem_init(&end, 0, 0) < 0)
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	returns = pthread_create(&thread, NULL, wait_for_end, &end) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!returns)
		return false;
	returns = pthread_setschedparam(thread, SCHED_IDLE, &none) == 0 &&
		  pthread_setschedparam(thread, SCHED_BATCH, &none) == 0;
	pthread_detach(thread);
	sem_post(&end);
	return returns;
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
