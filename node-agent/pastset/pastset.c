/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and opens the files of programs' elements, and copies tuples out of them. */
#include "node-agent/pastset/pastset.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/segment/folder.h"
#include "node-agent/segment/segment-file.h"
#include "tree/data/process.h"

/* A file's name. */
typedef char file_name[PASTSET_NAME + sizeof(ELEMENT_SUFFIX)];

static bool is_name(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("-_.", name[i]))
			return false;
	return n > 0 && n < PASTSET_NAME && name[0] != '.';
}

static int name_check(const char *name, file_name file, struct error *e)
{
	if (is_name(name)) {
		snprintf(file, sizeof(file_name), "%s" ELEMENT_SUFFIX, name);
		return 0;
	}
	errno = EINVAL;
	return errorf(e,
		      "\"%.70s\" cannot be an element's name: it has letters, digits, \"-\", \"_\" "
		      "and \".\", no dot first, and less than %d of them",
		      name, PASTSET_NAME);
}

static uint32_t slot_bytes(uint32_t bytes)
{
	return 8 * (1 + pastset_words(bytes));
}

static uint64_t file_bytes(const struct pastset_header *said)
{
	uint64_t bytes = PASTSET_SLOTS_AT + pastset_slots(said) * said->slot_bytes;

	return (bytes + PASTSET_PAGE - 1) / PASTSET_PAGE * PASTSET_PAGE;
}

/* ---- making ---- */

/* As its launcher says it, -1: nothing. */
static int32_t maker_rank(void)
{
	static const char *const names[] = {"PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
	const char *text = NULL;
	char *end;
	long rank;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !text; i++)
		text = getenv(names[i]);
	rank = text ? strtol(text, &end, 10) : -1;
	return rank >= 0 && rank < INT32_MAX && end > text && !*end ? (int32_t)rank : -1;
}

static int header_fill(struct pastset_header *h, const struct pastset_plan *plan, struct error *e)
{
	errno = EINVAL;
	if (plan->capacity < 1 || plan->capacity > PASTSET_CAPACITY_MAX)
		return errorf(e, "an element's capacity is 1 to %u, not %u", PASTSET_CAPACITY_MAX,
			      plan->capacity);
	*h = (struct pastset_header){
		.magic = PASTSET_MAGIC,
		.version = PASTSET_VERSION,
		.capacity = plan->capacity,
		.byte_order = SEGMENT_BYTE_ORDER,
		.slot_bytes = slot_bytes(plan->fields->bytes),
		.wait_ms = plan->wait_ms,
		.clock_kind = clock_kind(),
		.uid = (uint32_t)geteuid(),
		/* an agent's own rank says nothing of those that it makes */
		.rank_and_one = plan->made_by ? 0 : maker_rank() + 1,
		.born = clock_pair_take(clock_kind()),
		.born_real_ns = clock_real_ns(),
	};
	h->size = file_bytes(h);
	clock_boot_id(h->boot_id, sizeof(h->boot_id));
	snprintf(h->name, sizeof(h->name), "%s", plan->name);
	snprintf(h->run, sizeof(h->run), "%s", plan->run);
	gethostname(h->host, sizeof(h->host) - 1);
	snprintf(h->program, sizeof(h->program), "%s", program_invocation_short_name);
	fields_text(plan->fields, h->fields);
	snprintf(h->made_by, sizeof(h->made_by), "%s", plan->made_by ? plan->made_by : "");
	return 0;
}

/* Writes the header into the reserved file, whose other bytes are 0. */
static int file_fill(int fd, int dir, const char *path, const struct pastset_plan *plan,
		     const struct pastset_header *header, struct error *e)
{
	struct segment_room room = {
		.dir = dir,
		.path = path,
		.fd = fd,
		.size = header->size,
		.quota = plan->quota,
		/* an agent's loop waits for nobody, and its map is no reason to remove runs */
		.replaces = !plan->made_by,
	};
	struct rlimit limit;

	/* exceeding it would end the program by SIGXFSZ */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < header->size) {
		errno = EFBIG;
		return errorf(e, "the file size limit (ulimit -f) is below the %llu bytes of it",
			      (unsigned long long)header->size);
	}
	/* the lock says that it is being made */
	(void)folder_lock(fd, LOCK_SH);
	if (fchmod(fd, 0600) < 0)
		return errorf(e, "%s", strerror(errno));
	if (segment_room_reserve(&room, e) < 0)
		return -1;
	if (pwrite(fd, (const void *)header, sizeof(*header), 0) == (ssize_t)sizeof(*header))
		return 0;
	return errorf(e, "cannot write its header: %s", strerror(errno));
}

int pastset_make(int dir, const char *path, const struct pastset_plan *plan, struct error *e)
{
	char temp[PROCESS_NAME + PASTSET_NAME + 32], who[PROCESS_NAME];
	struct pastset_header header;
	file_name name;
	int fd, rc, saved;

	if (name_check(plan->name, name, e) < 0 || header_fill(&header, plan, e) < 0)
		return -1;
	/* its maker is in the name, so that what it leaves if it is killed can be removed */
	snprintf(temp, sizeof(temp), "%s.%d.%s.tmp", process_name(who, PROCESS_CONSUMER),
		 (int)getpid(), plan->name);
	fd = openat(dir, temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	/* one of the same pid may have been killed, in a container */
	if (fd < 0 && errno == EEXIST && folder_file_is_idle(dir, temp) &&
	    unlinkat(dir, temp, 0) == 0)
		fd = openat(dir, temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errorf(e, "cannot make %s/%s: %s", path, temp, strerror(errno));
	rc = file_fill(fd, dir, path, plan, &header, e);
	if (rc == 0 && renameat2(dir, temp, dir, name, RENAME_NOREPLACE) < 0)
		rc = errorf(e, "%s", errno == EEXIST ? "there is one" : strerror(errno));
	saved = errno;
	if (rc < 0)
		unlinkat(dir, temp, 0);
	close(fd);
	errno = saved;
	return rc == 0 ? 0 : error_prefix(e, "cannot make the element %s in %s", plan->name, path);
}

/* ---- opening ---- */

static bool is_text(const char *text, size_t n)
{
	return memchr(text, 0, n) != NULL;
}

/* What is wrong with it; NULL: nothing. */
static const char *header_fault(const struct pastset_header *h, const struct stat *st)
{
	if (memcmp(h->magic, PASTSET_MAGIC, sizeof(h->magic)) != 0)
		return "it is no element";
	if (h->byte_order != SEGMENT_BYTE_ORDER)
		return "it was made by a machine with another byte order";
	if (h->version != PASTSET_VERSION)
		return "it was made by another version of EventSpace";
	if (h->capacity < 1 || h->capacity > PASTSET_CAPACITY_MAX || h->wait_ms < -1)
		return "its capacity or patience cannot be true";
	if (!is_text(h->boot_id, sizeof(h->boot_id)) || !is_text(h->name, sizeof(h->name)) ||
	    !is_text(h->run, sizeof(h->run)) || !is_text(h->host, sizeof(h->host)) ||
	    !is_text(h->program, sizeof(h->program)) || !is_text(h->fields, sizeof(h->fields)) ||
	    !is_text(h->made_by, sizeof(h->made_by)))
		return "a text in its header has no end";
	if (h->clock_kind != CLOCK_TICKS_TSC && h->clock_kind != CLOCK_TICKS_MONO)
		return "it has an unknown clock";
	if (h->uid != st->st_uid)
		return "it says another owner than it has";
	return NULL;
}

/* Its fields, and whether all of it is there. */
static const char *size_fault(const struct pastset_header *h, const struct stat *st,
			      struct fields *fields)
{
	char text[FIELDS_TEXT];

	if (fields_parse(fields, h->fields, NULL) < 0 ||
	    strcmp(fields_text(fields, text), h->fields) != 0)
		return "its fields are no type";
	if (h->slot_bytes != slot_bytes(fields->bytes) || h->size != file_bytes(h))
		return "its size does not follow from its fields and capacity";
	if (st->st_size < 0 || (uint64_t)st->st_size != h->size)
		return "it was cut short";
	return segment_is_reserved(st) ? NULL : "it has holes";
}

static const char *file_fault(struct pastset *p, const char *name, struct stat *st)
{
	const char *fault;

	if (fstat(p->fd, st) < 0)
		return strerror(errno);
	errno = EACCES;
	if (!S_ISREG(st->st_mode) || st->st_uid != geteuid() || st->st_mode & 077)
		return "it is no file of yours alone (mode 600)";
	errno = EINVAL;
	/* read, not mapped: the file may be cut at any time */
	if (pread(p->fd, (void *)&p->said, sizeof(p->said), 0) != (ssize_t)sizeof(p->said))
		return "it was cut short";
	fault = header_fault(&p->said, st);
	if (!fault && strcmp(p->said.name, name) != 0)
		fault = "it says another name than it has";
	return fault ? fault : size_fault(&p->said, st, &p->fields);
}

static const char *file_map(struct pastset *p, bool writable)
{
	p->map = mmap(NULL, p->size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
		      p->fd, 0);
	if (p->map == MAP_FAILED) {
		p->map = NULL;
		return strerror(errno);
	}
	/* no write should fault in a page; fails before Linux 5.14 */
	if (writable)
		madvise(p->map, p->size, MADV_POPULATE_WRITE);
	p->live = (void *)((char *)p->map + PASTSET_LIVE_AT);
	p->readers = (void *)((char *)p->map + PASTSET_READERS_AT);
	p->slots = (char *)p->map + PASTSET_SLOTS_AT;
	return NULL;
}

int pastset_open(struct pastset *p, int dir, const char *path, const char *name, bool writable,
		 struct error *e)
{
	struct pastset new = {.fd = -1};
	const char *fault = NULL;
	struct stat st;
	file_name file;

	if (name_check(name, file, e) < 0)
		return -1;
	/* O_NONBLOCK: opening a fifo of that name must not block */
	new.fd = openat(dir, file,
			(writable ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (new.fd < 0)
		return errorf(e, "cannot open the element %s in %s: %s", name, path,
			      strerror(errno));
	if (writable && folder_lock(new.fd, LOCK_SH) < 0)
		fault = "it is being removed";
	if (!fault)
		fault = file_fault(&new, name, &st);
	new.size = new.said.size;
	new.device = fault ? 0 : st.st_dev;
	new.inode = fault ? 0 : st.st_ino;
	if (!fault && st.st_nlink == 0) {
		errno = ENOENT;
		fault = "it has been removed";
	}
	if (!fault)
		fault = file_map(&new, writable);
	if (!fault) {
		if (!writable)
			close(new.fd);
		new.fd = writable ? new.fd : -1;
		*p = new;
		return 0;
	}
	errorf(e, "cannot use the element %s in %s: %s", name, path, fault);
	pastset_close(&new);
	return -1;
}

void pastset_close(struct pastset *p)
{
	int saved = errno;

	if (p->map)
		munmap(p->map, p->size);
	if (p->fd >= 0)
		close(p->fd);
	p->map = NULL;
	p->fd = -1;
	errno = saved;
}

/* ---- reading ---- */

int pastset_read(const struct pastset *p, uint64_t number, uint64_t *ticks, void *tuple)
{
	const _Atomic uint64_t *slot =
		(const _Atomic uint64_t *)(const void *)pastset_slot(p, number);
	uint32_t bytes = p->fields.bytes, words = pastset_words(bytes);
	uint64_t copy[1 + FIELDS_BYTES / 8], head = pastset_head(p);

	if (number >= head || number < pastset_oldest(p, head))
		return 0;
	for (uint32_t i = 0; i <= words; i++)
		copy[i] = atomic_load_explicit(&slot[i], memory_order_relaxed);
	/* pairs with the fence of pastset_write(): after a new word, the head before it is seen */
	atomic_thread_fence(memory_order_acquire);
	head = atomic_load_explicit(&p->live->head, memory_order_relaxed);
	if (number < pastset_oldest(p, head))
		return 0;
	*ticks = copy[0];
	memcpy(tuple, &copy[1], bytes);
	return 1;
}
