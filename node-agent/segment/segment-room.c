/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes room by removing ended runs, oldest first. Uses only libc, for collectors. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "node-agent/segment/folder.h"
#include "node-agent/segment/segment-file.h"
#include "node-agent/segment/segment-layout.h"
#include "tree/data/clock.h"
#include "tree/data/span.h"

/* Runs looked at, at most: the program is waiting. */
#define RUNS_MAX 4096

/* How long to wait for another process that makes room, and for readers to unmap what was
 * removed. */
#define TURN_WAIT_NS 2000000000u
#define TURN_LOOK_NS 100000000u
#define LET_GO_NS    1000000000u

/* A run that may be removed for a segment. */
struct ended {
	char name[64];
	int64_t born_ns; /* of its newest segment, by CLOCK_REALTIME */
	uint64_t bytes;
	bool in_use; /* by more than readers */
	bool read;   /* readers hold it: an agent, for its consumers */
	bool served; /* has elements of programs, which do not end with a process */
};

/* The runs that have ended. */
struct heap {
	int base;
	struct ended *runs;
	size_t n;
	uint64_t idle, read; /* bytes */
};

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* ---- which files may go ---- */

/* Without /proc all other processes would seem to be dead. */
static bool can_tell(void)
{
	char boot_id[sizeof(((struct segment_header *)0)->boot_id)];
	uint64_t start;

	return *clock_boot_id(boot_id, sizeof(boot_id)) && segment_pid_start(getpid(), &start) == 0;
}

/* False for processes of other hosts and containers: whether they live is not known here. */
static bool segment_has_ended(int dir, const char *name, const struct folder_file *file,
			      int64_t *born_ns)
{
	char host[sizeof(((struct segment_header *)0)->host)] = "";
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct segment_header h = {.version = 0};
	ssize_t got = -1;

	if (fd >= 0) {
		got = pread(fd, (void *)&h, sizeof(h), 0);
		close(fd);
	}
	if (got != (ssize_t)sizeof(h) || memcmp(h.magic, SEGMENT_MAGIC, sizeof(h.magic)) != 0 ||
	    h.version != SEGMENT_VERSION)
		return file->pid > 0 && !folder_maker_exists(file);
	*born_ns = h.born_real_ns > *born_ns ? h.born_real_ns : *born_ns;
	gethostname(host, sizeof(host) - 1);
	return strncmp(h.host, host, sizeof(host)) == 0 && !segment_process_lives(&h);
}

/* Is it a file that stays when its run is removed, or one that keeps its run? */
static bool file_stays(int dir, const char *name, struct ended *run)
{
	struct folder_file file = folder_file(name);
	bool idle;

	if (file.kind == FOLDER_OTHER)
		return true;
	idle = folder_file_is_idle(dir, name);
	switch (file.kind) {
	case FOLDER_SEGMENT:
		run->in_use |= !segment_has_ended(dir, name, &file, &run->born_ns);
		run->read |= !idle;
		break;
	case FOLDER_CURSOR:
		run->read |= !idle;
		break;
	case FOLDER_STEERING:
		break;
	case FOLDER_MIRROR:
		run->in_use = true;
		break;
	case FOLDER_ELEMENT:
		run->served = true;
		run->in_use |= !idle;
		break;
	default:
		run->in_use |= file.pid <= 0 || folder_maker_exists(&file) || !idle;
		break;
	}
	return run->in_use;
}

/* ---- a run ---- */

static DIR *run_open(const struct heap *heap, const char *name)
{
	int fd = folder_open(heap->base, name, name, NULL);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Has the whole run ended, and would removing it free memory? One of elements alone never ends. */
static bool run_look(DIR *dir, struct ended *run)
{
	const struct dirent *entry;
	struct stat st;

	run->bytes = 0;
	run->born_ns = 0;
	run->in_use = run->read = run->served = false;
	while (!run->in_use && (entry = folder_next(dir))) {
		if (file_stays(dirfd(dir), entry->d_name, run) ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		run->bytes += (uint64_t)st.st_blocks * 512;
	}
	run->in_use |= run->served && run->born_ns == 0;
	return !run->in_use && run->bytes;
}

/* Remove it, unless it lives again or a reader has come. `evspace run` locks the folder while
 * its program runs. */
static bool run_remove(const struct heap *heap, struct ended *run)
{
	DIR *dir = run_open(heap, run->name);
	const struct dirent *entry;
	bool read = run->read, went = false, may;

	if (!dir)
		return false;
	may = flock(dirfd(dir), LOCK_EX | LOCK_NB) == 0 && run_look(dir, run);
	rewinddir(dir);
	while (may && (read || !run->read) && (entry = folder_next(dir)))
		if (!file_stays(dirfd(dir), entry->d_name, run) && (read || !run->read))
			went |= unlinkat(dirfd(dir), entry->d_name, 0) == 0;
	/* fails on purpose while there are files that are not ours */
	if (went)
		(void)unlinkat(heap->base, run->name, AT_REMOVEDIR);
	closedir(dir);
	return went;
}

/* ---- all of them ---- */

static void heap_fill(struct heap *heap, DIR *runs, ino_t own)
{
	const struct dirent *entry;
	struct ended run, *room;
	DIR *dir;

	while (heap->n < RUNS_MAX && (entry = folder_next(runs))) {
		if (entry->d_ino == own || strcmp(entry->d_name, SPAN_RUN) == 0 ||
		    strlen(entry->d_name) >= sizeof(run.name))
			continue;
		dir = run_open(heap, entry->d_name);
		if (!dir)
			continue;
		snprintf(run.name, sizeof(run.name), "%s", entry->d_name);
		if (run_look(dir, &run)) {
			room = realloc(heap->runs, (heap->n + 1) * sizeof(*room));
			if (room) {
				heap->runs = room;
				heap->runs[heap->n++] = run;
				*(run.read ? &heap->read : &heap->idle) += run.bytes;
			}
		}
		closedir(dir);
	}
}

/* Runs with readers go last; the readers are told what they lost (row-gone.c). */
static int compare_runs(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;

	if (x->read != y->read)
		return x->read ? 1 : -1;
	return (x->born_ns > y->born_ns) - (x->born_ns < y->born_ns);
}

/* Room for " and N more" after the names. */
#define REST 24

/* Other programs print the list, so it must be plain text. */
static void removed_note(struct segment_room *r, const char *name)
{
	size_t used = strlen(r->removed);
	char *at = r->removed + used;

	r->n_removed++;
	if (used + strlen(name) + 2 + REST >= sizeof(r->removed))
		return;
	r->n_named++;
	snprintf(at, sizeof(r->removed) - used, "%s%s", used ? ", " : "", name);
	for (; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
}

static void removed_end(struct segment_room *r)
{
	size_t used = strlen(r->removed);

	if (r->n_removed > r->n_named)
		snprintf(r->removed + used, sizeof(r->removed) - used, " and %u more",
			 r->n_removed - r->n_named);
}

/* Remove the oldest until @bytes are freed. Returns whether any was removed. */
static bool runs_remove(struct segment_room *r, DIR *runs, ino_t own, uint64_t bytes)
{
	struct heap heap = {.base = dirfd(runs)};
	uint64_t gained = 0;

	rewinddir(runs);
	heap_fill(&heap, runs, own);
	if (heap.idle + heap.read >= bytes) {
		qsort(heap.runs, heap.n, sizeof(*heap.runs), compare_runs);
		for (size_t i = 0; i < heap.n && gained < bytes; i++) {
			if (!run_remove(&heap, &heap.runs[i]))
				continue;
			gained += heap.runs[i].bytes;
			removed_note(r, heap.runs[i].name);
		}
	}
	free(heap.runs);
	return gained > 0;
}

/* ---- reserving ---- */

/* By how many bytes what there is and @more of it exceed the quota, with errno and @e; 0: they do
 * not. */
static uint64_t quota_exceeded(const struct segment_room *r, uint64_t more, struct error *e)
{
	uint64_t quota = r->quota, used = segment_usage(r->dir, &quota) + more;

	if (used <= quota)
		return 0;
	errno = EDQUOT;
	errorf(e,
	       "segments would take %llu bytes, the quota is %llu; remove old runs (evspace purge) "
	       "or raise --quota (EVSPACE_QUOTA)",
	       (unsigned long long)used, (unsigned long long)quota);
	return used - quota;
}

/* Returns 0, or how many bytes are missing, with errno and @e. */
static uint64_t reserve(const struct segment_room *r, struct error *e)
{
	/* who makes no room need not take it first */
	uint64_t exceeded = r->replaces ? 0 : quota_exceeded(r, r->size, e), left;
	struct statvfs fs;
	int error;

	if (exceeded)
		return exceeded;
	do
		error = posix_fallocate(r->fd, 0, (off_t)r->size);
	while (error == EINTR);
	if (error) {
		left = fstatvfs(r->dir, &fs) == 0 ? (uint64_t)fs.f_bavail * fs.f_frsize : 0;
		errno = error;
		errorf(e, "cannot reserve %llu bytes in %s: %s; remove old runs (evspace purge)",
		       (unsigned long long)r->size, r->path, strerror(error));
		return r->size > left ? r->size - left : 1;
	}
	/* after reserving, so that processes which start at once cannot exceed the quota
	 * together */
	return quota_exceeded(r, 0, e);
}

static DIR *runs_open(int dir)
{
	int base = openat(dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *runs = base < 0 ? NULL : fdopendir(base);

	if (!runs && base >= 0)
		close(base);
	return runs;
}

/* One process at a time makes room: several that start at once must not remove a run each. Returns
 * 1 when it is our turn, 0 when the others have made room for us, too, -1 after a while. */
static int turn_take(const struct segment_room *r, DIR *runs, struct error *e)
{
	uint64_t now = clock_mono_ns(), end = now + TURN_WAIT_NS, look = now + TURN_LOOK_NS;

	while (flock(dirfd(runs), LOCK_EX | LOCK_NB) < 0) {
		now = clock_mono_ns();
		if (now >= look && reserve(r, e) == 0)
			return 0;
		if (now >= end)
			return -1;
		look = now >= look ? now + TURN_LOOK_NS : look;
		nap();
	}
	return 1;
}

/* Call it after turn_take(). Returns 0, or -1 with errno and @e. */
static int reserve_replacing(struct segment_room *r, DIR *runs, struct error *e)
{
	uint64_t missing, end = UINT64_MAX;
	struct stat own;
	int saved;

	if (fstat(r->dir, &own) < 0)
		return errorf(e, "cannot stat the folder %s: %s", r->path, strerror(errno));
	while ((missing = reserve(r, e))) {
		saved = errno;
		if (saved != ENOSPC && saved != EDQUOT)
			return -1;
		if (saved == ENOSPC && r->n_removed && clock_mono_ns() < end) {
			/* files that agents have mapped are freed only when they unmap them */
			end = end == UINT64_MAX ? clock_mono_ns() + LET_GO_NS : end;
			nap();
			continue;
		}
		if ((saved == ENOSPC && r->n_removed) ||
		    !runs_remove(r, runs, own.st_ino, missing)) {
			errno = saved;
			return -1;
		}
	}
	return 0;
}

int segment_room_reserve(struct segment_room *r, struct error *e)
{
	int rc = -1, saved, turn;
	DIR *runs;

	r->n_removed = r->n_named = 0;
	r->removed[0] = '\0';
	if (reserve(r, e) == 0)
		return 0;
	if (!r->replaces || (errno != ENOSPC && errno != EDQUOT))
		return -1;
	saved = errno;
	runs = can_tell() ? runs_open(r->dir) : NULL;
	if (!runs) {
		errno = saved;
		return -1;
	}
	turn = turn_take(r, runs, e);
	if (turn >= 0) {
		rc = turn > 0 ? reserve_replacing(r, runs, e) : 0;
		saved = errno;
	}
	removed_end(r);
	closedir(runs);
	errno = saved;
	return rc;
}
