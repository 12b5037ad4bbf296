/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds processes in /proc that should have a segment and have none. */
#include "node-agent/control/uncollected.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pathmap/base/folder-base.h"
#include "node-agent/segment/folder.h"
#include "node-agent/store/proc.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/utf8.h"

/* Bytes to reserve as a test; segments are larger. */
#define TRY_BYTES (64 << 10)

/* How many ancestors of a process to check. */
#define ANCESTORS 32

/* One process, from /proc. */
struct uncollected_process {
	int pid, inner_pid, parent; /* inner: in its own PID namespace */
	unsigned uid;		    /* effective */
	char name[32];
	char *environ; /* its variables, each ended by a zero, and an empty one at the end */
};

static int parent_of(int pid)
{
	char *status = proc_read(pid, "status");
	int parent = status ? proc_number(status, "\nPPid:", 1) : 0;

	free(status);
	return parent;
}

/* The value of a variable in a process's environment, or NULL. */
static const char *process_variable(const struct uncollected_process *p, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = p->environ; *at; at += strlen(at) + 1) {
		if (!strncmp(at, name, n) && at[n] == '=')
			return at + n + 1;
	}
	return NULL;
}

/* Does the process use this store's base folder? */
static bool means_base(const struct uncollected_process *p, const struct store *store)
{
	const struct folder_wish wish = {process_variable(p, "EVSPACE_DIR"),
					 process_variable(p, "XDG_RUNTIME_DIR")};
	char base[sizeof(store->base)];

	return folder_base_of(&wish, base, sizeof(base), NULL) >= 0 && !strcmp(base, store->base);
}

static bool has_collector(int pid)
{
	char *maps = proc_read(pid, "maps");
	bool has = maps && strstr(maps, "/libevspace-") &&
		   (strstr(maps, "/libmpi") || strstr(maps, "/libpvm"));

	free(maps);
	return has;
}

/* Returns whether the process could be collected; then the caller must free p->environ. */
static bool process_init(struct uncollected_process *p, int pid, const struct store *store)
{
	const char *preload;
	char *status;

	*p = (struct uncollected_process){.pid = pid, .environ = proc_read(pid, "environ")};
	if (!p->environ)
		return false;
	preload = process_variable(p, "LD_PRELOAD");
	status = preload && strstr(preload, "libevspace-") && means_base(p, store) &&
				 has_collector(pid)
			 ? proc_read(pid, "status")
			 : NULL;
	if (!status) {
		free(p->environ);
		return false;
	}
	p->parent = proc_number(status, "\nPPid:", 1);
	p->uid = (unsigned)proc_number(status, "\nUid:", 2);
	p->inner_pid = proc_number(status, "\nNSpid:", 0);
	sscanf(status, "Name:\t%31[^\n]", p->name);
	utf8_clean(p->name);
	free(status);
	return true;
}

static const struct store_segment *segment_of(const struct store *store, int pid)
{
	const struct store_segment *s;

	TAILQ_FOREACH (s, &store->segments, link) {
		if (s->pid == pid && s->alive)
			return s;
	}
	return NULL;
}

static bool is_known(const struct store *store, const struct uncollected_process *p)
{
	const struct store_refusal *r;

	if (segment_of(store, p->pid) || (p->inner_pid && segment_of(store, p->inner_pid)))
		return true;
	TAILQ_FOREACH (r, &store->refusals, link) {
		if (r->pid && (r->pid == p->pid || r->pid == p->inner_pid))
			return true;
	}
	return false;
}

/* Does the process see the store's folder at the same path? If not, *@root is its root folder. */
static bool sees_base(const struct uncollected_process *p, const struct store *store, char *root,
		      size_t n)
{
	char *theirs = memory_format("/proc/%d/root%s", p->pid, store->base);
	char path[64];
	struct stat here, there;
	bool same = !stat(store->base, &here) && !stat(theirs, &there) &&
		    here.st_dev == there.st_dev && here.st_ino == there.st_ino;
	ssize_t length;

	free(theirs);
	snprintf(path, sizeof(path), "/proc/%d/root", p->pid);
	length = readlink(path, root, n - 1);
	root[length > 0 ? length : 0] = '\0';
	utf8_clean(root);
	return same;
}

/* The pid of a collected ancestor, 0: none. */
static int collected_ancestor(const struct uncollected_process *p, const struct store *store)
{
	int pid = p->parent;

	for (int i = 0; i < ANCESTORS && pid > 1; i++, pid = parent_of(pid)) {
		if (segment_of(store, pid))
			return pid;
	}
	return 0;
}

char *uncollected_folder(const char *base, const char *run)
{
	char *path = memory_format("%s/%s", base, run), *why = NULL;
	int fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), error = fd < 0 ? errno : 0;
	struct error e = {""};
	int dir;

	if (fd >= 0)
		error = posix_fallocate(fd, 0, TRY_BYTES);
	if (fd >= 0)
		close(fd);
	dir = error && error != ENOSPC ? -1 : folder_open(AT_FDCWD, path, path, &e);
	if (dir >= 0)
		close(dir);
	if (error == ENOSPC)
		why = memory_format("no room is left in %s: free some (evspace purge), or set "
				    "EVSPACE_DIR to a larger tmpfs",
				    path);
	else if (error == ENOENT)
		why = memory_format("there is no folder %s, and it could not be made", path);
	else if (error)
		why = memory_format("no file can be made in %s: %s", path, strerror(error));
	else if (dir < 0)
		why = memory_copy(e.text);
	free(path);
	return why;
}

/* The folder to test for a process: MPI_Init makes a run's folder if it is missing. */
static char *run_folder(const char *base, const char *run)
{
	char *path = memory_format("%s/%s", base, run);
	bool missing = access(path, F_OK) < 0 && errno == ENOENT;

	free(path);
	return uncollected_folder(base, missing ? "." : run);
}

static char *reason(const struct uncollected_process *p, const struct store *store)
{
	const char *run = process_variable(p, "EVSPACE_RUN");
	int ancestor = collected_ancestor(p, store);
	char root[256], *why;

	if (ancestor)
		return memory_format("it was forked by pid %d, which is; what a rank starts is not",
				     ancestor);
	if (p->uid != geteuid())
		return memory_format("it runs as user %u, and %s is of user %u alone: start it as "
				     "that user, or look with an agent of user %u",
				     p->uid, store->base, (unsigned)geteuid(), p->uid);
	if (!sees_base(p, store, root, sizeof(root)))
		return memory_format("in its root folder (%.100s) there is no %s, or another one: "
				     "make that folder visible there",
				     root, store->base);
	why = run && *run ? run_folder(store->base, run) : NULL;
	if (why)
		return why;
	return memory_copy("it has not come through MPI_Init, or its calls pass us by: those that "
			   "are found by dlsym(3) or bound with RTLD_DEEPBIND are not seen");
}

static void uncollected_add(struct uncollected *absent, const struct uncollected_process *p,
			    const struct store *store)
{
	const char *run = process_variable(p, "EVSPACE_RUN");
	char *why = reason(p, store);
	char *name = memory_copy_bytes(run ? run : "", run ? strnlen(run, 63) : 0);

	utf8_clean(name);
	absent->texts[absent->n++] =
		memory_format("%s%s%spid %d (%s) is not collected: %s", *name ? "run " : "", name,
			      *name ? ": " : "", p->pid, p->name, why);
	free(name);
	free(why);
}

void uncollected_init(struct uncollected *absent, const struct store *store)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	struct uncollected_process p;

	absent->n = 0;
	while (dir && absent->n < UNCOLLECTED_MOST && (entry = readdir(dir))) {
		int pid = atoi(entry->d_name);

		if (pid <= 0 || !process_init(&p, pid, store))
			continue;
		if (!is_known(store, &p))
			uncollected_add(absent, &p, store);
		free(p.environ);
	}
	if (dir)
		closedir(dir);
}

void uncollected_fini(struct uncollected *absent)
{
	for (size_t i = 0; i < absent->n; i++)
		free(absent->texts[i]);
	absent->n = 0;
}
