/* SPDX-License-Identifier: BSD-3-Clause */
/* Forks agents, waits until all are ready, and then for their end. */
#include "node-agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/bio.h>
#include <openssl/err.h>

#include "node-agent/map/active-map.h"
#include "pathmap/base/memory.h"
#include "tree/link/notify.h"
#include "tree/link/tls.h"

#define BASE_BYTES 200
#define FLIGHTS	   8 /* of a handshake; TLS 1.3 has three */

struct prefork {
	const struct agent_options *o;
	const struct hostlist *nodes;
	struct active_map *active_map; /* after the fork, each agent's own */
	pid_t *pids;		       /* of the nodes' agents, 0: ended */
	size_t living;
	bool ending; /* they were told to end */
	sigset_t before;
};

const char *prefork_base(const char *base, const char *node, char *buf, size_t n, struct error *e)
{
	const char *mark = strstr(base, "%n");
	int length;

	if (mark)
		length = snprintf(buf, n, "%.*s%s%s", (int)(mark - base), base, node, mark + 2);
	else
		length = snprintf(buf, n, "%s", base);
	if (length >= 0 && (size_t)length < n)
		return buf;
	errno = ENAMETOOLONG;
	errorf(e, "EVSPACE_DIR is too long for node %s", node);
	return NULL;
}

/* ---- an agent ---- */

static _Noreturn void child_serve(const struct prefork *n, const char *node, int ready)
{
	struct agent_options o = *n->o;
	char base[BASE_BYTES];
	struct error e = {""};
	struct agent *agent;

	o.node = node;
	o.active_map = n->active_map;
	o.base = prefork_base(n->o->base, node, base, sizeof(base), &e);
	agent = o.base ? agent_new(&o, &e) : NULL;
	if (!agent || write(ready, "", 1) != 1) {
		fprintf(stderr, "evspace agent: %s: %s\n", node, e.text);
		exit(1);
	}
	close(ready);
	agent_run(agent);
	agent_free(agent);
	exit(0);
}

static int child_start(struct prefork *n, size_t i, const int ready[2], struct error *e)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return errorf(e, "cannot start the agent of %s: %s", n->nodes->names[i],
			      strerror(errno));
	if (pid > 0) {
		n->pids[i] = pid;
		n->living++;
		return 0;
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	close(ready[0]);
	free(n->pids);
	notify_inherit(parent);
	sigprocmask(SIG_SETMASK, &n->before, NULL);
	child_serve(n, n->nodes->names[i], ready[1]);
}

/* ---- all agents ---- */

static void prefork_pass(const struct prefork *n, int number)
{
	for (size_t i = 0; i < n->nodes->n; i++)
		if (n->pids[i] > 0)
			kill(n->pids[i], number);
}

static void prefork_end(struct prefork *n)
{
	n->ending = true;
	prefork_pass(n, SIGTERM);
}

static int ended_badly(const struct prefork *n, size_t i, int status, struct error *e)
{
	if (n->ending && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	fprintf(stderr, "evspace agent: the agent of %s ended%s\n", n->nodes->names[i],
		n->ending ? " badly" : " unasked");
	errno = ECHILD;
	return errorf(e, "not all agents ended as they should");
}

/* Reap agents that have ended; @wait: wait for at least one. */
static int prefork_reap(struct prefork *n, bool wait, struct error *e)
{
	int status, rc = 0;
	pid_t pid;

	while (n->living && (pid = waitpid(-1, &status, wait ? 0 : WNOHANG)) != 0) {
		if (pid < 0 && errno != EINTR)
			break;
		for (size_t i = 0; pid > 0 && i < n->nodes->n; i++) {
			if (n->pids[i] != pid)
				continue;
			n->pids[i] = 0;
			n->living--;
			if (ended_badly(n, i, status, e) < 0)
				rc = -1;
		}
	}
	return rc;
}

/* Each agent writes a byte when it is ready. Stops waiting when no agent is left that could, or
 * when all are told to end. */
static bool all_are_ready(const struct prefork *n, int ready)
{
	struct pollfd any[2] = {{.fd = ready, .events = POLLIN}, {.events = POLLIN}};
	size_t count = 0;
	char bytes[256];
	ssize_t got = 1;
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	any[1].fd = signalfd(-1, &ends, SFD_CLOEXEC);
	if (any[1].fd < 0)
		return false;
	while (got > 0 || (got < 0 && errno == EINTR)) {
		if (poll(any, 2, -1) > 0 && any[1].revents)
			break;
		got = any[0].revents ? read(ready, bytes, sizeof(bytes)) : 1;
		if (any[0].revents && got > 0)
			count += (size_t)got;
	}
	close(any[1].fd);
	return count == n->nodes->n;
}

static int prefork_start(struct prefork *n, struct error *e)
{
	int ready[2], rc = 0;

	if (pipe2(ready, O_CLOEXEC) < 0)
		return errorf(e, "no pipe: %s", strerror(errno));
	fflush(NULL);
	for (size_t i = 0; i < n->nodes->n && rc == 0; i++)
		rc = child_start(n, i, ready, e);
	close(ready[1]);
	if (rc == 0 && !all_are_ready(n, ready[0])) {
		errno = ECHILD;
		rc = errorf(e, "not all agents could be started");
	}
	close(ready[0]);
	return rc;
}

static int prefork_serve(struct prefork *n, const sigset_t *set, struct error *e)
{
	int number, rc = 0;

	while (n->living) {
		if (sigwait(set, &number) != 0)
			continue;
		if (number == SIGHUP)
			prefork_pass(n, SIGHUP);
		else if (number != SIGCHLD)
			prefork_end(n);
		else if (prefork_reap(n, false, e) < 0)
			rc = -1;
	}
	return rc;
}

/* A handshake with ourselves, so that agents inherit what OpenSSL loads for its first one. */
static void tls_rehearse(struct tls *tls, const char *name)
{
	SSL *ends[2] = {tls_client(tls, name, NULL), tls_server(tls, NULL)};
	BIO *pair[2];

	if (ends[0] && ends[1] && BIO_new_bio_pair(&pair[0], 0, &pair[1], 0)) {
		for (size_t i = 0; i < 2; i++)
			SSL_set_bio(ends[i], pair[i], pair[i]);
		for (size_t i = 0; i < FLIGHTS; i++)
			SSL_do_handshake(ends[i % 2]);
		ERR_clear_error();
	}
	SSL_free(ends[0]);
	SSL_free(ends[1]);
}

/* Do once what each agent would do for itself. */
static int prefork_prepare(struct prefork *n, struct error *e)
{
	struct tls *tls;

	n->active_map = active_map_open(n->o->base, "%n", n->o->pathmap, stderr, e);
	if (!n->active_map)
		return -1;
	if (!n->o->tls)
		return 0;
	/* any node's certificate will do */
	tls = tls_new(n->o->tls, n->nodes->names[0], e);
	if (!tls)
		return -1;
	tls_rehearse(tls, n->nodes->names[0]);
	tls_free(tls);
	return 0;
}

int prefork_run(const struct agent_options *o, const struct hostlist *nodes, struct error *e)
{
	struct prefork n = {.o = o, .nodes = nodes};
	struct error ignored;
	sigset_t set;
	int rc = -1;

	/* reading maps and certificates may hang on a file server, so signals still end the
	 * process here, before anything must be cleaned up */
	if (prefork_prepare(&n, e) < 0) {
		active_map_free(n.active_map);
		return -1;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGCHLD);
	if (o->tls)
		sigaddset(&set, SIGHUP); /* agents reload certificates */
	sigprocmask(SIG_BLOCK, &set, &n.before);
	n.pids = memory_new(nodes->n, sizeof(*n.pids));
	if (prefork_start(&n, e) == 0) {
		fprintf(stderr, "evspace agent: %zu agents are ready\n", nodes->n);
		notify_ready();
		rc = prefork_serve(&n, &set, e);
	} else {
		prefork_end(&n);
		while (n.living)
			prefork_reap(&n, true, &ignored);
	}
	active_map_free(n.active_map);
	free(n.pids);
	sigprocmask(SIG_SETMASK, &n.before, NULL);
	return rc;
}
