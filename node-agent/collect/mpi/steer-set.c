/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads rules of steered collectives when there are others, and counts who has them. */
#include "node-agent/collect/mpi/steer-set.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "node-agent/segment/folder.h"

static struct {
	pthread_mutex_t lock;
	struct steer_set *start, *newest;
	char path[512];	       /* of the file with others */
	struct timespec since; /* files of before are of another program with the run's name */
	struct stat seen;      /* the file that @newest is from, or that was not valid */
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* FNV-1a, without the sign. */
static int64_t name_of(const char *text)
{
	uint64_t name = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		name = (name ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return (int64_t)(name >> 1);
}

/* NULL: they are not valid. */
static struct steer_set *set_new(const char *text)
{
	struct steer_set *set = calloc(1, sizeof(*set));

	if (set && steer_rules_read(&set->rules, text)) {
		set->name = name_of(text);
		set->users = 1;
		return set;
	}
	free(set);
	return NULL;
}

static struct steer_set *hold(struct steer_set *set)
{
	__atomic_fetch_add(&set->users, 1, __ATOMIC_RELAXED);
	return set;
}

void steer_set_drop(struct steer_set *set)
{
	if (!set || __atomic_sub_fetch(&set->users, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	steer_rules_fini(&set->rules);
	free(set);
}

bool steer_sets_begin(const char *text, const char *folder)
{
	int n = snprintf(known.path, sizeof(known.path), "%s/" STEERING_FILE, folder);

	if (n < 0 || (size_t)n >= sizeof(known.path))
		return false;
	clock_gettime(CLOCK_REALTIME, &known.since);
	steer_set_drop(known.start);
	steer_set_drop(known.newest);
	memset(&known.seen, 0, sizeof(known.seen));
	known.newest = NULL;
	known.start = set_new(text);
	if (known.start)
		known.newest = hold(known.start);
	return known.start != NULL;
}

struct steer_set *steer_set_start(void)
{
	return hold(known.start);
}

/* ---- the file ---- */

static bool is_later(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

static bool is_seen(const struct stat *st)
{
	return st->st_ino == known.seen.st_ino && st->st_dev == known.seen.st_dev &&
	       st->st_mtim.tv_sec == known.seen.st_mtim.tv_sec &&
	       st->st_mtim.tv_nsec == known.seen.st_mtim.tv_nsec;
}

static bool is_sound(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH)) && st->st_size <= (off_t)STEER_TEXT_MAX &&
	       is_later(st->st_mtim, known.since);
}

/* The file's text; NULL: it has none that can be taken. */
static char *text_read(int fd, const struct stat *st)
{
	size_t n = (size_t)st->st_size;
	char *text = is_sound(st) ? calloc(n + 1, 1) : NULL;

	if (!text || (read(fd, text, n) == (ssize_t)n && !memchr(text, '\0', n)))
		return text;
	free(text);
	return NULL;
}

static void file_read(void)
{
	int fd = open(known.path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct steer_set *set;
	struct stat st;
	char *text;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0) {
		text = text_read(fd, &st);
		set = text ? set_new(text) : NULL;
		free(text);
		known.seen = st;
		if (set) {
			steer_set_drop(known.newest);
			known.newest = set;
		}
	}
	close(fd);
}

struct steer_set *steer_set_newest(void)
{
	struct steer_set *newest;
	int saved = errno;
	struct stat st;

	pthread_mutex_lock(&known.lock);
	if (lstat(known.path, &st) == 0 && !is_seen(&st))
		file_read();
	newest = hold(known.newest);
	pthread_mutex_unlock(&known.lock);
	errno = saved;
	return newest;
}
