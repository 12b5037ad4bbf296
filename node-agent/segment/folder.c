/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens folders of the event space safely, and classifies their files by name. */
#include "node-agent/segment/folder.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/segment/segment.h"
#include "tree/data/process.h"

#define UNFINISHED_SUFFIX ".tmp"
#define REFUSED_PREFIX	  "refused-"

/* Enough to outlast folder_file_is_idle(). An agent's loop must not wait for real locks. */
#define TRIES 8

static int ends_in(const char *name, const char *suffix)
{
	size_t n = strlen(name), m = strlen(suffix);

	return n > m && !strcmp(name + n - m, suffix);
}

/* Reads a number from 0 to @most and a dot at *@text, and moves *@text past them; else -1. */
static long number_dot(const char **text, int base, long most)
{
	char *end;
	long value;

	if (base == 16 ? !isxdigit((unsigned char)**text) : !isdigit((unsigned char)**text))
		return -1;
	errno = 0;
	value = strtol(*text, &end, base);
	if (errno || value > most || *end != '.')
		return -1;
	*text = end + 1;
	return value;
}

/* Reads the process and a dot at *@text, and moves *@text past them; else -1. */
static long process_dot(const char **text)
{
	static const int32_t monitors[] = {PROCESS_AGENT, PROCESS_CONSUMER};
	char who[PROCESS_NAME];
	long rank;

	for (size_t i = 0; i < sizeof(monitors) / sizeof(monitors[0]); i++) {
		size_t n = strlen(process_name(who, monitors[i]));

		if (strncmp(*text, who, n) == 0 && (*text)[n] == '.') {
			*text += n + 1;
			return monitors[i];
		}
	}
	if (!strncmp(*text, "rank", 4)) {
		*text += 4;
		return number_dot(text, 10, INT32_MAX);
	}
	if (**text != 't')
		return -1;
	++*text;
	rank = number_dot(text, 16, INT32_MAX);
	return process_is_task((int32_t)rank) ? rank : -1;
}

struct folder_file folder_file(const char *name)
{
	struct folder_file file = {.rank = -1, .reason = ""};
	const char *text = name + (name[0] == '.');
	int saved = errno;
	long rank = process_dot(&text);
	long pid = rank == -1 ? -1 : number_dot(&text, 10, INT_MAX);

	errno = saved;
	if (pid > 0) {
		file.rank = (int32_t)rank;
		file.pid = (pid_t)pid;
	}
	if (name[0] == '.' || ends_in(name, UNFINISHED_SUFFIX)) {
		file.kind = FOLDER_UNFINISHED;
	} else if (strcmp(name, STEERING_FILE) == 0) {
		file.kind = FOLDER_STEERING;
	} else if (ends_in(name, CURSOR_SUFFIX)) {
		file.kind = FOLDER_CURSOR;
	} else if (ends_in(name, MIRROR_SUFFIX)) {
		file.kind = FOLDER_MIRROR;
	} else if (ends_in(name, ELEMENT_SUFFIX)) {
		file.kind = FOLDER_ELEMENT;
	} else if (ends_in(name, SEGMENT_SUFFIX)) {
		file.kind = FOLDER_SEGMENT;
	} else if (pid > 0 && !strncmp(text, REFUSED_PREFIX, strlen(REFUSED_PREFIX))) {
		file.kind = FOLDER_REFUSED;
		file.reason = text + strlen(REFUSED_PREFIX);
	}
	return file;
}

int folder_maker_exists(const struct folder_file *file)
{
	return file->pid > 0 && (!kill(file->pid, 0) || errno == EPERM);
}

bool folder_file_is_idle(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	bool idle = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;

	if (fd >= 0)
		close(fd);
	return idle;
}

int folder_lock(int fd, int kind)
{
	int result = flock(fd, kind | LOCK_NB);

	for (int i = 0; i < TRIES && result < 0 && errno == EWOULDBLOCK; i++) {
		sched_yield();
		result = flock(fd, kind | LOCK_NB);
	}
	return result;
}

static int check_ours(int fd, const char *path, struct error *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return errorf(e, "%s: %s", path, strerror(errno));
	if (st.st_uid != geteuid()) {
		errno = EPERM;
		return errorf(
			e,
			"%s belongs to another user (uid %u, you are %u): not looked into; set "
			"EVSPACE_DIR to a folder of your own",
			path, (unsigned)st.st_uid, (unsigned)geteuid());
	}
	if (st.st_mode & (S_IWGRP | S_IWOTH)) {
		errno = EPERM;
		return errorf(e, "%s may be written to by others (mode %03o): chmod go-w %s", path,
			      (unsigned)st.st_mode & 0777, path);
	}
	return 0;
}

int folder_open(int at, const char *name, const char *path, struct error *e)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int saved;

	if (fd < 0) {
		/* A link gives ENOTDIR or ELOOP, whose text does not help the user who set the
		 * link up. */
		if (errno == ENOTDIR || errno == ELOOP)
			return errorf(e, "%s is not a folder, or a link to one: name a real folder",
				      path);
		return errorf(e, "%s: %s", path, strerror(errno));
	}
	if (!check_ours(fd, path, e))
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

struct dirent *folder_next(DIR *dir)
{
	struct dirent *entry;

	do {
		entry = readdir(dir);
	} while (entry && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")));
	return entry;
}
