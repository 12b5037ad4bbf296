/* SPDX-License-Identifier: BSD-3-Clause */
/* The store's segments: maps them, names them, watches their processes, and finds refusals of
 * those. */
#include "node-agent/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "node-agent/segment/folder.h"
#include "node-agent/segment/segment-file.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/store/store-index.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/data/process.h"

struct death {
	struct segment_control *control;
	uint64_t when;
};

static int note_death(void *arg)
{
	struct death *death = arg;
	uint64_t none = 0;

	/* two agents may see it: the first one's time stays */
	if (!atomic_compare_exchange_strong(&death->control->died_mono_ns, &none, death->when) &&
	    none < death->when)
		death->when = none;
	return 0;
}

static void segment_died(struct store_segment *s)
{
	struct death death = {.when = clock_mono_ns()};

	if (s->pidfd >= 0)
		close(s->pidfd);
	s->pidfd = -1;
	s->alive = false;
	death.control = segment_control_map(&s->segment);
	if (death.control) {
		(void)segment_guarded(note_death, &death);
		segment_control_unmap(death.control);
	}
	s->died_mono_ns = death.when;
}

void store_hold(struct store_segment *s)
{
	if (s->holds++ == 0)
		s->held = open(s->segment.path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	store_hold_again(s);
}

void store_hold_again(struct store_segment *s)
{
	if (s->held >= 0 && !s->locked)
		s->locked = folder_lock(s->held, LOCK_SH) == 0;
}

static void hold_end(struct store_segment *s)
{
	if (s->held >= 0)
		close(s->held);
	s->held = -1;
	s->locked = false;
}

void store_release(const struct store *store, uint64_t serial)
{
	struct store_segment *s;

	/* serials grow along the list */
	TAILQ_FOREACH_REVERSE(s, &store->segments, store_list, link)
	if (s->serial <= serial)
		break;
	if (s && s->serial == serial && --s->holds == 0)
		hold_end(s);
}

static bool pidfd_ended(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

static int note_finished(void *arg)
{
	struct store_segment *s = arg;

	atomic_store(&s->segment.said.finished, atomic_load(&s->segment.header->finished));
	return 0;
}

bool store_check_alive(struct store_segment *s)
{
	if (s->alive && s->pidfd < 0)
		(void)segment_guarded(note_finished, s);
	if (s->alive && (s->pidfd >= 0 ? pidfd_ended(s->pidfd) : !segment_alive(&s->segment)))
		segment_died(s);
	return s->alive;
}

static int read_death(void *arg)
{
	struct death *death = arg;

	death->when = atomic_load(&death->control->died_mono_ns);
	return 0;
}

/* Has an agent noted its end in the file? */
static bool is_noted(const struct store_segment *s)
{
	struct death death = {.control = segment_control_map(&s->segment)};
	bool noted = death.control && segment_guarded(read_death, &death) == 0 && death.when;

	segment_control_unmap(death.control);
	return noted;
}

/* Find the process of another pid namespace by its pid in this one; its own pid would be that of
 * another process. If it is not visible here, it is taken to live. */
static void process_find_apart(struct store *store, struct store_segment *s)
{
	struct proc_apart *apart = &store->index->apart;
	int pid = proc_apart_find(apart, &s->segment.said);

	s->pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
	if (s->pidfd >= 0 && proc_apart_find(apart, &s->segment.said) != pid) {
		close(s->pidfd);
		s->pidfd = -1;
	}
	s->alive = s->pidfd >= 0 || (segment_alive(&s->segment) && !is_noted(s));
}

/* Pids are reused: a pidfd is of the process only if the process still exists after it was
 * opened. */
static void process_find(struct store *store, struct store_segment *s)
{
	if (segment_is_apart(&s->segment.said)) {
		process_find_apart(store, s);
	} else {
		s->pidfd = pidfd_open(s->pid, 0);
		s->alive = segment_alive(&s->segment) && !(s->pidfd < 0 && errno == ESRCH);
	}
	if (s->alive && s->pidfd >= 0 && pidfd_ended(s->pidfd))
		s->alive = false;
	if (!s->alive) {
		segment_died(s);
	} else if (store->inotify < 0 && s->pidfd >= 0) {
		close(s->pidfd);
		s->pidfd = -1;
	}
}

static int map_file(struct store_segment *s, const char *base, struct error *e)
{
	const struct segment_header *said = &s->segment.said;
	char dir[sizeof(((struct store *)0)->base) + sizeof(s->run) + 1];

	snprintf(dir, sizeof(dir), "%s/%s", base, s->run);
	if (segment_open(&s->segment, dir, s->file, e))
		return -1;
	s->rank = said->rank;
	s->world = said->parent ? said->world : 0;
	s->pid = (pid_t)said->pid;
	s->born = said->born;
	memcpy(s->host, said->host, sizeof(s->host));
	return 0;
}

struct store_segment *store_segment_open(struct store *store, const char *run, const char *file,
					 struct error *e)
{
	struct store_segment *s = memory_new(1, sizeof(*s));
	int saved;

	snprintf(s->run, sizeof(s->run), "%s", run);
	snprintf(s->file, sizeof(s->file), "%s", file);
	if (map_file(s, store->base, e)) {
		saved = errno;
		free(s);
		errno = saved;
		return NULL;
	}
	s->serial = ++store->next_serial;
	s->held = -1;
	process_find(store, s);
	TAILQ_INSERT_TAIL(&store->segments, s, link);
	return s;
}

void store_segment_close(struct store *store, struct store_segment *s)
{
	TAILQ_REMOVE(&store->segments, s, link);
	TAILQ_INSERT_TAIL(&store->going, s, link);
}

void store_segments_end(struct store *store)
{
	struct store_segment *s;

	if (store->gone && !(TAILQ_EMPTY(&store->going) && TAILQ_EMPTY(&store->elements_going)))
		store->gone(&store->going, store->gone_arg);
	store_elements_end(store);
	while ((s = TAILQ_FIRST(&store->going))) {
		TAILQ_REMOVE(&store->going, s, link);
		if (s->pidfd >= 0)
			close(s->pidfd);
		hold_end(s);
		segment_close(&s->segment);
		free(s);
	}
}

/* By run, world and rank, then newest first. */
static int compare_age(const void *a, const void *b)
{
	const struct store_segment *x = *(struct store_segment *const *)a;
	const struct store_segment *y = *(struct store_segment *const *)b;
	int runs = strcmp(x->run, y->run);

	if (runs)
		return runs;
	if (x->world != y->world)
		return x->world < y->world ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (process_is_monitor(x->rank) && strcmp(x->host, y->host) != 0)
		return strcmp(x->host, y->host);
	if (x->born.mono_ns != y->born.mono_ns)
		return x->born.mono_ns > y->born.mono_ns ? -1 : 1;
	return x->serial > y->serial ? -1 : 1;
}

/* Are they processes of the same rank of the same world? Monitors are compared by node, too. */
static bool is_same(const struct store_segment *a, const struct store_segment *b)
{
	return a->rank == b->rank && a->world == b->world && !strcmp(a->run, b->run) &&
	       (!process_is_monitor(a->rank) || !strcmp(a->host, b->host));
}

/* The newest process of a rank in a run has the rank's name. */
void store_segments_name(struct store *store)
{
	struct store_segment *s, **sorted;
	char who[PROCESS_NAME], world[12], older[13];
	size_t n = 0, i;

	TAILQ_FOREACH (s, &store->segments, link)
		n++;
	sorted = memory_new(n + 1, sizeof(struct store_segment *));
	n = 0;
	TAILQ_FOREACH (s, &store->segments, link)
		sorted[n++] = s;
	qsort(sorted, n, sizeof(*sorted), compare_age);
	for (i = 0; i < n; i++) {
		s = sorted[i];
		world[0] = older[0] = '\0';
		if (s->world)
			snprintf(world, sizeof(world), ".w%08x", s->world);
		if (i && is_same(s, sorted[i - 1]))
			snprintf(older, sizeof(older), ".%d", (int)s->pid);
		snprintf(s->name, sizeof(s->name), "%s%s%s", process_name(who, s->rank), world,
			 older);
	}
	free(sorted);
}

/* Why the collector could not make a segment, and what to do; "%s" is the base folder. */
static const struct {
	const char *reason, *text;
} reasons[] = {
	{"no-space",
	 "no room left in %s: free some (evspace purge), take a smaller --capacity, or set "
	 "EVSPACE_DIR to a larger tmpfs"},
	{"quota",
	 "the quota of %s is used up: evspace purge old runs, take a smaller --capacity, or "
	 "raise --quota (EVSPACE_QUOTA)"},
	{"limits", "too much for one segment in %s: take a smaller --capacity or fewer --threads"},
	{"other-mpi",
	 "its MPI is neither Open MPI nor MPICH, and there are collectors for these two alone"},
	{"no-openmpi",
	 "its MPI is Open MPI, but libevspace-openmpi.so cannot be loaded from the folder of "
	 "libevspace-mpi.so"},
	{"no-mpich",
	 "its MPI is MPICH, but libevspace-mpich.so cannot be loaded from the folder of "
	 "libevspace-mpi.so: it is built where libmpich-dev is installed"},
	{"cut-off",
	 "its file in %s was cut short: what it had recorded is lost, the program runs on"},
	{"tasks",
	 "it has been 1000 tasks, one after the other, which is all that is collected of one "
	 "process: start it anew"},
	{STORE_UNWANTED,
	 "it is not among the ranks that are to be collected (`collect` of the application map, "
	 "--ranks)"},
	{"denied",
	 "no right to make a file in %s: it must be a folder of the program's user, mode 0700"},
};

void store_refusal_say(const struct store *store, const char *reason, char *text, size_t room)
{
	snprintf(text, room, "%s", reason);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (strcmp(reason, reasons[i].reason))
			continue;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(text, room, reasons[i].text, store->base);
#pragma GCC diagnostic pop
	}
}

/* A process that has a file. */
struct refusal_owner {
	const char *run;
	pid_t pid;
	int32_t rank;
};

static int compare_owners(const void *a, const void *b)
{
	const struct refusal_owner *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->run, y->run);
}

static struct refusal_owner owner_of(const struct store_refusal *r)
{
	return (struct refusal_owner){r->run, r->pid, r->rank};
}

/* All processes with files, sorted. */
static struct refusal_owner *owners_new(const struct store *store, size_t *n)
{
	const struct store_segment *s;
	const struct store_refusal *r;
	struct refusal_owner *owners;

	*n = 0;
	TAILQ_FOREACH (s, &store->segments, link)
		++*n;
	TAILQ_FOREACH (r, &store->refusals, link)
		*n += r->unreadable;
	owners = memory_new(*n + 1, sizeof(*owners));
	*n = 0;
	TAILQ_FOREACH (s, &store->segments, link)
		owners[(*n)++] = (struct refusal_owner){s->run, s->pid, s->rank};
	TAILQ_FOREACH (r, &store->refusals, link) {
		if (r->unreadable)
			owners[(*n)++] = owner_of(r);
	}
	qsort(owners, *n, sizeof(*owners), compare_owners);
	return owners;
}

void store_refusals_match(struct store *store)
{
	struct refusal_owner *owners, sought;
	struct store_refusal *r;
	size_t n;

	if (TAILQ_EMPTY(&store->refusals))
		return;
	owners = owners_new(store, &n);
	TAILQ_FOREACH (r, &store->refusals, link) {
		sought = owner_of(r);
		r->filed = !r->unreadable &&
			   bsearch(&sought, owners, n, sizeof(*owners), compare_owners);
	}
	free(owners);
}
