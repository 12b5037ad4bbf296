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
#include "consumers/mir/fetch.h"
#include "consumers/mir/sir-write.h"
#include "consumers/mir/units.h"
#include "pathmap/base/memory.h"

char *sir_name(const char *uri)
{
	char *path, *to, *clean;

	if (fetch_is(uri))
		return memory_copy(uri);
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

/* Is the file in a folder (NULL: in any)? Neither may be what links make of it. */
static bool is_below(const char *path, const char *folder)
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

void sir_fetch(const struct sir_reach *reach, const char *name, const struct mir_place *place,
	       struct mir_request *request)
{
	struct error e = {""};

	char *path = fetch_is(name) ? fetch_file(reach->folder, name, reach->hosts, &e) : NULL;

	if (fetch_is(name) && !path)
		request_complain(request, place, "%s", e.text);
	free(path);
}

/* Where its file is, for the caller to free; NULL with @e. */
static char *file_of(const struct sir_reach *reach, const char *name, struct error *e)
{
	char *path = fetch_is(name) ? fetch_path(reach->folder, name) : memory_copy(name);

	if (path && (fetch_is(name) || is_below(path, reach->below)))
		return path;
	errorf(e,
	       "%.200s is not in the folder whose files tools elsewhere may ask about; evspace mir "
	       "--sources DIR says which",
	       name);
	free(path);
	return NULL;
}

int sir_read(const struct sir_reach *reach, const char *name, struct code_text *code,
	     struct error *e)
{
	char *path = file_of(reach, name, e);
	int rc = path ? code_read(code, path, reach->flags, fetch_is(name), e) : -1;

	free(path);
	if (rc < 0)
		return -1;
	free(code->path);
	code->path = memory_copy(name);
	return 0;
}

static void executable_answer(const struct sir_reach *reach, const char *name,
			      const struct mir_place *place, struct mir_request *request, FILE *out)
{
	struct error e = {""};
	char *path = file_of(reach, name, &e);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	struct stat file;

	if (!path)
		request_complain(request, place, "%s", e.text);
	else if (fd < 0 || fstat(fd, &file) < 0)
		request_complain(request, place, "%.200s: %s", name, strerror(errno));
	else if (!S_ISREG(file.st_mode) || sir_dwarf_write(out, fd) == 0)
		request_complain(
			request, place,
			"%.200s has no functions in DWARF; name an executable or library that "
			"was compiled with -g, or a source by its usual name (.c, .cpp, .f90 ...)",
			name);
	if (fd >= 0)
		close(fd);
	free(path);
}

static void source_answer(const struct sir_reach *reach, const char *name,
			  const struct mir_place *place, struct mir_request *request, FILE *out)
{
	struct code_text code = {.n = 0};
	struct error e = {""};

	if (sir_read(reach, name, &code, &e) < 0)
		request_complain(request, place, "%s", e.text);
	else
		sir_code_write(out, &code);
	code_fini(&code);
}

/* All are fetched before the first is read, as it may include others. */
static char **names_take(const struct sir_reach *reach, struct mir_request *request)
{
	char **names = memory_new(request->n_resources + 1, sizeof(*names));

	for (size_t i = 0; i < request->n_resources; i++) {
		const struct mir_word *resource = &request->resources[i];

		names[i] = sir_name(resource->text);
		if (names[i])
			sir_fetch(reach, names[i], &resource->place, request);
		else
			request_complain(request, &resource->place,
					 "%.200s is not read; write file:///PATH of an executable, "
					 "library or source on this host",
					 resource->text);
	}
	return names;
}

void sir_answer(struct mir_request *request, const struct sir_reach *reach, FILE *out)
{
	char *text = NULL, **names = names_take(reach, request);
	bool all = request->n_faults == 0;
	size_t n;
	FILE *units = open_memstream(&text, &n);

	if (!units)
		abort();
	for (size_t i = 0; i < request->n_resources; i++) {
		if (all)
			(code_language_of(names[i]) != CODE_NONE ? source_answer
								 : executable_answer)(
				reach, names[i], &request->resources[i].place, request, units);
		free(names[i]);
	}
	free(names);
	if (fclose(units) != 0)
		abort();
	if (request->n_faults == 0) {
		fprintf(out, "<sir>%s</sir>\n%c", text, 0);
		units_say(out, text, n);
	}
	free(text);
}
