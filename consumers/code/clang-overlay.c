/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes what libclang calls an overlay of the file system (YAML), into memory. */
#include "consumers/code/clang-overlay.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "pathmap/base/memory.h"

static void name_write(FILE *out, const char *name)
{
	for (fputc('"', out); *name; name++)
		fprintf(out, *name == '"' || *name == '\\' ? "\\%c" : "%c", *name);
	fputc('"', out);
}

static void entry_write(FILE *out, const char *type, const char *name, const char *real)
{
	fprintf(out, ",\n{\"type\":\"%s\",\"name\":", type);
	name_write(out, name);
	fputs(",\"external-contents\":", out);
	name_write(out, real);
	fputc('}', out);
}

/* A folder by the name that it is called by, if that is whole, else by its real one. */
static void folder_write(FILE *out, const char *name)
{
	char *real = realpath(name, NULL);

	if (real)
		entry_write(out, "directory-remap", name[0] == '/' ? name : real, real);
	free(real);
}

/* Can it be in an overlay? */
static bool is_plain(const char *name)
{
	while (*name >= ' ' && *name <= '~')
		name++;
	return !*name;
}

/* What is @name in the folder, if it is a file, and no link unless it @may be one. */
static void beside_write(FILE *out, const char *folder, const char *name, bool may)
{
	char *path = memory_format("%s/%s", folder, name), *real = NULL;
	struct stat is;

	if (is_plain(name) && (may ? stat(path, &is) : lstat(path, &is)) == 0 &&
	    S_ISREG(is.st_mode))
		real = realpath(path, NULL);
	if (real)
		entry_write(out, "file", path, real);
	free(real);
	free(path);
}

/* A file that is included, and those beside it, by the names that folders have, too. */
static void included_write(FILE *out, const char *name)
{
	const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
	char *folder = name[0] == '/' ? memory_copy_bytes(name, (size_t)(slash - name)) : NULL;
	char *around = slash ? memory_copy_bytes(name, (size_t)(last - name)) : memory_copy(".");
	DIR *files = opendir(around);
	const struct dirent *f;

	if (!folder)
		folder = realpath(around, NULL);
	while (files && folder && (f = readdir(files)))
		beside_write(out, folder, f->d_name, strcmp(f->d_name, last) == 0);
	if (files)
		closedir(files);
	free(around);
	free(folder);
}

int clang_overlay_add(struct clang_flags *flags, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? memory_copy_bytes(path, (size_t)(slash - path)) : memory_copy(".");
	int fd = memfd_create("overlay", 0);
	FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
	bool file = false;
	char *place;

	if (!out) {
		free(folder);
		return -1;
	}
	fputs("{\"version\":0,\"fallthrough\":false,\"case-sensitive\":true,\"roots\":[\n"
	      "{\"type\":\"directory-remap\",\"name\":\"/usr\",\"external-contents\":\"/usr\"}",
	      out);
	folder_write(out, folder);
	free(folder);
	for (size_t i = 0; i < flags->n; i++)
		if ((place = clang_flags_place(flags, i, &file))) {
			(file ? included_write : folder_write)(out, place);
			free(place);
		}
	fputs("]}\n", out);
	/* it stays open for libclang, which reads it by its number */
	if (fflush(out) != 0)
		return -1;
	clang_flags_add(flags, "-ivfsoverlay");
	folder = memory_format("/proc/self/fd/%d", fd);
	clang_flags_add(flags, folder);
	free(folder);
	return 0;
}
