/* SPDX-License-Identifier: BSD-3-Clause */
/* SIR of what resources name: executables and libraries, or sources. */
#include "consumers/mir/sir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "consumers/code/code-read.h"
#include "consumers/mir/sir-write.h"
#include "pathmap/base/memory.h"

char *sir_path(const char *uri)
{
	char *path, *to, *clean;

	if (strncmp(uri, "file:", strlen("file:")) != 0)
		return NULL;
	uri += strlen("file:");
	if (strncmp(uri, "///", 3) == 0)
		uri += 2;
	if (uri[0] != '/' || uri[1] == '/')
		return NULL;
	path = to = memory_copy(uri);
	for (; *uri; uri++) {
		unsigned code;
		int n = 0;

		if (*uri == '%' && sscanf(uri, "%%%2x%n", &code, &n) == 1 && n == 3 && code > 0) {
			*to++ = (char)code;
			uri += 2;
		} else {
			*to++ = *uri;
		}
	}
	*to = '\0';
	clean = code_path(path);
	free(path);
	return clean;
}

bool sir_is_below(const char *path, const char *folder)
{
	char *real = realpath(path, NULL);
	char *base = folder && *folder ? realpath(folder, NULL) : NULL;
	size_t n = base ? strlen(base) : 0;
	bool below = !folder ||
		     (real && base && strncmp(real, base, n) == 0 && (n == 1 || real[n] == '/'));

	free(real);
	free(base);
	return below;
}

static void executable_answer(const char *path, const struct mir_place *place,
			      struct mir_request *request, FILE *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat file;

	if (fd < 0 || fstat(fd, &file) < 0)
		request_complain(request, place, "%.200s: %s", path, strerror(errno));
	else if (!S_ISREG(file.st_mode) || sir_dwarf_write(out, fd) == 0)
		request_complain(
			request, place,
			"%.200s has no functions in DWARF; name an executable or library that "
			"was compiled with -g, or a source by its usual name (.c, .cpp, .f90 ...)",
			path);
	if (fd >= 0)
		close(fd);
}

static void source_answer(const char *path, const char *flags, const struct mir_place *place,
			  struct mir_request *request, FILE *out)
{
	struct code_text code = {.n = 0};
	struct error e = {""};

	if (code_read(&code, path, flags, &e) < 0)
		request_complain(request, place, "%s", e.text);
	else
		sir_code_write(out, &code);
	code_fini(&code);
}

static void resource_answer(const struct mir_word *resource, const char *flags,
			    struct mir_request *request, FILE *out)
{
	char *path = sir_path(resource->text);

	if (!path)
		request_complain(request, &resource->place,
				 "%.200s is not read; write file:///PATH of an executable, library "
				 "or source "
				 "on this host",
				 resource->text);
	else if (!sir_is_below(path, request->below))
		request_complain(request, &resource->place,
				 "%.200s is not in the folder whose files tools elsewhere may ask "
				 "about; evspace mir --sources DIR says which",
				 path);
	else if (code_language_of(path) != CODE_NONE)
		source_answer(path, flags, &resource->place, request, out);
	else
		executable_answer(path, &resource->place, request, out);
	free(path);
}

void sir_answer(struct mir_request *request, const char *flags, FILE *out)
{
	char *text = NULL;
	size_t n;
	FILE *units = open_memstream(&text, &n);

	if (!units)
		abort();
	for (size_t i = 0; i < request->n_resources; i++)
		resource_answer(&request->resources[i], flags, request, units);
	if (fclose(units) != 0)
		abort();
	if (request->n_faults == 0)
		fprintf(out, "<sir>%s</sir>\n", text);
	free(text);
}
