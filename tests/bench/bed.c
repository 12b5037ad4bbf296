/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes folders, certificates and maps, starts agents, and takes all of it away again. */
#include "tests/bench/bed.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "tests/bench/bench.h"
#include "consumers/map/certificate.h"
#include "tree/stage/stage.h"

#define READY_S		 20
#define TOGETHER_READY_S 60 /* a thousand, on a busy machine */

/* ---- folders and certificates ---- */

static int bed_folders(struct bed *bed, struct error *e)
{
	const char *top = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR");

	snprintf(bed->dir, sizeof(bed->dir), "%.60s/evspace-bench.XXXXXX", top ? top : "/tmp");
	if (!mkdtemp(bed->dir)) {
		errorf(e, "cannot make the folder %s: %s", bed->dir, strerror(errno));
		bed->dir[0] = '\0';
		return -1;
	}
	snprintf(bed->maps, sizeof(bed->maps), "%s/maps", bed->dir);
	snprintf(bed->tls, sizeof(bed->tls), "%s/tls", bed->dir);
	snprintf(bed->space, sizeof(bed->space), "%s/space", bed->dir);
	if (mkdir(bed->maps, 0700) < 0 || mkdir(bed->space, 0700) < 0)
		return errorf(e, "cannot make folders in %s: %s", bed->dir, strerror(errno));
	setenv("EVSPACE_DIR", bed->space, 1);
	return 0;
}

/* deploy/certs WHAT FOLDER [NAME]... */
static int bed_certs(const struct bed *bed, const char *what, const char *const *names, size_t n,
		     struct error *e)
{
	char program[4096], log[160], kind[16], folder[sizeof(bed->tls)];
	char **argv = memory_new(n + 4, sizeof(*argv));
	int result;

	bench_source("deploy/certs", program, sizeof(program));
	snprintf(log, sizeof(log), "%s/certs.log", bed->dir);
	snprintf(kind, sizeof(kind), "%s", what);
	memcpy(folder, bed->tls, sizeof(folder));
	argv[0] = program;
	argv[1] = kind;
	argv[2] = folder;
	for (size_t i = 0; i < n; i++)
		argv[3 + i] = memory_copy(names[i]);
	result = bench_run(argv, log, e);
	for (size_t i = 0; i < n; i++)
		free(argv[3 + i]);
	free(argv);
	return result;
}

/* ---- addresses ---- */

static bool is_free(const char *address)
{
	struct sockaddr_in end = {.sin_family = AF_INET, .sin_port = htons(BED_PORT)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool bound;

	if (fd < 0)
		return false;
	bound = inet_pton(AF_INET, address, &end.sin_addr) == 1 &&
		bind(fd, (void *)&end, sizeof(end)) == 0;
	close(fd);
	return bound;
}

/* All of 127/8 is this machine: a net of our own, so that no port has to be searched for. */
static int bed_addresses(struct bed *bed, struct error *e)
{
	char first[sizeof(bed->net) + 4];

	for (int i = 0; i < 100; i++) {
		int number = ((int)getpid() + i * 977) % (250 * 250);

		snprintf(bed->net, sizeof(bed->net), "127.%d.%d", 1 + number / 250,
			 1 + number % 250);
		snprintf(first, sizeof(first), "%s.1", bed->net);
		if (is_free(first))
			return 0;
	}
	errno = EADDRINUSE;
	return errorf(e, "no free address on the loopback interface");
}

int bed_begin(struct bed *bed, struct error *e)
{
	static const char *const consumer = BED_CONSUMER;

	*bed = (struct bed){.dir = ""};
	if (bed_folders(bed, e) < 0 || bed_addresses(bed, e) < 0 ||
	    bed_certs(bed, "init", NULL, 0, e) < 0)
		return -1;
	return bed_certs(bed, "observe", &consumer, 1, e);
}

int bed_control(struct bed *bed, struct error *e)
{
	static const char *const control = "control";

	return bed_certs(bed, "control", &control, 1, e);
}

int bed_map(const struct bed *bed, const char *name, struct error *e, const char *format, ...)
{
	char path[sizeof(bed->maps) + 64];
	va_list args;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", bed->maps, name);
	file = fopen(path, "we");
	if (!file)
		return errorf(e, "cannot write %s: %s", path, strerror(errno));
	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
	return fclose(file) == 0 ? 0 : errorf(e, "cannot write %s: %s", path, strerror(errno));
}

int bed_clusters(const struct bed *bed, unsigned hosts, struct error *e)
{
	const char *net = bed->net;
	unsigned n = hosts, port = BED_PORT;

	if (bed_map(bed, "cluster.map", e,
		    "cluster A { nodes a[0-%u]; address %s.[1-%u]:%u; gateway ga; }\n"
		    "cluster B { nodes b[0-%u]; address %s.[%u-%u]:%u; gateway gb; }\n"
		    "node ga { address %s.%u:%u; }\nnode gb { address %s.%u:%u; }\n"
		    "node front { address %s.%u:%u; }\n",
		    n - 1, net, n, port, n - 1, net, n + 1, 2 * n, port, net, 2 * n + 1, port, net,
		    2 * n + 2, port, net, 2 * n + 3, port) < 0)
		return -1;
	return bed_map(bed, "mapping.map", e,
		       "entry front;\nplace rank[0-%u] on a[0-%u];\nplace rank[%u-%u] on "
		       "b[0-%u];\ntree by-cluster;\n",
		       n - 1, n - 1, n, 2 * n - 1, n - 1);
}

/* ---- agents ---- */

static void agent_log(const struct bed *bed, const struct bed_agent *a, char *log, size_t n)
{
	snprintf(log, n, "%s/%s.log", bed->dir, a->node);
}

/* @by: NULL, or the command that runs it, ended by NULL. */
static int agent_start(const struct bed *bed, struct bed_agent *a, const char *const *by,
		       struct error *e)
{
	char program[4096], log[256];
	const char *const own[] = {program,  "agent",  "--pathmap", bed->maps, "--tls",
				   bed->tls, "--node", a->node,	    NULL};
	const char *argv[16];
	size_t n = 0;

	bench_built("evspace", program, sizeof(program));
	agent_log(bed, a, log, sizeof(log));
	while (by && *by)
		argv[n++] = *by++;
	memcpy(&argv[n], own, sizeof(own));
	a->pid = bench_start((char *const *)(uintptr_t)argv, log, e);
	return a->pid < 0 ? -1 : 0;
}

static bool listens(const struct bed_agent *a)
{
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	int fd = socket(a->local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool connected;

	if (fd < 0)
		return false;
	if (a->local)
		snprintf(local.sun_path, sizeof(local.sun_path), "%s", a->local);
	connected = (a->local ? connect(fd, (const void *)&local, sizeof(local))
			      : connect(fd, (const void *)&a->end, sizeof(a->end))) == 0;
	close(fd);
	return connected;
}

static bool all_listen(void *arg)
{
	const struct bed *bed = arg;

	for (size_t i = 0; i < bed->n_agents; i++) {
		if (!listens(&bed->agents[i]))
			return false;
	}
	return true;
}

/* What the agent says that has ended, if one has. */
static int agents_explain(const struct bed *bed, struct error *e)
{
	char log[256];

	for (size_t i = 0; i < bed->n_agents; i++) {
		if (!bench_has_ended(bed->agents[i].pid))
			continue;
		errorf(e, "the agent %s ended", bed->agents[i].node);
		agent_log(bed, &bed->agents[i], log, sizeof(log));
		return bench_quote(log, e);
	}
	return -1;
}

int bed_prepare(struct bed *bed, struct error *e)
{
	const char *const *nodes;
	size_t n;

	if (bed->map)
		return 0;
	bed->map = pathmap_load(bed->maps, stage_check, stderr, e);
	if (!bed->map)
		return -1;
	setenv("EVSPACE_ENTRY", pathmap_entry(bed->map), 1);
	n = pathmap_nodes(bed->map, &nodes);
	return certificates_make(bed->tls, "agent", nodes, n, e);
}

static void prefork_log(const struct bed *bed, char *log, size_t n)
{
	snprintf(log, n, "%s/agents.log", bed->dir);
}

static bool prefork_is_ready(void *arg)
{
	const struct bed *bed = arg;
	char path[160], line[256];
	bool ready = false;
	FILE *file;

	prefork_log(bed, path, sizeof(path));
	file = fopen(path, "re");
	while (file && !ready && fgets(line, sizeof(line), file))
		ready = strstr(line, "agents are ready") != NULL;
	if (file)
		fclose(file);
	return ready;
}

int bed_start_together(struct bed *bed, const char *list, const char *space, struct error *e)
{
	char program[4096], log[160];
	char *argv[] = {program,
			memory_copy("agent"),
			memory_copy("--pathmap"),
			memory_copy(bed->maps),
			memory_copy("--tls"),
			memory_copy(bed->tls),
			memory_copy("--node"),
			memory_copy(list),
			NULL};
	int rc = -1;

	bench_built("evspace", program, sizeof(program));
	prefork_log(bed, log, sizeof(log));
	if (bed_prepare(bed, e) == 0) {
		setenv("EVSPACE_DIR", space, 1);
		bed->prefork = bench_start(argv, log, e);
		setenv("EVSPACE_DIR", bed->space, 1);
	}
	if (bed->prefork > 0) {
		rc = bench_until(prefork_is_ready, bed, TOGETHER_READY_S, "agents are ready", e);
		if (rc < 0)
			bench_quote(log, e);
	}
	for (size_t i = 1; argv[i]; i++)
		free(argv[i]);
	return rc;
}

int bed_start(struct bed *bed, struct error *e)
{
	const char *const *nodes;
	size_t n;

	if (bed_prepare(bed, e) < 0)
		return -1;
	n = pathmap_nodes(bed->map, &nodes);
	bed->agents = memory_new(n, sizeof(*bed->agents));
	for (size_t i = 0; i < n; i++) {
		struct bed_agent *a = &bed->agents[i];
		const char *where = pathmap_address(bed->map, nodes[i]);
		char address[64];

		snprintf(address, sizeof(address), "%.60s", where);
		address[strcspn(address, ":")] = '\0';
		*a = (struct bed_agent){
			.node = nodes[i],
			.end = {.sin_family = AF_INET, .sin_port = htons(BED_PORT)}};
		if (strncmp(where, "unix:", 5) == 0)
			a->local = where + 5;
		else
			inet_pton(AF_INET, address, &a->end.sin_addr);
		if (agent_start(bed, a, NULL, e) < 0)
			return -1;
		bed->n_agents++;
	}
	if (bench_until(all_listen, bed, READY_S, "agents are ready", e) == 0)
		return 0;
	return agents_explain(bed, e);
}

const struct bed_agent *bed_agent(const struct bed *bed, const char *node)
{
	for (size_t i = 0; i < bed->n_agents; i++) {
		if (strcmp(bed->agents[i].node, node) == 0)
			return &bed->agents[i];
	}
	return NULL;
}

static struct bed_agent *agent_find(struct bed *bed, const char *node, struct error *e)
{
	for (size_t i = 0; i < bed->n_agents; i++) {
		if (strcmp(bed->agents[i].node, node) == 0)
			return &bed->agents[i];
	}
	errno = ENOENT;
	errorf(e, "no node %s is in the map", node);
	return NULL;
}

int bed_stop(struct bed *bed, const char *node, int signal, struct error *e)
{
	struct bed_agent *a = agent_find(bed, node, e);

	if (!a)
		return -1;
	bench_end(a->pid, signal);
	a->pid = 0;
	return 0;
}

static bool one_listens(void *arg)
{
	const struct bed_agent *a = arg;

	return listens(a);
}

int bed_restart(struct bed *bed, const char *node, const char *const *by, struct error *e)
{
	struct bed_agent *a = agent_find(bed, node, e);

	if (!a || agent_start(bed, a, by, e) < 0)
		return -1;
	return bench_until(one_listens, a, READY_S, "the agent is ready again", e);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st;
	(void)kind;
	(void)walk;
	return remove(path);
}

struct puller_options bed_puller(const struct bed *bed, const char *view, const char *run)
{
	return (struct puller_options){
		.connect = pathmap_address(bed->map, pathmap_entry(bed->map)),
		.tls = bed->tls,
		.name = BED_CONSUMER,
		.view = view,
		.run = run,
	};
}

void bed_end(struct bed *bed)
{
	for (size_t i = 0; i < bed->n_agents; i++)
		if (bed->agents[i].pid > 0)
			kill(bed->agents[i].pid, SIGTERM);
	for (size_t i = 0; i < bed->n_agents; i++)
		bench_end(bed->agents[i].pid, SIGTERM);
	bench_end(bed->prefork, SIGTERM);
	free(bed->agents);
	pathmap_free(bed->map);
	if (bed->dir[0])
		nftw(bed->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	*bed = (struct bed){.dir = ""};
}
