/* SPDX-License-Identifier: BSD-3-Clause */
/* The ground of the store's tests: a base in a temp folder, and processes with segments in it. */
#include "tests/fixture.h"

#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node-agent/segment/element-writer.h"
#include "node-agent/segment/segment-table.h"
#include "tests/tap.h"

struct fixture fixture;

/* ---- processes that make a segment and live until they are told to end ---- */

static _Noreturn void make_segment(const char *run, int rank, unsigned events, int told)
{
	struct segment_plan plan = {.run = run, .rank = rank, .world_size = rank + 4, .world = 1};
	struct segment_element *element;
	struct segment_thread *thread;
	struct element_writer writer;
	struct tuple tuple = {.peer = TUPLE_NO_PEER, .op = 1};
	struct segment segment;
	char dir[256], byte = 0;

	snprintf(dir, sizeof(dir), "%s/%s", fixture.base, run);
	mkdir(fixture.base, 0700);
	mkdir(dir, 0700);
	plan.dir = dir;
	if (segment_create(&segment, &plan, NULL))
		_exit(1);
	thread = segment_thread_add(&segment, 1);
	atomic_store(&thread->user.regions[0].label, segment_label_make(&segment, "region", 6));
	atomic_store(&thread->user.regions[0].since, 1);
	atomic_store(&thread->user.depth, 1);
	element = segment_element_add(
		&segment, &(struct segment_element){.capacity = 16, .channel = CHANNEL_P2P});
	element_writer_init(&writer, (void *)((char *)segment.header + element->ring_at), 16);
	for (unsigned i = 0; i < events; i++)
		element_write(&writer, &tuple);
	atomic_store(&segment_counts_of(&segment, 0)[CHANNEL_P2P].calls, events);
	if (write(told, &byte, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

pid_t maker_start(const char *run, int rank, unsigned events)
{
	int told[2];
	pid_t pid;
	char byte;

	if (pipe2(told, O_CLOEXEC))
		abort();
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		make_segment(run, rank, events, told[1]);
	}
	close(told[1]);
	CU_ASSERT_EQUAL(read(told[0], &byte, 1), 1);
	close(told[0]);
	return pid;
}

void maker_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- what the cases share ---- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st;
	(void)kind;
	(void)walk;
	return remove(path);
}

void fixture_remove(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void fixture_begin(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(fixture.top, sizeof(fixture.top), "%.90s/evspace-store.XXXXXX",
		 tmp ? tmp : "/tmp");
	if (!mkdtemp(fixture.top))
		abort();
	snprintf(fixture.base, sizeof(fixture.base), "%s/base", fixture.top);
}

void fixture_end(void)
{
	store_fini(&fixture.store);
	fixture_remove(fixture.top);
}

void fixture_start(bool watch)
{
	struct error e = {""};

	CU_ASSERT_EQUAL_FATAL(store_init(&fixture.store, fixture.base, watch, &e), 0);
}

unsigned fixture_count(void)
{
	const struct store_segment *s;
	unsigned n = 0;

	TAILQ_FOREACH (s, &fixture.store.segments, link)
		n++;
	return n;
}

struct store_segment *fixture_find(const char *name)
{
	struct store_segment *s;

	TAILQ_FOREACH (s, &fixture.store.segments, link)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}

struct store_segment *fixture_find_pid(pid_t pid)
{
	struct store_segment *s;

	TAILQ_FOREACH (s, &fixture.store.segments, link)
		if (s->pid == pid)
			return s;
	return NULL;
}

const char *fixture_refusal(const char *part)
{
	const struct store_refusal *r;

	TAILQ_FOREACH (r, &fixture.store.refusals, link)
		if (strstr(r->text, part))
			return r->text;
	return NULL;
}

bool fixture_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 10000) == 1;
}

bool fixture_quiet(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 0;
}

/* Refresh at every change until there are @n segments; false after ten seconds without a change. */
bool fixture_becomes(unsigned n)
{
	while (fixture_count() != n)
		if (!fixture_readable(fixture.store.inotify) || store_refresh(&fixture.store))
			return false;
	return true;
}

void fixture_file(const char *run, const char *name, const char *text)
{
	char path[300];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", fixture.base, run);
	mkdir(fixture.base, 0700);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/%s", fixture.base, run, name);
	file = fopen(path, "w");
	if (!file)
		abort();
	fchmod(fileno(file), 0600);
	fputs(text, file);
	fclose(file);
}

bool fixture_exists(const char *format, ...)
{
	char path[600];
	va_list args;
	int n = snprintf(path, sizeof(path), "%s/", fixture.base);

	va_start(args, format);
	vsnprintf(path + n, sizeof(path) - (size_t)n, format, args);
	va_end(args);
	return !access(path, F_OK);
}
