/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the kernel for a process's identity and for the memory of a user's segments. */
#include "node-agent/segment/segment-file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "node-agent/segment/folder.h"
#include "node-agent/segment/segment-layout.h"
#include "pathmap/base/interval.h"

/* Reads a small file whole, as a string. Returns its length or -1 with errno. */
static ssize_t text_read(const char *path, char *buf, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), saved;
	ssize_t got;

	if (fd < 0)
		return -1;
	got = read(fd, buf, n - 1);
	saved = errno;
	close(fd);
	errno = saved;
	if (got >= 0)
		buf[got] = '\0';
	return got;
}

int segment_pid_start(int pid, uint64_t *start)
{
	char path[32], text[1024], state;
	unsigned long long ticks;
	long threads;
	const char *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (text_read(path, text, sizeof(text)) < 0)
		return -1;
	/* the name may hold any character: it ends at the last bracket (proc(5)) */
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1,
			   " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld"
			   " %*d %llu",
			   &state, &threads, &ticks) != 3) {
		errno = EIO;
		return -1;
	}
	/* also a zombie if only the first thread has ended and others still run */
	if (state == 'X' || (state == 'Z' && threads <= 1)) {
		errno = ESRCH;
		return -1;
	}
	*start = ticks;
	return 0;
}

bool segment_is_reserved(const struct stat *st)
{
	return (uint64_t)st->st_blocks * 512 >= (uint64_t)st->st_size;
}

uint64_t segment_pid_space(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

bool segment_is_apart(const struct segment_header *said)
{
	uint64_t here = segment_pid_space();

	return said->pid_space != 0 && here != 0 && said->pid_space != here;
}

bool segment_process_lives(const struct segment_header *said)
{
	char boot_id[sizeof(said->boot_id)];
	uint64_t start;

	if (strncmp(clock_boot_id(boot_id, sizeof(boot_id)), said->boot_id, sizeof(boot_id)) != 0)
		return false;
	if (segment_is_apart(said))
		return !atomic_load(&said->finished);
	return segment_pid_start((int)said->pid, &start) == 0 && start == said->pid_start;
}

/* Segments, mirrors, elements and unfinished files count; cursors have a limit of their own. */
static bool takes_room(const char *name)
{
	enum folder_kind kind = folder_file(name).kind;

	return kind == FOLDER_SEGMENT || kind == FOLDER_MIRROR || kind == FOLDER_ELEMENT ||
	       kind == FOLDER_UNFINISHED;
}

static uint64_t folder_usage(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	uint64_t sum = 0;
	struct stat st;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while ((entry = readdir(dir)))
		if (takes_room(entry->d_name) &&
		    fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			sum += (uint64_t)st.st_blocks * 512;
	closedir(dir);
	return sum;
}

uint64_t segment_quota(const struct statvfs *fs)
{
	return (uint64_t)fs->f_blocks * fs->f_frsize / 4;
}

uint64_t segment_usage(int dir, uint64_t *quota)
{
	int base = openat(dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *runs = base < 0 ? NULL : fdopendir(base);
	const struct dirent *entry;
	struct statvfs fs;
	uint64_t sum = 0;

	if (*quota == 0)
		*quota = fstatvfs(dir, &fs) == 0 ? segment_quota(&fs) : UINT64_MAX;
	if (!runs) {
		if (base >= 0)
			close(base);
		return folder_usage(dir, ".");
	}
	while ((entry = readdir(runs)))
		if (entry->d_name[0] != '.')
			sum += folder_usage(base, entry->d_name);
	closedir(runs);
	return sum;
}

static void cpus_write(char *list, size_t n, const cpu_set_t *set)
{
	char cpus[INTERVAL_TEXT];
	size_t used = 0;

	for (unsigned from = 0, to; from < CPU_SETSIZE; from = to + 1) {
		for (to = from; to < CPU_SETSIZE && CPU_ISSET(to, set);)
			to++;
		if (to == from)
			continue;
		used += (size_t)snprintf(list + used, n - used, "%s%s", used ? "," : "",
					 interval_text(cpus, from, to));
		if (used >= n) {
			list[0] = '\0';
			return;
		}
	}
}

void segment_cpus(uint32_t *cpu, char *list, size_t n)
{
	int now = sched_getcpu();
	cpu_set_t set;

	*cpu = now < 0 ? 0 : (uint32_t)now + 1;
	list[0] = '\0';
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		cpus_write(list, n, &set);
}
