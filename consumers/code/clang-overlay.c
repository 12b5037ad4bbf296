/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes what libclang calls an overlay of the file system (YAML), into memory. */
#include "consumers/code/clang-overlay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "pathmap/base/memory.h"

static void name_write(FILE *out, const char *name)
{
	for (fputc('"', out); *name; name++)
		fprintf(out, *name == '"' || *name == '\\' ? "\\%c" : "%c", *name);
	fputc('"', out);
}

/* A folder by the name that it is called by, if that is whole, else by its real one. */
static void folder_write(FILE *out, const char *name)
{
	char *real = realpath(name, NULL);

	if (!real)
		return;
	fputs(",\n{\"type\":\"directory-remap\",\"name\":", out);
	name_write(out, name[0] == '/' ? name : real);
	fputs(",\"external-contents\":", out);
	name_write(out, real);
	fputc('}', out);
	free(real);
}

int clang_overlay_add(struct clang_flags *flags, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? memory_copy_bytes(path, (size_t)(slash - path)) : memory_copy(".");
	int fd = memfd_create("overlay", 0);
	FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
	char *header;

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
		if ((header = clang_flags_folder(flags, i))) {
			folder_write(out, header);
			free(header);
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
