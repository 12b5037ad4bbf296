/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace-pvm: starts agents as tasks of the user's virtual machine of PVM, and ends with them. */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pvm3.h>

#include "pathmap/base/quantity.h"

/* Tags of pvm_notify's messages. */
enum { TAG_EXIT = 1, TAG_HOST = 2 };

/* Time for agents to end when they are told to. */
#define END_TRIES 100
#define END_TRY	  (&(const struct timespec){.tv_nsec = 100000000})

/* from deploy/launch */
struct deploy_pvm_command {
	char *launch, *now, *program, *nodes, *hosts;
};

/* One agent. */
struct deploy_pvm_member {
	char *node, *host;
	int task, daemon; /* task ids; 0: it has ended */
	int was;	  /* its task id, also after its end */
	bool added;	  /* we added the host to the virtual machine */
};

struct crew {
	const struct deploy_pvm_command *command;
	struct deploy_pvm_member *members;
	char *nodes, *hosts; /* the memory of the members' names */
	size_t n, living;
	bool started; /* we started the virtual machine */
};

static volatile sig_atomic_t told_to_end, told_to_look;

static void on_signal(int number)
{
	if (number == SIGUSR2)
		told_to_look = 1;
	else
		told_to_end = 1;
}

/* Say on stderr what failed, on what, by PVM's error number. Returns -1. */
static int machine_complain(const char *what, const char *of, int code)
{
	fprintf(stderr, "evspace-pvm: %s%s%s: PVM error %d%s\n", what, *of ? " " : "", of, code,
		code == PvmNoFile ? " (no such file there)"
		: code == PvmCantStart
			? " (cannot start its daemon: is pvm installed there, and can you log in "
			  "by ssh without a password? See $PVM_TMP/pvml.UID)"
			: "");
	return -1;
}

/* ---- the virtual machine ---- */

static int machine_join(struct crew *c)
{
	int tid;

	setenv("PVM_ROOT", "/usr/lib/pvm3", 0);
	setenv("PVM_RSH", "/usr/bin/ssh", 0);
	pvm_setopt(PvmAutoErr, 0);
	tid = pvm_mytid();
	if (tid < 0) {
		/* it is not running yet */
		int code = pvm_start_pvmd(0, NULL, 1);

		if (code < 0 && code != PvmDupHost)
			return machine_complain("cannot start pvmd", "", code);
		c->started = code >= 0;
		tid = pvm_mytid();
	}
	if (tid < 0)
		return machine_complain(
			"cannot join the virtual machine: $PVM_TMP/pvmd.UID is of a "
			"pvmd that does not answer; if none runs here any more, remove "
			"that file",
			"", tid);
	if (!c->started)
		fprintf(stderr,
			"evspace launch: note: by the virtual machine of PVM that runs already\n");
	return 0;
}

/* The daemon of a host, 0: the host is not in the virtual machine. */
static int machine_daemon(const char *host)
{
	struct pvmhostinfo *info;
	int n, arches;

	if (pvm_config(&n, &arches, &info) < 0)
		return 0;
	for (int i = 0; i < n; i++)
		if (strcmp(info[i].hi_name, host) == 0)
			return info[i].hi_tid;
	return 0;
}

static int member_host(struct deploy_pvm_member *m)
{
	int code = 0, result;

	m->daemon = machine_daemon(m->host);
	if (m->daemon)
		return 0;
	result = pvm_addhosts(&m->host, 1, &code);
	if (result < 0 || (code < 0 && code != PvmDupHost))
		return machine_complain("cannot add the host", m->host, code < 0 ? code : result);
	m->added = code != PvmDupHost;
	m->daemon = machine_daemon(m->host);
	return 0;
}

static int member_spawn(const struct crew *c, struct deploy_pvm_member *m)
{
	const struct deploy_pvm_command *o = c->command;
	char task[] = "pvm-task", shell[] = "/bin/sh";
	char *words[] = {o->launch, task, o->now, o->program, o->nodes, o->hosts, m->node, NULL};
	int code = pvm_spawn(shell, words, PvmTaskHost, m->host, 1, &m->task);

	m->was = m->task;
	if (code == 1)
		return 0;
	code = code < 0 ? code : m->task;
	m->task = 0;
	return machine_complain("cannot start the agent on", m->host, code);
}

static int crew_start(struct crew *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct deploy_pvm_member *m = &c->members[i];

		if (member_host(m) < 0 || member_spawn(c, m) < 0)
			return -1;
		c->living++;
		pvm_notify(PvmTaskExit, TAG_EXIT, 1, &m->task);
		pvm_notify(PvmHostDelete, TAG_HOST, 1, &m->daemon);
	}
	return 0;
}

/* ---- events ---- */

static void member_gone(struct crew *c, struct deploy_pvm_member *m, const char *why)
{
	if (!m->task)
		return;
	m->task = 0;
	c->living--;
	/* deploy/host looks for this line */
	fprintf(stderr, "evspace launch: the agent of %s has ended%s\n", m->node, why);
}

static void crew_heard(struct crew *c)
{
	int buffer, bytes, tag, source, id;

	while ((buffer = pvm_nrecv(-1, -1)) > 0) {
		if (pvm_bufinfo(buffer, &bytes, &tag, &source) < 0 || pvm_upkint(&id, 1, 1) < 0)
			continue;
		for (size_t i = 0; i < c->n; i++) {
			struct deploy_pvm_member *m = &c->members[i];

			if (tag == TAG_EXIT && m->task == id)
				member_gone(c, m, "");
			else if (tag == TAG_HOST && m->daemon == id)
				member_gone(c, m, ": its host has left the virtual machine");
		}
	}
}

/* Wait for a message from pvmd, a signal, or @limit (NULL: for ever). */
static void crew_wait(const struct timespec *limit, const sigset_t *during)
{
	struct pollfd polls[8];
	int *fds, n = pvm_getfds(&fds);

	for (int i = 0; i < n && i < 8; i++)
		polls[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
	(void)ppoll(polls, n < 8 ? (nfds_t)(n > 0 ? n : 0) : 8, limit, during);
}

static void crew_signal(const struct crew *c, int number)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->members[i].task)
			pvm_sendsig(c->members[i].task, number);
}

static void crew_serve(struct crew *c, const sigset_t *during)
{
	crew_heard(c);
	while (c->living && !told_to_end) {
		crew_wait(NULL, during);
		crew_heard(c);
		/* deploy/launch there knows what it means */
		if (told_to_look)
			crew_signal(c, SIGUSR2);
		told_to_look = 0;
	}
}

/* How many tasks on the host of @daemon (0: on all) are not ours. */
static int machine_others(const struct crew *c, int daemon)
{
	struct pvmtaskinfo *tasks;
	int n, others = 0, own = pvm_mytid();

	if (pvm_tasks(daemon, &n, &tasks) < 0)
		return 0;
	for (int i = 0; i < n; i++) {
		bool ours = tasks[i].ti_tid == own;

		for (size_t k = 0; !ours && k < c->n; k++)
			ours = tasks[i].ti_tid == c->members[k].was;
		/* the group server is no program, and stays as long as the machine */
		others += !ours && (!tasks[i].ti_a_out || strcmp(tasks[i].ti_a_out, "pvmgs") != 0);
	}
	return others;
}

/* Keep the machine if others have started programs meanwhile: halting would kill them
 * (pvm_halt(3PVM)). */
static void machine_leave(const struct crew *c)
{
	int code, others = c->started ? machine_others(c, 0) : 0;

	if (c->started && others == 0) {
		pvm_halt();
		return;
	}
	if (c->started)
		fprintf(stderr,
			"evspace launch: left: the virtual machine of PVM runs on with %d "
			"task%s of others; halt ends it (echo halt | pvm)\n",
			others, plural(others, "s"));
	for (size_t i = 0; !c->started && i < c->n; i++) {
		struct deploy_pvm_member *m = &c->members[i];

		others = m->added ? machine_others(c, m->daemon) : 0;
		if (m->added && others == 0)
			pvm_delhosts(&m->host, 1, &code);
		else if (m->added)
			fprintf(stderr,
				"evspace launch: left: %s stays in the virtual machine of PVM, "
				"with %d task%s of others\n",
				m->host, others, plural(others, "s"));
	}
	pvm_exit();
}

static void crew_end(struct crew *c, const sigset_t *during)
{
	crew_signal(c, SIGTERM);
	for (int tries = 0; c->living && tries < END_TRIES; tries++) {
		crew_wait(END_TRY, during);
		crew_heard(c);
	}
	for (size_t i = 0; i < c->n; i++)
		if (c->members[i].task)
			pvm_kill(c->members[i].task);
	machine_leave(c);
}

/* ---- start ---- */

static void crew_init(struct crew *c, const struct deploy_pvm_command *command)
{
	char *nodes = strdup(command->nodes), *hosts = strdup(command->hosts), *node;
	size_t most = strlen(command->nodes) + 1;

	*c = (struct crew){.command = command,
			   .members = calloc(most, sizeof(*c->members)),
			   .nodes = nodes,
			   .hosts = hosts};
	if (!nodes || !hosts || !c->members)
		abort();
	while ((node = strsep(&nodes, " ")) != NULL)
		c->members[c->n++] =
			(struct deploy_pvm_member){.node = node, .host = strsep(&hosts, " ")};
}

static void crew_free(struct crew *c)
{
	free(c->members);
	free(c->nodes);
	free(c->hosts);
}

/* Print the hosts and tasks of the running machine for evspace map discover, a line each: "host TID
 * NAME", "task TID HOST-TID PROGRAM" ("-": unknown). Does not start one. Returns the exit code. */
static int machine_list(void)
{
	struct pvmhostinfo *hosts;
	struct pvmtaskinfo *tasks;
	int n, arches, own, code;

	pvm_setopt(PvmAutoErr, 0);
	own = pvm_mytid();
	if (own < 0) {
		machine_complain("your pvmd does not answer", "", own);
		return 1;
	}
	code = pvm_config(&n, &arches, &hosts);
	for (int i = 0; code >= 0 && i < n; i++)
		printf("host %x %s\n", (unsigned)hosts[i].hi_tid, hosts[i].hi_name);
	if (code >= 0)
		code = pvm_tasks(0, &n, &tasks);
	for (int i = 0; code >= 0 && i < n; i++)
		if (tasks[i].ti_tid != own)
			printf("task %x %x %s\n", (unsigned)tasks[i].ti_tid,
			       (unsigned)tasks[i].ti_host,
			       tasks[i].ti_a_out && *tasks[i].ti_a_out ? tasks[i].ti_a_out : "-");
	if (code < 0)
		machine_complain("cannot ask the virtual machine", "", code);
	pvm_exit();
	return code < 0 || fflush(stdout) == EOF ? 1 : 0;
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = on_signal};
	struct deploy_pvm_command command;
	sigset_t blocked, during;
	struct crew c;
	int rc;

	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return machine_list();
	if (argc != 6) {
		fputs("usage: evspace-pvm LAUNCH FOLDER EVSPACE \"NODE...\" \"HOST...\"\n"
		      "       evspace-pvm list\n"
		      "(started by evspace deploy, where cluster.map says: deploy pvm; by evspace "
		      "map discover)\n",
		      stderr);
		return 2;
	}
	command = (struct deploy_pvm_command){argv[1], argv[2], argv[3], argv[4], argv[5]};
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGUSR2);
	sigprocmask(SIG_BLOCK, &blocked, &during);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	crew_init(&c, &command);
	rc = machine_join(&c);
	if (rc == 0) {
		pvm_catchout(stderr);
		rc = crew_start(&c);
		if (rc == 0)
			crew_serve(&c, &during);
		crew_end(&c, &during);
	}
	crew_free(&c);
	return rc < 0 ? 1 : 0;
}
