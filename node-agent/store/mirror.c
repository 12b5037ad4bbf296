/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes, checks and fills mirrors; tuples have the same numbers as in the elements. */
#include "node-agent/store/mirror.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/segment/element-writer.h"
#include "node-agent/segment/folder.h"
#include "node-agent/segment/segment-file.h"
#include "node-agent/segment/segment.h"
#include "node-agent/segment/segment-read.h"

#define MIRROR_MAGIC   "EVMIRRO"
#define MIRROR_VERSION 1u

_Static_assert(sizeof(struct mirror_header) <= SEGMENT_PAGE, "the header is one page");

/* ---- files ---- */

/* FNV-1a: gives an element the same file name every time. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
	do
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	while (*text++);
	return hash;
}

const char *mirror_file(char buf[MIRROR_FILE], const struct mirror_origin *origin,
			const char *holder)
{
	uint64_t hash = hash_text(0xcbf29ce484222325u, holder);

	hash = hash_text(hash_text(hash, origin->node), origin->rest);
	snprintf(buf, MIRROR_FILE, "%.*s.%d.%016" PRIx64 MIRROR_SUFFIX,
		 (int)strcspn(origin->process, "."), origin->process, origin->pid, hash);
	return buf;
}

static size_t mirror_bytes(uint32_t capacity)
{
	return SEGMENT_PAGE + element_ring_bytes(capacity);
}

static void header_fill(struct mirror_header *h, const struct mirror_plan *plan)
{
	memcpy(h->magic, MIRROR_MAGIC, sizeof(h->magic));
	h->version = MIRROR_VERSION;
	h->tuple_layout = TUPLE_LAYOUT;
	h->byte_order = SEGMENT_BYTE_ORDER;
	h->size = mirror_bytes(plan->capacity);
	snprintf(h->holder, sizeof(h->holder), "%s", plan->holder);
	h->origin = plan->origin;
	h->capacity = plan->capacity;
	h->lifetime_ns = plan->lifetime_ns;
	h->born = clock_pair_take(clock_kind());
	h->died_mono_ns = plan->origin.ended ? clock_mono_ns() : 0;
}

static int file_fill(int fd, const struct mirror_plan *plan, struct error *e)
{
	union {
		struct mirror_header header;
		char page[SEGMENT_PAGE];
	} first = {.page = ""};
	int err = posix_fallocate(fd, 0, (off_t)mirror_bytes(plan->capacity));

	if (err) {
		errno = err;
		return errorf(e,
			      "cannot reserve %zu bytes for a mirror: %s; remove old runs (evspace "
			      "purge)",
			      mirror_bytes(plan->capacity), strerror(err));
	}
	header_fill(&first.header, plan);
	if (pwrite(fd, first.page, sizeof(first), 0) != (ssize_t)sizeof(first))
		return errorf(e, "cannot write a mirror: %s", strerror(errno));
	return 0;
}

int mirror_create(const char *dir, const struct mirror_plan *plan, struct error *e)
{
	char file[MIRROR_FILE], temp[MIRROR_FILE + 8];
	int folder = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), fd = -1, rc = -1;
	uint64_t quota = 0, used;
	int saved;

	if (folder < 0)
		return errorf(e, "cannot open the folder %s: %s", dir, strerror(errno));
	mirror_file(file, &plan->origin, plan->holder);
	snprintf(temp, sizeof(temp), "%s.tmp", file);
	(void)unlinkat(folder, temp, 0);
	used = segment_usage(folder, &quota) + mirror_bytes(plan->capacity);
	if (used > quota) {
		errno = EDQUOT;
		errorf(e,
		       "segments and mirrors would take %llu bytes, a quarter of the file "
		       "system is %llu; remove old runs (evspace purge)",
		       (unsigned long long)used, (unsigned long long)quota);
	} else {
		fd = openat(folder, temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0)
			errorf(e, "cannot make %s/%s: %s", dir, temp, strerror(errno));
		else
			rc = file_fill(fd, plan, e);
	}
	if (rc == 0 && renameat(folder, temp, folder, file) < 0)
		rc = errorf(e, "cannot name %s/%s: %s", dir, file, strerror(errno));
	saved = errno;
	if (rc < 0 && fd >= 0)
		(void)unlinkat(folder, temp, 0);
	if (fd >= 0)
		close(fd);
	close(folder);
	errno = saved;
	return rc;
}

/* ---- opening ---- */

static bool is_text(const char *text, size_t n)
{
	return memchr(text, '\0', n) != NULL;
}

static bool origin_sound(const struct mirror_origin *o)
{
	unsigned char ended;

	/* as a bool it may have no other value */
	memcpy(&ended, &o->ended, sizeof(ended));
	return ended <= 1 && is_text(o->run, sizeof(o->run)) && is_text(o->node, sizeof(o->node)) &&
	       is_text(o->process, sizeof(o->process)) && is_text(o->rest, sizeof(o->rest)) &&
	       o->pid > 0 && o->rank >= -1 &&
	       (o->channel < CHANNEL_COUNT || o->channel == CHANNEL_SAMPLE);
}

static int header_check(const struct mirror_header *h, const struct stat *st, const char *file,
			struct error *e)
{
	errno = EINVAL;
	if (!S_ISREG(st->st_mode) || st->st_uid != geteuid() || (st->st_mode & 077))
		return errorf(e, "%s is not a file that is ours alone (mode 600)", file);
	if (memcmp(h->magic, MIRROR_MAGIC, sizeof(h->magic)) != 0 ||
	    h->byte_order != SEGMENT_BYTE_ORDER || h->version != MIRROR_VERSION ||
	    h->tuple_layout != TUPLE_LAYOUT)
		return errorf(e, "%s is not a mirror that this evspace reads", file);
	if (h->capacity == 0 || h->size != (uint64_t)st->st_size ||
	    h->size != mirror_bytes(h->capacity) || !segment_is_reserved(st) ||
	    !origin_sound(&h->origin) || !is_text(h->holder, sizeof(h->holder)))
		return errorf(e, "%s is damaged", file);
	return 0;
}

static int fd_map(struct mirror *m, int fd, const char *file, struct error *e)
{
	struct mirror_header h;
	struct stat st;
	void *at;

	/* read, not mapped: the file may shrink at any time */
	if (fstat(fd, &st) < 0 || pread(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h)) {
		errno = EINVAL;
		return errorf(e, "%s is damaged: its header cannot be read", file);
	}
	if (header_check(&h, &st, file, e) < 0)
		return -1;
	at = mmap(NULL, h.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return errorf(e, "cannot map %s: %s", file, strerror(errno));
	*m = (struct mirror){
		.header = at,
		.ring = (struct element_ring *)(void *)((char *)at + SEGMENT_PAGE),
		.size = h.size,
		.capacity = h.capacity,
		.error_ns = h.error_ns,
		.born = h.born,
		.origin = h.origin,
		.device = st.st_dev,
		.inode = st.st_ino,
	};
	memcpy(m->holder, h.holder, sizeof(m->holder));
	return 0;
}

int mirror_open(struct mirror *m, const char *dir, const char *file, struct error *e)
{
	char path[512];
	int fd, rc, saved;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errorf(e, "cannot open %s: %s", path, strerror(errno));
	rc = fd_map(m, fd, file, e);
	saved = errno;
	close(fd);
	errno = saved;
	return rc;
}

void mirror_close(struct mirror *m)
{
	if (m->header)
		munmap(m->header, m->size);
	m->header = NULL;
}

/* ---- filling ---- */

/* Arguments and result of a guarded function. */
struct work {
	struct mirror *m;
	const struct mirror_news *news;
	uint64_t done;
};

static uint64_t local_ticks(const struct mirror_news *n, uint64_t ticks)
{
	return clock_line_ticks(&n->local, clock_line_ns(&n->line, ticks));
}

/* Fill up to @to with holes. A kill here loses only tuples that are gone anyway. */
static void put_holes(struct mirror *m, uint64_t from, uint64_t to, bool discarded)
{
	struct tuple hole = {.flags = discarded};
	struct element_writer w;

	if (to - from >= m->capacity) {
		for (uint32_t i = 0; i < m->capacity; i++)
			m->ring->slots[i] = hole;
		atomic_store_explicit(&m->ring->head, to, memory_order_release);
		return;
	}
	element_writer_init(&w, m->ring, m->capacity);
	for (; from < to; from++)
		element_write(&w, &hole);
}

static int append(void *arg)
{
	struct work *work = arg;
	const struct mirror_news *n = work->news;
	uint64_t head = element_head(work->m->ring), from = head;
	struct element_writer w;

	if (head < n->first) {
		put_holes(work->m, head, n->first, n->discarded);
		head = n->first;
	}
	element_writer_init(&w, work->m->ring, work->m->capacity);
	for (; head < n->first + n->count; head++) {
		struct tuple t = n->tuples[head - n->first];

		t.start = local_ticks(n, t.start);
		t.end = t.end ? local_ticks(n, t.end) : 0;
		element_write(&w, &t);
	}
	if (work->m->error_ns != work->m->header->error_ns)
		work->m->header->error_ns = work->m->error_ns;
	if (n->cost_ps)
		atomic_store_explicit(&work->m->header->cost_ps, n->cost_ps, memory_order_relaxed);
	work->done = head - from;
	return 0;
}

int64_t mirror_append(struct mirror *m, const struct mirror_news *news)
{
	struct work work = {.m = m, .news = news};
	double error = news->line.error_ns + news->local.error_ns;

	if (news->count > 0 && error > (double)m->error_ns)
		m->error_ns = (uint64_t)error + 1;
	return segment_guarded(append, &work) < 0 ? -1 : (int64_t)work.done;
}

static int note(void *arg)
{
	struct work *work = arg;
	struct mirror_header *h = work->m->header;

	memcpy(h->origin.process, work->m->origin.process, sizeof(h->origin.process));
	h->died_mono_ns = work->m->origin.ended ? clock_mono_ns() : 0;
	return 0;
}

int mirror_note(struct mirror *m, const struct mirror_origin *now)
{
	struct work work = {.m = m};

	if (strcmp(m->origin.process, now->process) == 0 && m->origin.ended == now->ended &&
	    !mirror_died(m) == !now->ended)
		return 0;
	snprintf(m->origin.process, sizeof(m->origin.process), "%s", now->process);
	m->origin.ended = now->ended;
	return segment_guarded(note, &work) < 0 ? 0 : 1;
}

void mirror_name(const struct mirror *m, const struct pathmap *map, char *buf, size_t n)
{
	const char *cluster = pathmap_cluster(map, m->origin.node);

	snprintf(buf, n, "/%s/%s/%s/%s", cluster && cluster[0] ? cluster : "-", m->origin.node,
		 m->origin.process, m->origin.rest);
}

static int look_head(void *arg)
{
	struct work *work = arg;

	work->done = element_head(work->m->ring);
	return 0;
}

uint64_t mirror_head(const struct mirror *m)
{
	struct work work = {.m = (struct mirror *)(uintptr_t)m};

	return segment_guarded(look_head, &work) < 0 ? 0 : work.done;
}

static int look_died(void *arg)
{
	struct work *work = arg;

	work->done = work->m->header->died_mono_ns;
	return 0;
}

uint64_t mirror_died(const struct mirror *m)
{
	struct work work = {.m = (struct mirror *)(uintptr_t)m};

	return segment_guarded(look_died, &work) < 0 ? 1 : work.done;
}

static int lifetime_set(void *arg)
{
	struct work *work = arg;

	work->done = atomic_exchange_explicit(&work->m->header->lifetime_ns, work->done,
					      memory_order_relaxed);
	return 0;
}

bool mirror_lifetime_set(struct mirror *m, uint64_t ns)
{
	struct work work = {.m = m, .done = ns};

	return segment_guarded(lifetime_set, &work) == 0 && work.done != ns;
}

static int discard(void *arg)
{
	struct work *work = arg;
	_Atomic uint64_t *below = &work->m->header->mark.below;
	uint64_t head = element_head(work->m->ring), before = *below;
	uint64_t oldest = segment_mark_oldest(head, work->m->capacity);

	work->done = head > before ? head - (before > oldest ? before : oldest) : 0;
	if (head > before)
		*below = head;
	return 0;
}

uint64_t mirror_discard(struct mirror *m)
{
	struct work work = {.m = m};

	return segment_guarded(discard, &work) < 0 ? 0 : work.done;
}
