/* SPDX-License-Identifier: BSD-3-Clause */
/* What names of destinations stand for, below the folder that was said. */
#include "consumers/mir/destination-private.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "consumers/archive/archive.h"
#include "pathmap/base/memory.h"

/* Has it names alone? Nothing else stands for the same file then. */
static bool path_is_plain(const char *path)
{
	for (;;) {
		size_t n = strcspn(path, "/");

		if (strspn(path, ".") >= n)
			return false;
		if (!path[n])
			return true;
		path += n + 1;
	}
}

const char *destination_path(const char *folder, const char *path)
{
	size_t n = strlen(folder);

	while (n > 1 && folder[n - 1] == '/')
		n--;
	if (strncmp(path, folder, n) != 0 || path[n] != '/' || strchr(path, '%') ||
	    !path_is_plain(path + n + 1))
		return NULL;
	return path + n + 1;
}

const char *destination_below(const char *folder, const char *uri)
{
	if (strncmp(uri, "file:///", strlen("file:///")) != 0)
		return NULL;
	return destination_path(folder, uri + strlen("file://"));
}

int destination_open(const char *folder, const char *path, uint64_t flags, uint64_t mode)
{
	struct open_how how = {.flags = flags | O_CLOEXEC,
			       .mode = mode,
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					  RESOLVE_NO_MAGICLINKS};
	int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), fd, saved;

	if (dir < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	saved = errno;
	close(dir);
	errno = saved;
	return fd;
}

int destination_folder(const char *folder, const char *path)
{
	return destination_open(folder, path, O_PATH | O_DIRECTORY, 0);
}

bool destination_is_archive(const char *uri)
{
	return strncmp(uri, "archive:", strlen("archive:")) == 0;
}

/* Open the folder that it is in, where it has that name. Returns it, or -1 with errno. */
static int above_open(const struct destination *d, const char **name)
{
	const char *slash = strrchr(d->path, '/');
	char *above = slash ? memory_copy_bytes(d->path, (size_t)(slash - d->path)) : NULL;
	int dir = destination_folder(d->all->folder, above ? above : ".");

	free(above);
	*name = slash ? slash + 1 : d->path;
	return dir;
}

int destination_archive(const struct destination *d)
{
	const char *name;
	int dir = above_open(d, &name);

	if (dir < 0)
		return -1;
	(void)mkdirat(dir, name, 0700);
	close(dir);
	return destination_folder(d->all->folder, d->path);
}

/* Is @path below the folder @folder? */
static bool is_within(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 && path[n] == '/';
}

bool destination_has_others(const struct destination *d)
{
	const struct destination *other;

	LIST_FOREACH (other, &d->all->list, link)
		if (other != d && destination_below(d->all->folder, other->uri) &&
		    is_within(other->path, d->path))
			return true;
	return false;
}

bool destination_is_archived(const struct destination *d)
{
	const struct destination *other;
	unsigned *numbers = NULL;
	const char *name;
	int dir = above_open(d, &name);
	bool is = dir >= 0 && archive_files(dir, &numbers) > 0;

	LIST_FOREACH (other, &d->all->list, link)
		is |= destination_is_archive(other->uri) && is_within(d->path, other->path);
	free(numbers);
	if (dir >= 0)
		close(dir);
	return is;
}
