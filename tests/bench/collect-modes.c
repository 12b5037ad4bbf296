/* SPDX-License-Identifier: BSD-3-Clause */
/* What other modes than trace cost, and how soon a switch from outside is seen. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "node-agent/segment/segment-read.h"
#include "tests/bench/bench.h"
#include "tests/bench/collect-case.h"
#include "tests/bench/collect-path.h"
#include "tests/bench/figures.h"

enum { SWITCHES = 301, SWITCHES_QUICK = 51 };

static enum segment_mode mode;

static void mode_set(enum segment_mode to)
{
	struct segment *s = collect.segment;
	char *control = (char *)s->header + s->layout.control_at;

	segment_class_switch((void *)control, s, -1, NULL, to);
	segment_class_quiet((void *)control, s);
}

static double events_in_mode(void)
{
	double ns;

	mode_set(mode);
	ns = path_events();
	mode_set(MODE_TRACE);
	return ns;
}

int collect_mode_case(const struct collect_case *c, struct error *e)
{
	if (path_start(e) < 0)
		return -1;
	mode = (enum segment_mode)segment_mode_find(c->name);
	collect_report(c, NULL, pairs_measure(events_in_mode, path_events, collect_pairs()));
	return 0;
}

/* ---- a switch from outside ---- */

/** What the two processes say to each other. */
struct talk {
	_Atomic unsigned asked; /* for this many switches */
	_Atomic uint64_t at;	/* when the last one was made; 0: not yet */
};

/* Another process: maps the segment as an agent does, and switches when it is asked to. */
static int switcher_run(struct talk *talk, unsigned n)
{
	struct segment *own = collect.segment, s;
	struct segment_control *control;
	struct error e;
	char folder[sizeof(own->path)], *name;

	memcpy(folder, own->path, sizeof(folder));
	name = strrchr(folder, '/');
	*name++ = '\0';
	if (segment_open(&s, folder, name, &e) < 0)
		return 1;
	control = segment_control_map(&s);
	if (!control)
		return 1;
	collect_pin(0);
	for (unsigned i = 1; i <= n; i++) {
		while (atomic_load(&talk->asked) < i)
			;
		atomic_store(&talk->at, clock_mono_ns());
		segment_class_switch(control, &s, -1, NULL, MODE_OFF);
		segment_class_quiet(control, &s);
	}
	return 0;
}

/* Events until one is not recorded any more. */
static double switch_seen(struct talk *talk, unsigned i, pid_t switcher)
{
	uint64_t seen, n = 0;

	mode_set(MODE_TRACE);
	atomic_store(&talk->at, 0);
	atomic_store(&talk->asked, i);
	while (path_event(&collect_none, i, 8))
		if (++n % 100000 == 0 && bench_has_ended(switcher))
			return -1;
	seen = clock_mono_ns();
	return (double)(seen - atomic_load(&talk->at));
}

static int switches(const struct collect_case *c, struct talk *talk, unsigned n, struct error *e)
{
	static double ns[SWITCHES], limits[SWITCHES];
	pid_t switcher = bench_fork();

	if (switcher < 0)
		return errorf(e, "cannot fork: %s", strerror(errno));
	if (switcher == 0)
		_exit(switcher_run(talk, n));
	for (unsigned i = 0; i < n; i++) {
		ns[i] = switch_seen(talk, i + 1, switcher);
		limits[i] = 5000;
		if (ns[i] < 0) {
			bench_end(switcher, SIGKILL);
			return errorf(e, "the process that switches has ended");
		}
	}
	bench_end(switcher, SIGKILL);
	mode_set(MODE_TRACE);
	collect_report(c, NULL, pairs_of(ns, limits, n));
	return 0;
}

int collect_switch_case(const struct collect_case *c, struct error *e)
{
	unsigned n = collect_bench.quick ? SWITCHES_QUICK : SWITCHES;
	struct talk *talk;
	int result;

	if (path_start(e) < 0)
		return -1;
	/* cppcheck-suppress [invalidFunctionArg] */
	talk = mmap(NULL, sizeof(*talk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (talk == MAP_FAILED)
		return errorf(e, "no shared memory: %s", strerror(errno));
	result = switches(c, talk, n, e);
	munmap(talk, sizeof(*talk));
	return result;
}
