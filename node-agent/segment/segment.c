/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a segment: makes and reserves it once, then fills its reserves without system calls. */
#include "node-agent/segment/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "node-agent/segment/folder.h"
#include "node-agent/segment/segment-class.h"
#include "node-agent/segment/segment-file.h"
#include "node-agent/segment/segment-table.h"
#include "node-agent/segment/segment-timed.h"
#include "node-agent/segment/segment-function.h"
#include "tree/data/process.h"

#define DEFAULT_THREADS 8u
#define DEFAULT_COMMS	256u
#define DEFAULT_CLASSES 256u
#define DEFAULT_SPLITS	256u
#define MIN_MEMBERS	4096u
/* Files of code: if elements are named by call sites; else the first, for what threads are in. */
#define MODULES	    256u
#define MODULES_FEW 64u
#define LABELS	    256u /* most names of regions and phases of a program */

/** The state of segment_create(). */
struct making {
	struct segment *s;
	struct segment_plan plan;
	int dir;
	char name[64], temp[64];
	char removed[sizeof(((struct segment_header *)0)->removed)]; /* for it, "": none */
};

static void plan_defaults(struct segment_plan *plan)
{
	uint64_t members = 16 * (uint64_t)(plan->world_size > 0 ? plan->world_size : 1);

	if (!plan->threads)
		plan->threads = DEFAULT_THREADS;
	if (!plan->channels)
		plan->channels = (1u << CHANNEL_PROGRAMS) - 1;
	for (int i = 0; i < CHANNEL_MAX; i++)
		if (!plan->capacity[i])
			plan->capacity[i] = SEGMENT_CAPACITY;
	if (!plan->elements)
		plan->elements = DEFAULT_SPLITS;
	if (!plan->classes)
		plan->classes = DEFAULT_CLASSES;
	if (plan->classes >= SEGMENT_CLASS_FRESH)
		plan->classes = SEGMENT_CLASS_FRESH;
	if (!plan->comms)
		plan->comms = DEFAULT_COMMS;
	if (!plan->members)
		plan->members = members < MIN_MEMBERS  ? MIN_MEMBERS
				: members > UINT32_MAX ? UINT32_MAX
						       : (uint32_t)members;
}

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

/* Only few threads use these channels: they get elements for two threads, the others for all. */
static bool is_rare(int channel)
{
	return channel >= CHANNEL_RMA && channel < CHANNEL_PROGRAMS;
}

uint32_t segment_plan_elements(const struct segment_plan *plan, int channel)
{
	uint32_t threads = plan->threads ? plan->threads : DEFAULT_THREADS;

	if (plan->split[channel] != SPLIT_THREAD)
		return plan->elements ? plan->elements : DEFAULT_SPLITS;
	return is_rare(channel) && threads > 2 ? 2 : threads;
}

static bool has_sites(const struct segment_plan *plan)
{
	return memchr(plan->split, SPLIT_SITE, sizeof(plan->split)) != NULL;
}

/* Returns the size of the file. */
static uint64_t layout_plan(struct segment_layout *l, const struct segment_plan *plan)
{
	l->threads_max = plan->threads;
	l->elements_max = 1;
	l->classes_max = plan->classes;
	l->comms_max = plan->comms;
	l->members_max = plan->members;
	l->modules_max = has_sites(plan) ? MODULES : MODULES_FEW;
	l->labels_max = LABELS;
	l->rings_bytes = element_ring_bytes(1);
	for (int i = 0; i < CHANNEL_COUNT; i++) {
		uint32_t n = plan->channels >> i & 1 ? segment_plan_elements(plan, i) : 0;

		l->elements_max += n;
		l->rings_bytes += plan->rings[i] && n
					  ? plan->rings[i]
					  : n * (uint64_t)element_ring_bytes(plan->capacity[i]);
	}
	l->control_at = SEGMENT_PAGE;
	l->threads_at = 2 * (uint64_t)SEGMENT_PAGE;
	l->counts_at = l->threads_at + l->threads_max * sizeof(struct segment_thread);
	/* one more row, for the threads beyond the reserve */
	l->elements_at = l->counts_at + ((uint64_t)l->threads_max + 1) * l->classes_max *
						sizeof(struct segment_count);
	l->classes_at = l->elements_at + l->elements_max * sizeof(struct segment_element);
	l->comms_at = l->classes_at + l->classes_max * sizeof(struct segment_class);
	l->members_at = l->comms_at + l->comms_max * sizeof(struct segment_comm);
	l->modules_at = round_up(l->members_at + l->members_max * sizeof(int32_t), 64);
	l->labels_at = round_up(l->modules_at + l->modules_max * sizeof(struct segment_module), 64);
	l->rings_at = segment_timed_place(l) + segment_timed_bytes(l);
	/* agents map the marks writable, so they have pages of their own */
	l->marks_at = round_up(l->rings_at + l->rings_bytes, SEGMENT_PAGE);
	return segment_functions_place(l) + SEGMENT_PAGE;
}

static void header_fill(struct segment_header *h, const struct making *m)
{
	const struct segment_plan *plan = &m->plan;

	memcpy(h->magic, SEGMENT_MAGIC, sizeof(h->magic));
	h->version = SEGMENT_VERSION;
	h->tuple_layout = TUPLE_LAYOUT;
	h->byte_order = SEGMENT_BYTE_ORDER;
	h->size = m->s->size;
	h->layout = m->s->layout;
	clock_boot_id(h->boot_id, sizeof(h->boot_id));
	h->pid = (uint32_t)getpid();
	h->uid = (uint32_t)geteuid();
	segment_pid_start((int)h->pid, &h->pid_start);
	h->pid_space = segment_pid_space();
	h->rank = plan->rank;
	h->world_size = plan->world_size;
	h->world = plan->world;
	h->lifetimes = 1;
	h->trials = SEGMENT_TRIALS;
	h->timed_at = segment_timed_place(&h->layout);
	h->told_at = segment_told_place(&h->layout);
	h->functions_at = segment_functions_place(&h->layout);
	h->parent = plan->parent;
	memcpy(h->lifetime_ns, plan->lifetime_ns, sizeof(h->lifetime_ns));
	h->clock_kind = clock_kind();
	h->born = clock_pair_take(clock_kind());
	h->born_real_ns = clock_real_ns();
	snprintf(h->run, sizeof(h->run), "%s", plan->run ? plan->run : "");
	snprintf(h->job, sizeof(h->job), "%s", plan->job ? plan->job : "");
	snprintf(h->program, sizeof(h->program), "%s", program_invocation_short_name);
	gethostname(h->host, sizeof(h->host) - 1);
	if (plan->host)
		snprintf(h->host, sizeof(h->host), "%s", plan->host);
	if (h->clock_kind != CLOCK_TICKS_TSC)
		atomic_store_explicit(&h->note, SEGMENT_NOTE_CLOCK, memory_order_relaxed);
}

static void note_add(struct segment *s, uint32_t note)
{
	if (!(atomic_load_explicit(&s->header->note, memory_order_relaxed) & note))
		atomic_fetch_or_explicit(&s->header->note, note, memory_order_relaxed);
}

/* Exceeding a file size limit would end the program by SIGXFSZ, instead of failing. */
static int limit_check(uint64_t size, struct error *e)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size) {
		errno = EFBIG;
		return errorf(
			e, "the file size limit (ulimit -f) is below the %llu bytes of a segment",
			(unsigned long long)size);
	}
	return 0;
}

static int file_reserve(struct making *m, struct error *e)
{
	struct segment_room room = {
		.dir = m->dir,
		.path = m->plan.dir,
		.fd = m->s->fd,
		.size = m->s->size,
		.quota = m->plan.quota,
		.replaces = m->plan.replaces,
	};
	int rc = segment_room_reserve(&room, e);

	memcpy(m->removed, room.removed, sizeof(m->removed));
	return rc;
}

static int file_map(struct making *m, struct error *e)
{
	struct segment *s = m->s;
	void *at = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	struct stat st;

	if (at == MAP_FAILED)
		return errorf(e, "cannot map %zu bytes of %s: %s", s->size, s->path,
			      strerror(errno));
	s->header = at;
	/* no event should fault in a page; MAP_POPULATE only reads, which takes half as long
	 * again. Before Linux 5.14 this fails, and events do fault. */
	madvise(at, s->size, MADV_POPULATE_WRITE);
	if (fstat(s->fd, &st) < 0)
		return errorf(e, "cannot stat %s: %s", s->path, strerror(errno));
	s->device = st.st_dev;
	s->inode = st.st_ino;
	return 0;
}

static const char *refusal(int error)
{
	switch (error) {
	case ENOSPC:
		return "no-space";
	case EDQUOT:
		return "quota";
	case EACCES:
	case EPERM:
	case EROFS:
		return "denied";
	default:
		return "limits";
	}
}

/* An empty file takes no space. */
void segment_refuse(int dir, int32_t rank, const char *reason)
{
	char name[128], who[PROCESS_NAME];
	int fd;

	snprintf(name, sizeof(name), "%s.%d.refused-%s", process_name(who, rank), (int)getpid(),
		 reason);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
}

/* Other users who may write to the folder could replace our files. */
static int owner_check(const struct making *m, struct error *e)
{
	struct stat st;

	if (fstat(m->dir, &st) < 0)
		return errorf(e, "cannot stat the folder %s: %s", m->plan.dir, strerror(errno));
	if (st.st_uid == geteuid() && !(st.st_mode & 022))
		return 0;
	errno = EACCES;
	return errorf(e,
		      "the folder %s belongs to another user or can be written by others; set "
		      "EVSPACE_DIR",
		      m->plan.dir);
}

static int segment_make(struct making *m, struct error *e)
{
	struct segment *s = m->s;

	if (limit_check(s->size, e) < 0)
		return -1;
	s->fd = openat(m->dir, m->temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (s->fd < 0)
		return errorf(e, "cannot make %s/%s: %s", m->plan.dir, m->temp, strerror(errno));
	/* the lock says that the file is being made, even to other pid namespaces */
	(void)folder_lock(s->fd, LOCK_SH);
	if (fchmod(s->fd, 0600) < 0 || file_reserve(m, e) < 0 || file_map(m, e) < 0)
		goto fail;
	header_fill(s->header, m);
	memcpy(s->header->removed, m->removed, sizeof(m->removed));
	if (m->removed[0])
		note_add(s, SEGMENT_NOTE_ROOM);
	segment_cpus(&s->header->cpu, s->header->cpus, sizeof(s->header->cpus));
	segment_element_add(s,
			    &(struct segment_element){.capacity = 1, .thread = SEGMENT_NO_THREAD});
	segment_class_init(s);
	s->said = *s->header;
	if (renameat2(m->dir, m->temp, m->dir, m->name, RENAME_NOREPLACE) < 0) {
		errorf(e, "cannot name %s: %s", s->path, strerror(errno));
		goto fail;
	}
	close(s->fd);
	s->fd = -1;
	return 0;
fail:;
	int saved = errno;

	unlinkat(m->dir, m->temp, 0);
	segment_close(s);
	errno = saved;
	return -1;
}

int segment_create(struct segment *s, const struct segment_plan *plan, struct error *e)
{
	struct making m = {.s = s, .plan = *plan};
	char who[PROCESS_NAME];
	int rc, saved;

	plan_defaults(&m.plan);
	memset(s, 0, sizeof(*s));
	s->fd = -1;
	s->size = layout_plan(&s->layout, &m.plan);
	process_name(who, plan->rank);
	snprintf(m.name, sizeof(m.name), "%s.%d" SEGMENT_SUFFIX, who, (int)getpid());
	snprintf(m.temp, sizeof(m.temp), "%s.%d.tmp", who, (int)getpid());
	if ((size_t)snprintf(s->path, sizeof(s->path), "%s/%s", plan->dir, m.name) >=
	    sizeof(s->path)) {
		errno = ENAMETOOLONG;
		return errorf(e, "the name of the folder %s is too long", plan->dir);
	}
	m.dir = open(plan->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (m.dir < 0)
		return errorf(e, "cannot open the folder %s: %s", plan->dir, strerror(errno));
	rc = owner_check(&m, e) < 0 ? -1 : segment_make(&m, e);
	saved = errno;
	if (rc < 0)
		segment_refuse(m.dir, plan->rank, refusal(saved));
	close(m.dir);
	errno = saved;
	return rc;
}

void segment_close(struct segment *s)
{
	int saved = errno;

	if (!s)
		return;
	if (s->header)
		munmap(s->header, s->size);
	if (s->fd >= 0)
		close(s->fd);
	s->header = NULL;
	s->fd = -1;
	errno = saved;
}

static void *table_at(const struct segment *s, uint64_t offset)
{
	return (char *)s->header + offset;
}

/* Take @n of the @max that *@used counts. Returns the first taken, or UINT64_MAX. */
static uint64_t take32(_Atomic uint32_t *used, uint32_t n, uint32_t max)
{
	uint32_t old = atomic_load_explicit(used, memory_order_relaxed);

	do {
		if (old > max || n > max - old)
			return UINT64_MAX;
	} while (!atomic_compare_exchange_weak_explicit(used, &old, old + n, memory_order_relaxed,
							memory_order_relaxed));
	return old;
}

static uint64_t take64(_Atomic uint64_t *used, uint64_t n, uint64_t max)
{
	uint64_t old = atomic_load_explicit(used, memory_order_relaxed);

	do {
		if (old > max || n > max - old)
			return UINT64_MAX;
	} while (!atomic_compare_exchange_weak_explicit(used, &old, old + n, memory_order_relaxed,
							memory_order_relaxed));
	return old;
}

struct segment_thread *segment_thread_add(struct segment *s, uint32_t tid)
{
	struct segment_thread *threads = table_at(s, s->layout.threads_at);
	uint64_t i = take32(&s->header->threads, 1, s->layout.threads_max);

	if (i == UINT64_MAX) {
		note_add(s, SEGMENT_NOTE_THREADS);
		return NULL;
	}
	threads[i].tid = tid;
	atomic_store_explicit(&threads[i].used, 1, memory_order_release);
	return &threads[i];
}

struct segment_element *segment_element_add(struct segment *s, const struct segment_element *like)
{
	struct segment_element *elements = table_at(s, s->layout.elements_at), *entry;
	uint64_t at = take64(&s->header->rings_used, element_ring_bytes(like->capacity),
			     s->layout.rings_bytes);
	uint64_t i =
		at == UINT64_MAX ? at : take32(&s->header->elements, 1, s->layout.elements_max);

	if (i == UINT64_MAX) {
		note_add(s, SEGMENT_NOTE_ELEMENTS);
		return NULL;
	}
	entry = &elements[i];
	entry->ring_at = s->layout.rings_at + at;
	entry->capacity = like->capacity;
	entry->thread = like->thread;
	entry->channel = like->channel;
	entry->split = like->split;
	entry->key = like->key;
	segment_lifetime_set(s, entry, s->header->lifetime_ns[entry->channel % CHANNEL_MAX]);
	atomic_store_explicit(&entry->used, 1, memory_order_release);
	return entry;
}

const struct element_ring *segment_ring(const struct segment *s,
					const struct segment_element *entry)
{
	const struct segment_layout *l = &s->layout;
	uint64_t at = entry->ring_at;
	uint32_t capacity = entry->capacity;

	if (capacity == 0 || at % 64 != 0 || at < l->rings_at || at - l->rings_at > l->rings_bytes)
		return NULL;
	if (element_ring_bytes(capacity) > l->rings_bytes - (at - l->rings_at))
		return NULL;
	return table_at(s, at);
}

struct segment_element *segment_overflow(struct segment *s)
{
	return table_at(s, s->layout.elements_at);
}

void segment_overflow_write(struct segment *s)
{
	struct element_ring *ring = table_at(s, segment_overflow(s)->ring_at);

	atomic_fetch_add_explicit(&ring->head, 1, memory_order_release);
}

int32_t *segment_members_take(struct segment *s, uint32_t n)
{
	int32_t *members = table_at(s, s->layout.members_at);
	uint64_t i = take32(&s->header->members, n, s->layout.members_max);

	if (i == UINT64_MAX) {
		note_add(s, SEGMENT_NOTE_COMMS);
		return NULL;
	}
	return members + i;
}

static int members_are_world(const struct segment *s, uint32_t size, const int32_t *members)
{
	if ((int64_t)size != s->header->world_size)
		return 0;
	for (uint32_t i = 0; i < size; i++)
		if (members[i] != (int32_t)i)
			return 0;
	return 1;
}

static void members_give_back(struct segment *s, uint32_t room, uint32_t n)
{
	uint32_t end = room + n;

	atomic_compare_exchange_strong(&s->header->members, &end, room);
}

uint32_t segment_members_keep(struct segment *s, const int32_t *room, uint32_t n)
{
	const struct segment_comm *comms = table_at(s, s->layout.comms_at);
	uint32_t used = atomic_load_explicit(&s->header->comms, memory_order_relaxed);
	uint32_t kept = (uint32_t)(room - segment_members_at(s, 0));

	if (members_are_world(s, n, room)) {
		members_give_back(s, kept, n);
		return SEGMENT_MEMBERS_WORLD;
	}
	for (uint32_t i = 0; i < used; i++) {
		const struct segment_comm *c = &comms[i];

		if (!atomic_load_explicit(&c->used, memory_order_acquire) || c->size != n ||
		    c->members >= SEGMENT_MEMBERS_WORLD ||
		    memcmp(segment_members_at(s, c->members), room, n * sizeof(*room)) != 0)
			continue;
		members_give_back(s, kept, n);
		return c->members;
	}
	return kept;
}

const int32_t *segment_members_at(const struct segment *s, uint32_t members)
{
	return (const int32_t *)table_at(s, s->layout.members_at) + members;
}
