/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PVM tasks with the collector and without, on a virtual machine of this bench alone. As PVM's own
 * library calls what is wrapped, no task can have both: two pairs of them take turns.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/collect-case.h"

#define READY_S 10

/** Two tasks: the one that we start, and the one that it starts. */
struct tasks {
	FILE *talk; /* a byte to it, a number back */
	pid_t pid;
	bool failed;
};

static struct tasks watched, alone;
static char pvmd_file[160];

static bool pvmd_is_ready(void *arg)
{
	struct stat st;

	(void)arg;
	return stat(pvmd_file, &st) == 0 && st.st_size > 0;
}

/* Returns the pid of pvmd, or -1. */
static pid_t machine_start(struct error *e)
{
	char program[] = "/usr/bin/env", pvmd[] = "pvmd", hosts[128], log[128], folder[96], id[16];
	char *argv[] = {program, pvmd, hosts, NULL};
	pid_t pid;

	snprintf(folder, sizeof(folder), "%.60s/pvm", collect_bench.base);
	snprintf(log, sizeof(log), "%s/pvmd.log", collect_bench.base);
	snprintf(id, sizeof(id), "b%d", (int)getpid());
	snprintf(hosts, sizeof(hosts), "%s/hosts", folder);
	snprintf(pvmd_file, sizeof(pvmd_file), "%s/pvmd.%u.%s", folder, (unsigned)getuid(), id);
	if (mkdir(folder, 0700) < 0)
		return errorf(e, "cannot make the folder %s: %s", folder, strerror(errno));
	setenv("PVM_ROOT", "/usr/lib/pvm3", 0);
	setenv("PVM_ARCH", "LINUX64", 0);
	setenv("PVM_ALLOW_ROOT", "1", 0);
	setenv("PVM_TMP", folder, 1);
	setenv("PVM_VMID", id, 1);
	unsetenv("PVMSOCK");
	pid = bench_start(argv, log, e);
	if (pid < 0 || bench_until(pvmd_is_ready, NULL, READY_S, "pvmd is ready", e) == 0)
		return pid;
	bench_quote(log, e);
	bench_end(pid, SIGTERM);
	return -1;
}

static void exec_tasks(int socket, bool collected)
{
	char program[4096], library[4096];

	bench_built("tests/bench/pvm-duo", program, sizeof(program));
	if (collected) {
		bench_built(".libs/libevspace-pvm.so", library, sizeof(library));
		setenv("LD_PRELOAD", library, 1);
		setenv("EVSPACE_RUN", "bench", 1);
	}
	dup2(socket, STDIN_FILENO);
	dup2(socket, STDOUT_FILENO);
	execl(program, program, (char *)NULL);
	_exit(127);
}

static int tasks_start(struct tasks *t, bool collected, struct error *e)
{
	int ends[2];

	*t = (struct tasks){.pid = -1};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return errorf(e, "cannot make a pair of sockets: %s", strerror(errno));
	t->pid = bench_fork();
	if (t->pid == 0)
		exec_tasks(ends[1], collected);
	close(ends[1]);
	t->talk = fdopen(ends[0], "r+");
	return t->talk ? 0 : errorf(e, "no memory");
}

/* It ends, and its child with it, when nobody asks any more. */
static void tasks_end(struct tasks *t)
{
	if (t->talk)
		fclose(t->talk);
	if (t->pid > 0)
		bench_end(t->pid, SIGTERM);
	*t = (struct tasks){.pid = -1};
}

static double stretch(struct tasks *t)
{
	char line[64];

	if (t->failed)
		return 1;
	fputc('.', t->talk);
	fflush(t->talk);
	t->failed = !fgets(line, sizeof(line), t->talk);
	return t->failed ? 1 : strtod(line, NULL);
}

static double stretch_watched(void)
{
	return stretch(&watched);
}

static double stretch_alone(void)
{
	return stretch(&alone);
}

static int tasks_measure(const struct collect_case *c, struct error *e)
{
	struct pairs p;

	if (tasks_start(&watched, true, e) < 0 || tasks_start(&alone, false, e) < 0)
		return -1;
	p = pairs_measure(stretch_watched, stretch_alone, collect_pairs());
	if (watched.failed || alone.failed)
		return errorf(e, "PVM's tasks have ended");
	collect_report(c, NULL, p);
	return 0;
}

int collect_pvm_case(const struct collect_case *c, struct error *e)
{
	pid_t pvmd = machine_start(e);
	int result;

	if (pvmd < 0)
		return -1;
	result = tasks_measure(c, e);
	tasks_end(&watched);
	tasks_end(&alone);
	bench_end(pvmd, SIGTERM);
	return result;
}
