/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures waves of a small tree of real agents on this host, by TLS, in CPU time and in time that
 * passes, and finds the costs by which these are predicted (decision 0064).
 */
#include "consumers/map/map.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "consumers/client/evspace-client.h"
#include "consumers/map/certificate.h"
#include "node-agent/segment/element-writer.h"
#include "node-agent/segment/segment.h"
#include "pathmap/base/memory.h"
#include "pathmap/plan/plan.h"
#include "tree/data/clock.h"
#include "tree/stage/stage.h"

#define HOSTS	 16
#define NODES	 "n[0-15]"
#define FANOUT	 5
#define CAPACITY 200u
#define RUN	 "calibration"
#define OBSERVER "observe"
#define VIEW	 "newest"

/* Until all are there, and a wave. */
#define ANSWER_MS   10000
#define DEADLINE_MS 5000
/* How long waves are measured: as fast as they come; then so many a second, with others between
 * them that use the caches. */
#define SAMPLE_NS UINT64_C(1000000000)
#define COLD_HZ	  50
/* Processes that use caches, at most, and how much of them: all. */
#define WALKERS	     16u
#define WALKED_BYTES 67108864u

struct sample_tree {
	char dir[64];
	char *names[HOSTS];
	struct segment segments[HOSTS];
	size_t n_segments;
	pid_t parent;
	FILE *said; /* what they write; open as long as they live */
	pid_t pids[HOSTS];
	size_t n_pids;
	char entry[32];
	struct pathmap *map;
	struct evspace_client *client;
};

/* ---- set-up ---- */

static int failed(struct error *e, const char *what)
{
	return errorf(e, "%s for agents to measure: %s", what, strerror(errno));
}

static char *path_of(const struct sample_tree *t, const char *name)
{
	return memory_format("%s/%s", t->dir, name);
}

static int file_write(const struct sample_tree *t, const char *name, char *text, struct error *e)
{
	char *path = path_of(t, name);
	FILE *file = fopen(path, "we");
	int rc = file && fputs(text, file) >= 0 ? 0 : -1;

	if (file && fclose(file) != 0)
		rc = -1;
	free(path);
	free(text);
	return rc == 0 ? 0 : failed(e, "no map");
}

/* All of 127/8 is this host: an address for each, with one port that is free at the first. */
static int addresses_find(struct sample_tree *t, char net[16], unsigned *port, struct error *e)
{
	struct sockaddr_in end = {.sin_family = AF_INET};
	socklen_t bytes = sizeof(end);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool found;

	snprintf(net, 16, "127.%u.%u", 1 + (unsigned)getpid() / 250 % 250,
		 1 + (unsigned)getpid() % 250);
	snprintf(t->entry, sizeof(t->entry), "%s.1", net);
	found = fd >= 0 && inet_pton(AF_INET, t->entry, &end.sin_addr) == 1 &&
		bind(fd, (void *)&end, sizeof(end)) == 0 &&
		getsockname(fd, (void *)&end, &bytes) == 0;
	if (fd >= 0)
		close(fd);
	if (!found)
		return failed(e, "no address");
	*port = ntohs(end.sin_port);
	snprintf(t->entry, sizeof(t->entry), "%s.1:%u", net, *port);
	return 0;
}

static int maps_make(struct sample_tree *t, struct error *e)
{
	char net[16], *maps;
	unsigned port = 0;

	if (addresses_find(t, net, &port, e) < 0 ||
	    file_write(t, "maps/application.map",
		       memory_format("application %s { ranks rank[0-%d]; capacity %u;\n"
				     "view " VIEW " { select /**/p2p; read latest; } }\n",
				     RUN, HOSTS - 1, CAPACITY),
		       e) < 0 ||
	    file_write(t, "maps/cluster.map",
		       memory_format("cluster c { nodes " NODES "; address %s.[1-%d]:%u; }\n", net,
				     HOSTS, port),
		       e) < 0 ||
	    file_write(t, "maps/mapping.map",
		       memory_format("entry n0;\nplace rank[0-%d] on " NODES ";\ntree fanout %d;\n",
				     HOSTS - 1, FANOUT),
		       e) < 0)
		return -1;
	maps = path_of(t, "maps");
	t->map = pathmap_load(maps, stage_check, NULL, e);
	free(maps);
	return t->map ? 0 : -1;
}

static int certificates_write(const struct sample_tree *t, struct error *e)
{
	static const char *const observer = OBSERVER;
	char *tls = path_of(t, "tls");
	int rc = certificates_authority(tls, e);

	if (rc == 0)
		rc = certificates_make(tls, "agent", (const char *const *)t->names, HOSTS, e);
	if (rc == 0)
		rc = certificates_make(tls, "observe", &observer, 1, e);
	free(tls);
	return rc;
}

/* A rank with one element, as a program has them. */
static int segment_make(struct sample_tree *t, size_t i, struct error *e)
{
	char *dir = memory_format("%s/%s/" RUN, t->dir, t->names[i]);
	const struct segment_plan plan = {.dir = dir,
					  .run = RUN,
					  .rank = (int32_t)i,
					  .world_size = HOSTS,
					  .world = 1,
					  .threads = 1,
					  .quota = UINT64_MAX};
	struct segment *s = &t->segments[i];
	struct segment_element *element;
	struct element_writer writer;
	struct tuple tuple = {.peer = 1, .bytes = 8, .op = op_find("MPI_Send")};
	int rc = mkdir(dir, 0700) < 0 ? failed(e, "no folder") : segment_create(s, &plan, e);

	free(dir);
	if (rc < 0)
		return -1;
	t->n_segments++;
	(void)segment_thread_add(s, 1);
	element = segment_element_add(
		s, &(struct segment_element){.channel = CHANNEL_P2P, .capacity = CAPACITY});
	if (!element)
		return errorf(e, "no room for an element");
	element_writer_init(&writer, (void *)((char *)s->header + element->ring_at),
			    element->capacity);
	tuple.start = tuple.end = clock_ticks((enum clock_kind)s->header->clock_kind);
	element_write(&writer, &tuple);
	return 0;
}

static int folders_make(struct sample_tree *t, struct error *e)
{
	static const char *const folders[] = {"maps", "tls"};
	bool made = true;

	snprintf(t->dir, sizeof(t->dir), "%s/evspace-cost.XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(t->dir)) {
		t->dir[0] = '\0';
		return failed(e, "no folder");
	}
	for (size_t i = 0; i < HOSTS + 2; i++) {
		char *path = path_of(t, i < HOSTS ? t->names[i] : folders[i - HOSTS]);

		made = mkdir(path, 0700) == 0 && made;
		free(path);
	}
	return made ? 0 : failed(e, "no folder");
}

/* ---- agents ---- */

static _Noreturn void agents_be(const struct sample_tree *t, const char *program, int said)
{
	char *base = path_of(t, "%n"), *maps = path_of(t, "maps"), *tls = path_of(t, "tls");
	const char *const argv[] = {"evspace", "agent",	 "--pathmap", maps, "--tls",
				    tls,       "--node", NODES,	      NULL};
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	setenv("EVSPACE_DIR", base, 1);
	unsetenv("NOTIFY_SOCKET");
	dup2(said, STDERR_FILENO);
	execv(program, (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* The agents, which one process has forked. */
static size_t agents_find(struct sample_tree *t)
{
	char *path = memory_format("/proc/%d/task/%d/children", (int)t->parent, (int)t->parent);
	FILE *file = fopen(path, "re");
	int pid;

	free(path);
	while (file && t->n_pids < HOSTS && fscanf(file, "%d", &pid) == 1)
		t->pids[t->n_pids++] = pid;
	if (file)
		fclose(file);
	return t->n_pids;
}

static int agents_start(struct sample_tree *t, const char *program, struct error *e)
{
	char line[256] = "";
	bool ready = false;
	int said[2];

	if (pipe2(said, O_CLOEXEC) < 0)
		return failed(e, "no pipe");
	fflush(NULL);
	t->parent = fork();
	if (t->parent == 0)
		agents_be(t, program, said[1]);
	close(said[1]);
	t->said = fdopen(said[0], "r");
	if (!t->said)
		abort();
	while (!ready && fgets(line, sizeof(line), t->said))
		ready = strstr(line, "agents are ready") != NULL;
	line[strcspn(line, "\n")] = '\0';
	if (ready && agents_find(t) == HOSTS)
		return 0;
	return errorf(e, "no %d agents to measure: %s", HOSTS, line);
}

static void process_end(pid_t pid, int number)
{
	if (pid <= 0 || kill(pid, number) < 0)
		return;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}

static double agents_cpu_us(const struct sample_tree *t)
{
	struct timespec now;
	clockid_t clock;
	double sum = 0;

	for (size_t i = 0; i < t->n_pids; i++) {
		if (clock_getcpuclockid(t->pids[i], &clock) == 0 && clock_gettime(clock, &now) == 0)
			sum += (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
	}
	return sum;
}

/* ---- waves ---- */

/* Of a wave: CPU time of all agents, and the time that it took. */
struct sampled_wave {
	double cpu_us, took_us;
};

static int client_open(struct sample_tree *t, double rate_hz, struct error *e)
{
	char *tls = path_of(t, "tls");
	const struct evspace_options options = {
		.connect = t->entry,
		.entry = t->names[0],
		.tls = tls,
		.identity = OBSERVER,
		.run = RUN,
		.view = VIEW,
		.rate_hz = rate_hz,
		.deadline_ms = DEADLINE_MS,
	};
	enum evspace_failure failure;

	t->client = evspace_open(&options, &failure, e->text, sizeof(e->text));
	free(tls);
	return t->client ? 0 : -1;
}

/* The next wave that all have answered. */
static int wave_await(struct sample_tree *t, struct error *e)
{
	uint64_t until = clock_mono_ns() + ANSWER_MS * UINT64_C(1000000);

	while (clock_mono_ns() < until) {
		const struct evspace_wave *wave;

		if (evspace_next(t->client, ANSWER_MS) != 1)
			break;
		wave = evspace_wave(t->client);
		if (wave->answered == HOSTS && wave->n_missing == 0)
			return 0;
	}
	return errorf(e, "not all of %d agents answer: %s", HOSTS, evspace_why(t->client));
}

/* Waves of a second, at most @rate_hz of them (0: as many as there can be). */
static int waves_sample(struct sample_tree *t, double rate_hz, struct sampled_wave *of,
			struct error *e)
{
	uint64_t began, took = 0;
	double cpu_us, n = 0;
	int rc = client_open(t, rate_hz, e);

	if (rc == 0)
		rc = wave_await(t, e);
	cpu_us = agents_cpu_us(t);
	began = clock_mono_ns();
	for (; rc == 0 && took < SAMPLE_NS; n++) {
		rc = wave_await(t, e);
		took = clock_mono_ns() - began;
	}
	if (rc == 0)
		*of = (struct sampled_wave){.cpu_us = (agents_cpu_us(t) - cpu_us) / n,
					    .took_us = (double)took * 1e-3 / n};
	evspace_close(t->client);
	t->client = NULL;
	return rc;
}

/* ---- others that use the caches ---- */

static _Noreturn void caches_use(size_t bytes)
{
	const struct sched_param none = {0};
	unsigned char *block = memory_new(1, bytes);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* what agents leave over, so that no core is idle when they are woken */
	sched_setscheduler(0, SCHED_IDLE, &none);
	for (;;) {
		for (size_t i = 0; i < bytes; i += 64)
			block[i]++;
		__asm__ volatile("" : : "r"(block) : "memory");
	}
}

/* A wave that finds others' data in the caches. */
static int cold_sample(struct sample_tree *t, unsigned cores, struct sampled_wave *of,
		       struct error *e)
{
	size_t walkers = cores < WALKERS ? cores : WALKERS, n = 0;
	pid_t pids[WALKERS];
	int rc;

	for (; n < walkers; n++) {
		pids[n] = fork();
		if (pids[n] == 0)
			caches_use(WALKED_BYTES / walkers);
	}
	rc = waves_sample(t, COLD_HZ, of, e);
	for (size_t i = 0; i < n; i++)
		process_end(pids[i], SIGKILL);
	return rc;
}

/* ---- what that says ---- */

/* The prediction for this tree. */
static void tree_predict(const struct sample_tree *t, const struct calibration *c,
			 struct sampled_wave *of, double *wakes)
{
	struct error e;
	struct plan *plan;
	struct cost cost;

	*of = (struct sampled_wave){0};
	*wakes = 0;
	if (plan_make(t->map, VIEW, &plan, &e) < 0)
		abort();
	cost_predict(&cost, plan, t->map, c, 1);
	of->cpu_us = cost.cpu_us;
	of->took_us = 1e6 / cost.waves_per_s;
	for (size_t i = 0; i < cost.n_hosts; i++)
		*wakes += cost.hosts[i].wakes;
	cost_fini(&cost);
	plan_free(plan);
}

/* Between these. */
#define LEAST_US 0.1
#define MOST_US	 10000

/* By halves in the logarithm: the @cost of @c with which @measured is predicted, or the nearest. */
static void cost_fit(const struct sample_tree *t, const struct calibration *c, double *cost,
		     double measured, bool cpu)
{
	double low = LEAST_US, high = MOST_US;

	for (int i = 0; i < 40; i++) {
		struct sampled_wave of;
		double wakes;

		*cost = sqrt(low * high);
		tree_predict(t, c, &of, &wakes);
		if ((cpu ? of.cpu_us : of.took_us) < measured)
			low = *cost;
		else
			high = *cost;
	}
}

static int tree_measure(struct sample_tree *t, struct calibration *c, struct error *e)
{
	struct sampled_wave warm, cold, said;
	double wakes;

	if (waves_sample(t, 0, &warm, e) < 0 || cold_sample(t, c->cores, &cold, e) < 0)
		return -1;
	/* how often hosts are woken depends on both */
	for (int i = 0; i < 4; i++) {
		cost_fit(t, c, &c->frame_us, warm.cpu_us, true);
		cost_fit(t, c, &c->latency_us, warm.took_us, false);
	}
	tree_predict(t, c, &said, &wakes);
	c->cold_us = fmax((cold.cpu_us - warm.cpu_us) / wakes, LEAST_US);
	return 0;
}

/* ---- all ---- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st;
	(void)kind;
	(void)walk;
	return remove(path);
}

static void tree_end(struct sample_tree *t)
{
	process_end(t->parent, SIGTERM);
	if (t->said)
		fclose(t->said);
	for (size_t i = 0; i < t->n_segments; i++)
		segment_close(&t->segments[i]);
	pathmap_free(t->map);
	if (t->dir[0])
		nftw(t->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	for (size_t i = 0; i < HOSTS; i++)
		free(t->names[i]);
}

int calibrate_tree(struct calibration *c, const char *program, struct error *e)
{
	struct sample_tree t = {.dir = ""};
	int rc;

	for (size_t i = 0; i < HOSTS; i++)
		t.names[i] = memory_format("n%zu", i);
	rc = folders_make(&t, e);
	if (rc == 0)
		rc = certificates_write(&t, e);
	if (rc == 0)
		rc = maps_make(&t, e);
	for (size_t i = 0; i < HOSTS && rc == 0; i++)
		rc = segment_make(&t, i, e);
	if (rc == 0)
		rc = agents_start(&t, program, e);
	if (rc == 0)
		rc = tree_measure(&t, c, e);
	tree_end(&t);
	return rc;
}
