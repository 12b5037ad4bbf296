/* SPDX-License-Identifier: BSD-3-Clause */
/* Follows a run to its end with the client library, element by element. */
#include "tests/bench/follower.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <uthash.h>

#include "consumers/client/evspace-client.h"
#include "node-agent/segment/element.h"
#include "node-agent/segment/segment.h"
#include "node-agent/segment/segment-read.h"
#include "pathmap/base/memory.h"
#include "tests/bench/bench.h"
#include "tree/data/clock.h"

/* Waves in a row without a living process or a tuple that end it. */
#define QUIET 20u

/* One element, known by its name without cluster and node: "rank0/t0/p2p". */
struct span {
	char name[96];
	uint64_t next; /* number that comes next, when none is lost */
	uint64_t delivered;
	UT_hash_handle hh;
};

struct follower {
	const struct follower_options *o;
	struct testimony *seen;
	struct evspace_client *client;
	struct span *spans;
	uint64_t last_ns; /* when the wave before came */
	unsigned quiet;
};

static struct span *track_of(struct follower *w, const char *name)
{
	struct span *t;

	HASH_FIND_STR(w->spans, name, t);
	if (t)
		return t;
	t = memory_new(1, sizeof(*t));
	snprintf(t->name, sizeof(t->name), "%s", name);
	HASH_ADD_STR(w->spans, name, t);
	return t;
}

static const char *name_short(const char *name)
{
	for (int slashes = 0; *name; name++) {
		if (*name == '/' && ++slashes == 3)
			return name + 1;
	}
	return name;
}

static void longest(_Atomic uint64_t *us, uint64_t ns)
{
	if (ns / 1000 > atomic_load(us))
		atomic_store(us, ns / 1000);
}

static uint64_t take_events(struct follower *w)
{
	struct evspace_event ev;
	uint64_t n = 0;

	while (evspace_event(w->client, &ev)) {
		struct span *t = track_of(w, name_short(ev.name));

		n++;
		if (ev.number < t->next) {
			atomic_fetch_add(&w->seen->duplicated, 1);
			continue;
		}
		t->next = ev.number + 1;
		t->delivered++;
	}
	atomic_fetch_add(&w->seen->delivered, n);
	return n;
}

static void take_wave(struct follower *w)
{
	const struct evspace_wave *wave = evspace_wave(w->client);
	uint64_t now = clock_mono_ns();

	if (!wave->again && w->last_ns) {
		longest(&w->seen->gap_us, now - w->last_ns);
		if (wave->remapped)
			longest(&w->seen->switch_gap_us, now - w->last_ns);
	}
	w->last_ns = now;
	atomic_fetch_add(&w->seen->waves, 1);
	atomic_fetch_add(&w->seen->remaps, wave->remapped != 0);
	/* Before the program has begun there is nobody either. */
	if (take_events(w) > 0 || wave->processes > 0 || wave->n_missing > 0 || !w->spans)
		w->quiet = 0;
	else
		w->quiet++;
}

/* ---- against the segments ---- */

static void compare_element(struct follower *w, const struct segment *s,
			    const struct segment_element *entry)
{
	const struct element_ring *ring = segment_ring(s, entry);
	char name[96];

	if (!ring)
		return;
	if (entry->thread == SEGMENT_NO_THREAD)
		snprintf(name, sizeof(name), "rank%d/overflow/overflow", s->header->rank);
	else
		snprintf(name, sizeof(name), "rank%d/t%u/%s", s->header->rank, entry->thread,
			 channel_name(entry->channel));
	atomic_fetch_add(&w->seen->lost, element_head(ring) - track_of(w, name)->delivered);
}

static int compare_segments(struct follower *w, struct error *e)
{
	DIR *dir = opendir(w->o->folder);
	const struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir))) {
		const char *dot = strrchr(entry->d_name, '.');
		struct segment s;

		if (!dot || strcmp(dot, SEGMENT_SUFFIX) != 0)
			continue;
		if (segment_open(&s, w->o->folder, entry->d_name, e) < 0)
			break;
		for (uint32_t i = 0; i < segment_elements(&s); i++) {
			if (segment_element(&s, i))
				compare_element(w, &s, segment_element(&s, i));
		}
		segment_close(&s);
		n++;
	}
	if (dir)
		closedir(dir);
	return n > 0 ? 0 : errorf(e, "no segments in %s", w->o->folder);
}

/* ---- its life ---- */

static int follower_look(struct follower *w, struct error *e)
{
	const struct evspace_options look = {
		.connect = w->o->connect,
		.tls = w->o->tls,
		.identity = w->o->identity,
		.run = w->o->run,
		.view = "events",
		.backlog = 1,
		.rate_hz = w->o->rate_hz,
	};
	enum evspace_failure failure;
	struct evspace_counts counts;

	w->client = evspace_open(&look, &failure, e->text, sizeof(e->text));
	if (!w->client)
		return -1;
	while (w->quiet < QUIET) {
		if (evspace_next(w->client, -1) != 1)
			return errorf(e, "%s", evspace_why(w->client));
		take_wave(w);
	}
	evspace_counts(w->client, &counts);
	atomic_store(&w->seen->told_lost, counts.lost);
	if (counts.unaccounted)
		return errorf(e, "%llu tuples are not accounted for",
			      (unsigned long long)counts.unaccounted);
	return compare_segments(w, e);
}

static _Noreturn void follower_live(const struct follower_options *o, struct testimony *seen)
{
	struct follower w = {.o = o, .seen = seen};
	struct error e = {""};

	if (follower_look(&w, &e) < 0)
		snprintf(seen->why, sizeof(seen->why), "%.250s", e.text);
	evspace_close(w.client);
	atomic_store(&seen->ended, 1);
	/* It is ended by the bench: a child that ends by itself is a failure there. */
	for (;;)
		pause();
}

pid_t follower_start(const struct follower_options *o, struct testimony **seen, struct error *e)
{
	struct testimony *shared =
		mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		     /* cppcheck-suppress invalidFunctionArg ; anonymous memory */
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (shared == MAP_FAILED)
		return errorf(e, "no shared memory");
	pid = bench_fork();
	if (pid == 0)
		follower_live(o, shared);
	*seen = shared;
	return pid < 0 ? errorf(e, "cannot start a consumer") : pid;
}

void follower_free(struct testimony *seen)
{
	if (seen)
		munmap(seen, sizeof(*seen));
}
