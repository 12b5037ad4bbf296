/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the stacks of the ranks on this host. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "consumers/watchdog/watch.h"
#include "node-agent/source/stack.h"
#include "node-agent/store/store.h"
#include "pathmap/base/folder-base.h"
#include "tree/data/clock.h"

/* How long to look at a process. */
#define PROCESS_NS UINT64_C(10000000000)

static void thread_write(void *arg, const struct stack_thread *thread)
{
	FILE *out = arg;

	fprintf(out, "  thread %d (%s)\n", thread->tid, thread->name);
	for (size_t i = 0; i < thread->n; i++) {
		const struct stack_frame *f = &thread->frames[i];

		fprintf(out, "    %s", f->name ? f->name : "?");
		if (f->file)
			fprintf(out, " at %s:%d", f->file, f->line);
		else if (f->module)
			fprintf(out, " in %s", f->module);
		putc('\n', out);
	}
	if (thread->why[0])
		fprintf(out, "    %s\n", thread->why);
}

static void process_write(pid_t pid, FILE *out)
{
	const uint64_t until = clock_mono_ns() + PROCESS_NS;
	const struct stack_limits limits = {STACK_FRAMES, until, until};
	struct error e;
	pid_t child;

	fflush(out);
	/* by a process that ends: threads that it could not stop are free then */
	child = fork();
	if (child == 0) {
		if (stack_read(pid, &limits, thread_write, out, &e) < 0)
			fprintf(out, "  not to be had: %s\n", e.text);
		fflush(out);
		_exit(0);
	}
	if (child < 0)
		fprintf(out, "  not to be had: %s\n", strerror(errno));
	else
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
}

void watch_stacks(const struct watch *w, FILE *out)
{
	const struct store_segment *s;
	char base[FOLDER_BASE];
	struct store store;
	struct error e;
	size_t n = 0;

	if (folder_base(base, sizeof(base), &e) < 0 || store_init(&store, base, false, &e) < 0) {
		fprintf(out, "no processes can be seen on this host: %s\n", e.text);
		return;
	}
	TAILQ_FOREACH (s, &store.segments, link) {
		if (!s->alive || strcmp(s->run, w->name) != 0)
			continue;
		fprintf(out, "%s, process %d\n", s->name, (int)s->pid);
		process_write(s->pid, out);
		n++;
	}
	if (n < evspace_wave(w->heartbeat.client)->processes)
		fprintf(out, "%zu more on other hosts\n",
			evspace_wave(w->heartbeat.client)->processes - n);
	store_fini(&store);
}
