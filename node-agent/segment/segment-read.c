/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads segments that others write: checks everything, and survives a file that is cut short. */
#include "node-agent/segment/segment-read.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "node-agent/segment/segment.h"
#include "node-agent/segment/segment-file.h"
#include "node-agent/segment/segment-function.h"
#include "node-agent/segment/segment-table.h"
#include "node-agent/segment/segment-mark.h"
#include "tree/data/process.h"
#include "tree/data/op-table.h"

/** How often a reader tries again when a state line changes meanwhile. */
#define STATE_TRIES 4

/* No process has more. A file with holes could claim tables too large to walk. */
#define THREADS_MOST  (1u << 16)
#define ELEMENTS_MOST (1u << 24)
#define COMMS_MOST    (1u << 16)
#define MODULES_MOST  (1u << 12)
#define LABELS_MOST   (1u << 12)

/* Summing classes reads all counts. 4,096 threads of 256 classes have half of this. */
#define COUNTS_MOST (1u << 21)

/* One of the tables, as the header describes it. */
struct segment_table {
	const char *name;
	uint64_t at, count, bytes; /* of an entry */
	uint64_t most;		   /* entries */
};

static int file_check(const struct stat *st, const char *name, struct error *e)
{
	errno = EINVAL;
	if (!S_ISREG(st->st_mode))
		return errorf(e, "%s is not a regular file", name);
	if (st->st_uid != geteuid()) {
		errno = EACCES;
		return errorf(e, "%s belongs to user %u, not to us (%u)", name,
			      (unsigned)st->st_uid, (unsigned)geteuid());
	}
	if (st->st_mode & 077) {
		errno = EACCES;
		return errorf(e, "%s can be opened by others (mode %03o); segments are 600", name,
			      (unsigned)st->st_mode & 0777);
	}
	if (st->st_size < 2 * (off_t)SEGMENT_PAGE) {
		errno = EINVAL;
		return errorf(e, "%s has %lld bytes; a segment has at least %u", name,
			      (long long)st->st_size, 2 * SEGMENT_PAGE);
	}
	return 0;
}

static int kind_check(const struct segment_header *h, const char *name, struct error *e)
{
	errno = EINVAL;
	if (memcmp(h->magic, SEGMENT_MAGIC, sizeof(h->magic)) != 0)
		return errorf(e, "%s is not a segment of EventSpace", name);
	if (h->byte_order != SEGMENT_BYTE_ORDER)
		return errorf(e, "%s was written on a machine with another byte order", name);
	if (h->version != SEGMENT_VERSION || h->tuple_layout != TUPLE_LAYOUT) {
		errno = EPROTO;
		return errorf(
			e,
			"%s is of segment version %u with tuple layout %u; this evspace reads "
			"%u with %u: use the same release for program and agent",
			name, h->version, h->tuple_layout, SEGMENT_VERSION, TUPLE_LAYOUT);
	}
	return 0;
}

static int is_text(const char *s, size_t n)
{
	return memchr(s, '\0', n) != NULL;
}

/* Is it within a file of @size bytes, after the first two pages? */
static bool table_fits(const struct segment_table *t, uint64_t size)
{
	/* counts are below 2^43 and entries below 2^12 bytes: no product overflows */
	return t->count <= t->most && t->at % 8 == 0 && t->at >= 2 * (uint64_t)SEGMENT_PAGE &&
	       t->at <= size && t->count * t->bytes <= size - t->at;
}

/* Do two tables that fit overlap? */
static bool tables_meet(const struct segment_table *a, const struct segment_table *b)
{
	return a->at < b->at + b->count * b->bytes && b->at < a->at + a->count * a->bytes;
}

/* The name of the first table that does not fit or overlaps one before it; NULL: all are right. */
static const char *tables_fault(const struct segment_table *tables, size_t n, uint64_t size)
{
	for (size_t i = 0; i < n; i++) {
		if (!table_fits(&tables[i], size))
			return tables[i].name;
		for (size_t k = 0; k < i; k++)
			if (tables_meet(&tables[i], &tables[k]))
				return tables[i].name;
	}
	return NULL;
}

static const char *layout_fault(const struct segment_layout *l, uint64_t size)
{
	const uint64_t counts = ((uint64_t)l->threads_max + 1) * l->classes_max;
	const struct segment_table tables[] = {
		{"thread table", l->threads_at, l->threads_max, sizeof(struct segment_thread),
		 THREADS_MOST},
		{"table of counts", l->counts_at, counts, sizeof(struct segment_count),
		 COUNTS_MOST},
		{"class table", l->classes_at, l->classes_max, sizeof(struct segment_class),
		 SEGMENT_CLASS_FRESH},
		{"element table", l->elements_at, l->elements_max, sizeof(struct segment_element),
		 ELEMENTS_MOST},
		{"communicator table", l->comms_at, l->comms_max, sizeof(struct segment_comm),
		 COMMS_MOST},
		{"member table", l->members_at, l->members_max, sizeof(int32_t), UINT32_MAX},
		{"module table", l->modules_at, l->modules_max, sizeof(struct segment_module),
		 MODULES_MOST},
		{"table of labels", l->labels_at, l->labels_max, sizeof(struct segment_label),
		 LABELS_MOST},
		{"table of marks", l->marks_at, l->elements_max, sizeof(struct segment_mark),
		 ELEMENTS_MOST},
		{"place of the rings", l->rings_at, l->rings_bytes, 1, size},
	};

	if (l->control_at != SEGMENT_PAGE)
		return "control page";
	if (l->classes_max < CHANNEL_MAX)
		return "class table";
	if (l->elements_max == 0)
		return "element table";
	if (l->marks_at % SEGMENT_PAGE != 0)
		return "table of marks";
	return tables_fault(tables, sizeof(tables) / sizeof(tables[0]), size);
}

/* Is it a world rank, a task id, or a monitor's number? */
static bool rank_fits(const struct segment_header *h)
{
	if (process_is_monitor(h->rank))
		return h->world_size == 0;
	return h->rank >= 0 && (h->world_size ? h->rank < h->world_size : process_is_task(h->rank));
}

static int header_check(const struct segment_header *h, const struct stat *st, const char *name,
			struct error *e)
{
	const char *fault;

	if (kind_check(h, name, e) < 0)
		return -1;
	errno = EINVAL;
	if (h->size != (uint64_t)st->st_size)
		return errorf(e, "%s is damaged: it says it has %llu bytes and has %lld", name,
			      (unsigned long long)h->size, (long long)st->st_size);
	if (!is_text(h->boot_id, sizeof(h->boot_id)) || !is_text(h->run, sizeof(h->run)) ||
	    !is_text(h->host, sizeof(h->host)) || !is_text(h->program, sizeof(h->program)) ||
	    !is_text(h->job, sizeof(h->job)) || !is_text(h->cpus, sizeof(h->cpus)) ||
	    !is_text(h->removed, sizeof(h->removed)))
		return errorf(e, "%s is damaged: a name in its header has no end", name);
	if (h->uid != st->st_uid || h->pid == 0 || h->pid > INT32_MAX || h->world_size < 0 ||
	    !rank_fits(h))
		return errorf(e, "%s is damaged: process %u of user %u, rank %d of %d", name,
			      h->pid, h->uid, h->rank, h->world_size);
	if (h->clock_kind != CLOCK_TICKS_TSC && h->clock_kind != CLOCK_TICKS_MONO)
		return errorf(e, "%s is damaged: it has clock %u", name, h->clock_kind);
	fault = layout_fault(&h->layout, h->size);
	if (fault)
		return errorf(e,
			      "%s is damaged: the %s does not lie in the file, is too large or "
			      "lies across another; remove its run (evspace purge)",
			      name, fault);
	if (!segment_is_reserved(st))
		return errorf(e,
			      "%s has holes: of its %lld bytes %lld are reserved; remove its run "
			      "(evspace purge)",
			      name, (long long)st->st_size, (long long)st->st_blocks * 512);
	return 0;
}

static int fd_open(struct segment *s, const char *dir, const char *name, struct error *e)
{
	union {
		struct segment_header header;
		char bytes[sizeof(struct segment_header)];
	} first;
	struct stat st;
	ssize_t n;

	/* O_NONBLOCK: opening a fifo of that name must not block */
	s->fd = open(s->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (s->fd < 0)
		return errorf(e, "cannot open %s/%s: %s", dir, name, strerror(errno));
	if (fstat(s->fd, &st) < 0)
		return errorf(e, "cannot stat %s: %s", name, strerror(errno));
	if (file_check(&st, name, e) < 0)
		return -1;
	/* read, not mapped: the file may shrink at any time */
	n = pread(s->fd, first.bytes, sizeof(first), 0);
	if (n != (ssize_t)sizeof(first)) {
		errno = n < 0 ? errno : EINVAL;
		return errorf(e, "%s is damaged: its header cannot be read", name);
	}
	if (header_check(&first.header, &st, name, e) < 0)
		return -1;
	s->size = (size_t)st.st_size;
	s->layout = first.header.layout;
	s->said = first.header;
	s->device = st.st_dev;
	s->inode = st.st_ino;
	return 0;
}

int segment_open(struct segment *s, const char *dir, const char *name, struct error *e)
{
	struct segment new = {.fd = -1};
	void *at;
	int n, saved;

	n = snprintf(new.path, sizeof(new.path), "%s/%s", dir, name);
	if (strchr(name, '/') || (size_t)n >= sizeof(new.path)) {
		errno = strchr(name, '/') ? EINVAL : ENAMETOOLONG;
		return errorf(e, "\"%s\" in %s is not a name of a segment", name, dir);
	}
	if (fd_open(&new, dir, name, e) < 0)
		goto fail;
	at = mmap(NULL, new.size, PROT_READ, MAP_SHARED, new.fd, 0);
	if (at == MAP_FAILED) {
		errorf(e, "cannot map %s: %s", name, strerror(errno));
		goto fail;
	}
	new.header = at;
	close(new.fd);
	new.fd = -1;
	*s = new;
	return 0;
fail:
	saved = errno;
	if (new.fd >= 0)
		close(new.fd);
	errno = saved;
	return -1;
}

static sigjmp_buf guard_return;
static volatile sig_atomic_t guarding;

static void guard_caught(int signal)
{
	if (guarding)
		siglongjmp(guard_return, 1);
	/* not in a guarded read: let it repeat with the default action */
	sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

int segment_guarded(int (*read)(void *arg), void *arg)
{
	static int installed;
	int rc;

	if (!installed) {
		/* SA_NODEFER: no signal mask to save and restore at each call */
		struct sigaction action = {.sa_handler = guard_caught, .sa_flags = SA_NODEFER};

		if (sigaction(SIGBUS, &action, NULL) < 0)
			return -1;
		installed = 1;
	}
	if (sigsetjmp(guard_return, 0)) {
		guarding = 0;
		errno = EIO;
		return -1;
	}
	guarding = 1;
	rc = read(arg);
	guarding = 0;
	return rc;
}

static const void *table_at(const struct segment *s, uint64_t offset)
{
	return (const char *)s->header + offset;
}

/* Entries of a table in use, by the header, but never more than fit. */
static uint32_t in_use(const _Atomic uint32_t *n, uint32_t max)
{
	uint32_t used = atomic_load_explicit(n, memory_order_relaxed);

	return used < max ? used : max;
}

static int is_complete(const _Atomic uint32_t *used)
{
	return atomic_load_explicit(used, memory_order_acquire) == 1;
}

uint32_t segment_threads(const struct segment *s)
{
	return in_use(&s->header->threads, s->layout.threads_max);
}

const struct segment_thread *segment_thread(const struct segment *s, uint32_t i)
{
	const struct segment_thread *table = table_at(s, s->layout.threads_at);

	return i < s->layout.threads_max && is_complete(&table[i].used) ? &table[i] : NULL;
}

uint32_t segment_elements(const struct segment *s)
{
	return in_use(&s->header->elements, s->layout.elements_max);
}

uint32_t segment_elements_readable(const struct segment *s)
{
	uint32_t n = segment_elements(s);

	return n < SEGMENT_ELEMENTS_READ ? n : SEGMENT_ELEMENTS_READ;
}

const struct segment_element *segment_element(const struct segment *s, uint32_t i)
{
	const struct segment_element *table = table_at(s, s->layout.elements_at);

	return i < s->layout.elements_max && is_complete(&table[i].used) ? &table[i] : NULL;
}

uint32_t segment_comms(const struct segment *s)
{
	return in_use(&s->header->comms, s->layout.comms_max);
}

const struct segment_comm *segment_comm(const struct segment *s, uint32_t i)
{
	const struct segment_comm *table = table_at(s, s->layout.comms_at);

	return i < s->layout.comms_max && is_complete(&table[i].used) ? &table[i] : NULL;
}

uint32_t segment_cost(const struct segment *s)
{
	return atomic_load_explicit(&s->header->cost_ps, memory_order_relaxed);
}

int32_t segment_member(const struct segment *s, const struct segment_comm *comm, uint32_t i)
{
	const int32_t *table = table_at(s, s->layout.members_at);
	uint32_t first = comm->members;

	if (i >= comm->size || first == SEGMENT_MEMBERS_UNKNOWN)
		return -1;
	if (first == SEGMENT_MEMBERS_WORLD)
		return i <= INT32_MAX ? (int32_t)i : -1;
	if (first >= s->layout.members_max || i >= s->layout.members_max - first)
		return -1;
	return table[first + i];
}

int segment_state(const struct segment_thread *thread, struct tuple *out)
{
	const struct segment_state *line = &thread->state;

	for (int i = 0; i < STATE_TRIES; i++) {
		union {
			uint64_t words[5];
			struct tuple tuple;
		} copy;

		copy.words[4] = atomic_load_explicit(&line->what, memory_order_acquire);
		if (!copy.words[4])
			return 0;
		copy.words[0] = atomic_load_explicit(&line->since, memory_order_relaxed);
		copy.words[1] = 0;
		copy.words[2] = atomic_load_explicit(&line->bytes, memory_order_relaxed);
		copy.words[3] = atomic_load_explicit(&line->whom, memory_order_relaxed);
		/* if words of a later operation were read, then by now `what` is 0 or `since`
		 * has changed */
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&line->what, memory_order_acquire) != copy.words[4] ||
		    atomic_load_explicit(&line->since, memory_order_relaxed) != copy.words[0])
			continue;
		*out = copy.tuple;
		out->flags |= TUPLE_RUNNING;
		return 1;
	}
	return 0;
}

uint64_t segment_site(const struct segment_thread *thread, uint64_t *since)
{
	const struct segment_state *line = &thread->state;
	uint64_t what = atomic_load_explicit(&line->what, memory_order_acquire), site;

	*since = atomic_load_explicit(&line->since, memory_order_relaxed);
	site = atomic_load_explicit(&line->site, memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	if (!what || atomic_load_explicit(&line->what, memory_order_relaxed) != what ||
	    atomic_load_explicit(&line->since, memory_order_relaxed) != *since)
		return 0;
	return site;
}

int segment_alive(const struct segment *s)
{
	return segment_process_lives(&s->said);
}

const char *segment_notes(uint32_t note, const char *removed, char *buf, size_t n)
{
	static const char *const words[] = {
		"more threads than the reserve (run --threads): their events are counted, and "
		"lost",
		"more communicators than fit: some have no members on record",
		"more requests under way than fit: some completions are unattributed",
		"no invariant TSC that the kernel trusts: CLOCK_MONOTONIC is used and costs more",
		"an EVSPACE_ variable was not understood: the default is used",
		"more classes than fit: the rest is counted without communicator",
		"more elements than the reserve (run --reserve): the rest is counted as lost",
		"calls within other calls (of functions of the program that MPI calls) are not "
		"recorded",
		"calls that an exception or longjmp has left are not recorded",
		"shared memory or the quota was used up: the oldest runs that had ended were "
		"removed",
	};
	size_t used = 0;

	if (n)
		buf[0] = '\0';
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		int k;

		if (!(note & 1u << i) || used >= n)
			continue;
		k = snprintf(buf + used, n - used, "%s%s", used ? "; " : "", words[i]);
		used += k > 0 ? (size_t)k : 0;
		if (1u << i == SEGMENT_NOTE_ROOM && removed[0] && used < n)
			used += (size_t)snprintf(buf + used, n - used, ": %s", removed);
	}
	return buf;
}

/* The words of a region or phase are stored one by one: if any changes meanwhile, they do not
 * belong together. */
int segment_region(const struct segment_thread *thread, struct tuple *out)
{
	const struct segment_user *user = &thread->user;
	uint64_t depth = atomic_load_explicit(&user->depth, memory_order_acquire), label, since;
	bool in_region = depth > 0 && depth <= SEGMENT_REGIONS;
	const _Atomic uint64_t *words = in_region ? &user->regions[depth - 1].label : &user->phase;

	label = atomic_load_explicit(words, memory_order_relaxed);
	since = atomic_load_explicit(in_region ? &user->regions[depth - 1].since
					       : &user->phase_since,
				     memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	if (!label || !since || depth > SEGMENT_REGIONS ||
	    atomic_load_explicit(&user->depth, memory_order_relaxed) != depth ||
	    atomic_load_explicit(words, memory_order_relaxed) != label)
		return 0;
	*out = (struct tuple){
		.start = since,
		.peer = TUPLE_NO_PEER,
		.seq_or_tag = (uint32_t)label,
		.op = !in_region			? OP_EVSPACE_PHASE
		      : label & SEGMENT_REGION_FUNCTION ? OP_EVSPACE_FUNCTION
							: OP_EVSPACE_REGION,
		.flags = TUPLE_RUNNING | TUPLE_REGION,
	};
	return 1;
}
