/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds stage objects in a folder, checks who may have changed them, and loads what was checked. */
#include "tree/stage/stage-object.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "tree/stage/foreign-stage.h"

#define SUFFIX ".so"

/* Of an object, at most. */
#define BYTES_MOST ((size_t)64 << 20)

/* A file of the folder. */
struct stage_object {
	char file[NAME_MAX + 1];
	/* A copy. Stays open once it was loaded, as it may stay loaded although it cannot be taken:
	 * dlopen() takes two files for one if their names are the same. */
	int fd;
	struct foreign_stage_kind kind; /* without a name: it was not loaded */
	struct error why;
};

static struct {
	char dir[PATH_MAX];
	struct stage_object *list[STAGE_OBJECTS_MAX];
	size_t n;
} objects;

/* ---- who may change it ---- */

/* What others may do with the file or folder of this state, or NULL. In a folder above, with the
 * sticky bit, they cannot replace what is ours or root's. */
static const char *fault_of(const struct stat *st, bool above)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return "belongs to another user than root and this agent's; chown it";
	if ((st->st_mode & (S_IWGRP | S_IWOTH)) && !(above && st->st_mode & S_ISVTX))
		return "can be written by others; chmod go-w";
	return NULL;
}

/* Open the folder @name in the one at @at, which is closed, and check it. Returns it, or -1. */
static int folder_enter(int at, const char *name, bool above, const char **fault)
{
	int fd = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	*fault = NULL;
	if (fd < 0 || fstat(fd, &st) < 0)
		*fault = errno == ENOTDIR || errno == ELOOP
				 ? "is no folder, or a symbolic link; name the folder itself"
				 : strerror(errno);
	else
		*fault = fault_of(&st, above);
	if (at >= 0)
		close(at);
	if (*fault && fd >= 0)
		close(fd);
	errno = EACCES;
	return *fault ? -1 : fd;
}

/* Open the folder objects.dir, checking each one on the way from the root. Returns it, or -1 with
 * errno and @e. */
static int folder_open(struct error *e)
{
	char *path = objects.dir, *end = path;
	const char *fault;
	int fd = folder_enter(AT_FDCWD, "/", true, &fault);

	while (fd >= 0 && *end) {
		char *name = end + strspn(end, "/"), last;

		end = name + strcspn(name, "/");
		last = *end;
		*end = '\0';
		if (*name)
			fd = folder_enter(fd, name, last != '\0', &fault);
		if (fd < 0)
			return errorf(e, "%s: %s", path, fault);
		*end = last;
	}
	if (fd < 0)
		return errorf(e, "/: %s", fault);
	return fd;
}

/* ---- loading ---- */

bool stage_object_is(const char *kind)
{
	size_t n = strlen(kind);

	return n > strlen(SUFFIX) && strcmp(kind + n - strlen(SUFFIX), SUFFIX) == 0;
}

/* Copy the file @from into memory that nobody can change: who writes over the file changes neither
 * what was checked nor what runs. Returns a descriptor, or -1 with errno. */
static int copy_sealed(int from)
{
	int to = memfd_create("stage", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	size_t left = BYTES_MOST + 1;
	ssize_t n = 1;

	while (to >= 0 && left > 0 && n > 0) {
		n = sendfile(to, from, NULL, left);
		left -= n > 0 ? (size_t)n : 0;
	}
	if (left == 0)
		errno = EFBIG;
	if (to >= 0 && n == 0 && left > 0 &&
	    fcntl(to, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		return to;
	if (to >= 0)
		close(to);
	return -1;
}

/* Open the file, check it and copy it. What is told is followed by "; then start it again". */
static int object_open(int folder, struct stage_object *o)
{
	int fd = openat(folder, o->file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const char *fault;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return errno == ELOOP
			       ? errorf(&o->why, "is a symbolic link; put the file itself there")
			       : errorf(&o->why, "%s; let this agent's user read it",
					strerror(errno));
	fault = S_ISREG(st.st_mode) ? fault_of(&st, false)
				    : "is no file; move it out of the folder";
	o->fd = fault ? -1 : copy_sealed(fd);
	if (fault)
		errorf(&o->why, "%s", fault);
	else if (o->fd < 0)
		errorf(&o->why, "cannot be copied into memory: %s; let there be room",
		       strerror(errno));
	close(fd);
	return o->fd < 0 ? -1 : 0;
}

static int object_load(int folder, struct stage_object *o)
{
	const struct evspace_stage_table *table;
	char path[64];
	const char *why;
	void *handle;

	if (object_open(folder, o) < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", o->fd);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		why = dlerror();
		if (strncmp(why, path, strlen(path)) == 0)
			why += strlen(path) + strspn(why + strlen(path), ": ");
		close(o->fd);
		return errorf(
			&o->why,
			"cannot be loaded: %s; build it for this host, with all that it needs",
			why);
	}
	table = dlsym(handle, "evspace_stage");
	if (!table)
		errorf(&o->why, "has no table `evspace_stage`; define one as evspace-stage.h says");
	else if (foreign_stage_init(&o->kind, o->file, table, &o->why) == 0)
		return 0; // cppcheck-suppress resourceLeak ; it stays
	dlclose(handle);
	return -1;
}

static int is_object(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && stage_object_is(entry->d_name);
}

/* Remember the file, loaded or why not. */
static void object_take(int folder, const char *file, FILE *told)
{
	struct stage_object *o = memory_new(1, sizeof(*o));

	snprintf(o->file, sizeof(o->file), "%s", file);
	if (object_load(folder, o) < 0)
		fprintf(told, "%s/%s: %s; then start this agent again\n", objects.dir, o->file,
			o->why.text);
	o->kind.told = told;
	objects.list[objects.n++] = o;
}

int stage_objects_load(const char *dir, FILE *told, struct error *e)
{
	struct dirent **files = NULL;
	char here[PATH_MAX] = "";
	int folder, n;

	if (*dir != '/' && !getcwd(here, sizeof(here)))
		return errorf(e, "%s: %s", dir, strerror(errno));
	errno = ENAMETOOLONG;
	if (snprintf(objects.dir, sizeof(objects.dir), "%s%s%s", here, *here ? "/" : "", dir) >=
	    (int)sizeof(objects.dir))
		return errorf(e, "%.60s…: %s", dir, strerror(errno));
	for (size_t end = strlen(objects.dir); end > 1 && objects.dir[end - 1] == '/'; end--)
		objects.dir[end - 1] = '\0';
	folder = folder_open(e);
	if (folder < 0)
		return error_prefix(e, "the folder of stages");
	n = scandirat(folder, ".", &files, is_object, alphasort);
	if (n < 0)
		errorf(e, "the folder of stages: %s: %s", dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (objects.n < STAGE_OBJECTS_MAX)
			object_take(folder, files[i]->d_name, told);
		else
			fprintf(told,
				"%s/%s: left out, as there are more than %u objects; move those "
				"that no map names out of the folder\n",
				objects.dir, files[i]->d_name, STAGE_OBJECTS_MAX);
		free(files[i]);
	}
	free(files);
	close(folder);
	return n < 0 ? -1 : 0;
}

static struct stage_object *object_find(const char *file)
{
	for (size_t i = 0; i < objects.n; i++)
		if (strcmp(objects.list[i]->file, file) == 0)
			return objects.list[i];
	return NULL;
}

const struct stage_ops *stage_object_find(const char *file)
{
	const struct stage_object *o = object_find(file);

	return o && o->kind.table ? &o->kind.ops : NULL;
}

void stage_object_missing(const char *file, struct error *e)
{
	const struct stage_object *o = object_find(file);

	if (o)
		errorf(e, "this agent cannot take stage \"%.60s\": %s; then start it again", file,
		       o->why.text);
	else if (*objects.dir)
		errorf(e,
		       "this agent has no stage \"%.60s\"; put the file into its folder %s, and "
		       "start it again",
		       file, objects.dir);
	else
		errorf(e,
		       "this agent has no stage \"%.60s\", as it was started without --stages; put "
		       "the file into a folder there, and start it again with --stages DIR",
		       file);
}
