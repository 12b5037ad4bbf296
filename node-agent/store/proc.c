/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads facts about other processes from /proc. */
#include "node-agent/store/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/segment/segment-file.h"
#include "node-agent/segment/segment-layout.h"
#include "pathmap/base/memory.h"

/* Most bytes read of a file in /proc, and of a status by apart_add(). */
#define FILE_MOST   (1u << 20)
#define STATUS_MOST 4096u

/* Read at most @most bytes of /proc/PID/NAME. Returns how many were read, -1: not permitted. */
static ssize_t file_read(int pid, const char *name, char *text, size_t most)
{
	char path[64];
	size_t n = 0;
	ssize_t more;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while (n < most && (more = read(fd, text + n, most - n)) > 0)
		n += (size_t)more;
	close(fd);
	return (ssize_t)n;
}

char *proc_read(int pid, const char *name)
{
	/* zeroed pages take no memory until they are written */
	char *text = memory_new(FILE_MOST + 2, 1);

	if (file_read(pid, name, text, FILE_MOST) >= 0)
		return text;
	free(text);
	return NULL;
}

int proc_number(const char *status, const char *key, int which)
{
	const char *line = strstr(status, key), *end;
	int n = 0, number = 0, at;

	if (!line)
		return 0;
	line += strlen(key);
	end = line + strcspn(line, "\n");
	while (line < end && sscanf(line, "%d%n", &number, &at) == 1) {
		line += at;
		if (++n == which)
			break;
	}
	return number;
}

/* The pid namespace of a process, 0: reading it is not permitted. */
static uint64_t space_of(int pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid);
	return stat(path, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* Skips processes of the namespace @here, which are nearly all, before reading their status. */
static void apart_add(struct proc_apart *a, int pid, uint64_t here)
{
	struct proc_inner one = {.pid = pid, .space = space_of(pid)};
	char status[STATUS_MOST + 1];
	ssize_t n;

	if (one.space == here || (n = file_read(pid, "status", status, STATUS_MOST)) < 0)
		return;
	status[n] = '\0';
	one.inner = proc_number(status, "\nNSpid:", 0);
	if (one.inner <= 0)
		return;
	a->list = memory_room(a->list, a->n, sizeof(*a->list));
	a->list[a->n++] = one;
}

static void apart_scan(struct proc_apart *a)
{
	DIR *dir = opendir("/proc");
	uint64_t here = segment_pid_space();
	const struct dirent *entry;
	int pid;

	a->began_ns = clock_mono_ns();
	a->n = 0;
	while (dir && (entry = readdir(dir))) {
		pid = atoi(entry->d_name);
		if (pid > 0)
			apart_add(a, pid, here);
	}
	if (dir)
		closedir(dir);
}

int proc_apart_find(struct proc_apart *a, const struct segment_header *said)
{
	uint64_t born = said->born.mono_ns, start;

	if (a->began_ns == 0 || (born >= a->began_ns && born <= clock_mono_ns()))
		apart_scan(a);
	for (size_t i = 0; i < a->n; i++) {
		const struct proc_inner *one = &a->list[i];

		if ((uint32_t)one->inner == said->pid &&
		    (one->space == 0 || one->space == said->pid_space) &&
		    segment_pid_start(one->pid, &start) == 0 && start == said->pid_start)
			return one->pid;
	}
	return 0;
}

void proc_apart_fini(struct proc_apart *a)
{
	free(a->list);
	*a = (struct proc_apart){0};
}
