/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps which sources are to be written, and writes them below the folder for that, and nowhere
 * else. */
#include "consumers/mir/writeback.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "consumers/code/code-instrument.h"
#include "consumers/mir/destination.h"
#include "consumers/mir/fetch.h"
#include "consumers/mir/sir.h"
#include "pathmap/base/memory.h"

/* ---- what is to be written ---- */

static void out_check(const struct probes *probes, struct mir_request *r, size_t i)
{
	const struct mir_word *in = &r->resources[i];
	char *path = sir_name(in->text);

	if (!probes->write)
		request_complain(r, &in->place,
				 "nothing is written back; who started evspace mir says --write "
				 "DIR, a folder for it");
	else if (!destination_below(probes->write, r->outs[i]))
		request_complain(r, &in->place,
				 "%.200s is not below the folder of --write; write "
				 "file://%.200s/NAME",
				 r->outs[i], probes->write);
	else if (path && code_language_of(path) == CODE_NONE)
		request_complain(r, &in->place,
				 "%.200s is not written back: sources in C, C++ and Fortran are; "
				 "leave \"out\" out",
				 in->text);
	free(path);
}

/* Whatever is fetched is in one folder when it is written, by the last part of its name. */
static void fetched_check(const struct probe_owner *owner, struct mir_request *r, size_t i)
{
	const char *uri = r->resources[i].text;
	char *path = fetch_is(uri) ? fetch_path("", uri) : NULL;
	const struct writeback *w;

	LIST_FOREACH (w, &owner->writebacks, link) {
		char *its = path && fetch_is(w->in) ? fetch_path("", w->in) : NULL;

		if (its && strcmp(its, path) == 0 && strcmp(w->in, uri) != 0) {
			request_complain(r, &r->resources[i].place,
					 "%.200s has the same name as %.200s, which is written "
					 "back; they have to have different ones",
					 uri, w->in);
			path[0] = '\0';
		}
		free(its);
	}
	free(path);
}

void writebacks_check(const struct probes *probes, const struct probe_owner *owner,
		      struct mir_request *request)
{
	const struct writeback *w;
	size_t n = 0;

	LIST_FOREACH (w, &owner->writebacks, link)
		n++;
	for (size_t i = 0; i < request->n_resources; i++) {
		if (request->writes)
			fetched_check(owner, request, i);
		if (!request->outs[i])
			continue;
		if (++n > WRITEBACKS_MAX)
			request_complain(request, &request->resources[i].place,
					 "more than %u sources are to be written back",
					 WRITEBACKS_MAX);
		out_check(probes, request, i);
	}
}

/* @out: NULL is only fetched, for others that include it. */
static void writeback_note(struct probe_owner *owner, const char *below, char *in, const char *out)
{
	struct writeback *w;

	LIST_FOREACH (w, &owner->writebacks, link)
		if (strcmp(w->in, in) == 0)
			break;
	if (!w) {
		w = memory_new(1, sizeof(*w));
		w->id = code_source_id(in);
		w->in = memory_copy(in);
		LIST_INSERT_HEAD(&owner->writebacks, w, link);
	}
	w->below = below;
	free(w->out);
	w->out = memory_copy(out);
}

void writebacks_note(const struct probes *probes, struct probe_owner *owner,
		     const struct mir_request *request)
{
	for (size_t i = 0; i < request->n_resources; i++) {
		const char *uri = request->resources[i].text, *out = request->outs[i];
		char *in = out || (request->writes && fetch_is(uri)) ? sir_name(uri) : NULL;

		if (in)
			writeback_note(owner, request->below, in,
				       out ? destination_below(probes->write, out) : NULL);
		free(in);
	}
}

bool writeback_is_id(const char *text)
{
	return strspn(text, "0123456789abcdef") == 8 && text[8] == '-' && text[9] &&
	       strspn(text + 9, "0123456789-") == strlen(text + 9) && strlen(text) < CODE_ID;
}

static bool is_of(const struct writeback *w, const char *id)
{
	return w->out && writeback_is_id(id) && strtoul(id, NULL, 16) == w->id;
}

bool writebacks_have(const struct probe_owner *owner, const char *id)
{
	const struct writeback *w;

	LIST_FOREACH (w, &owner->writebacks, link)
		if (is_of(w, id))
			return true;
	return false;
}

/* ---- written ---- */

/* Is there nothing by that name, or what was written before? Else errno says why not. */
static bool is_ours(int dir, const char *name)
{
	char begin[sizeof(CODE_INSTRUMENTED)] = "";
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT;
	n = read(fd, begin, sizeof(begin) - 1);
	close(fd);
	if (n > 0 && (strcmp(begin, CODE_INSTRUMENTED) == 0 ||
		      strncmp(begin, FORTRAN_INSTRUMENTED, strlen(FORTRAN_INSTRUMENTED)) == 0))
		return true;
	errno = EEXIST;
	return false;
}

static int all_write(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		ssize_t n = write(fd, text, left);

		if (n < 0 && errno != EINTR)
			return -1;
		text += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* Whoever compiles it meanwhile has the one or the other, whole. */
static int file_replace(int dir, const char *name, const char *text)
{
	char *temporary = memory_format(".%s.%d", name, (int)getpid());
	int fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), rc = -1;

	if (fd >= 0) {
		rc = all_write(fd, text);
		if (close(fd) < 0 || rc < 0 || renameat(dir, temporary, dir, name) < 0) {
			int saved = errno;

			unlinkat(dir, temporary, 0);
			errno = saved;
			rc = -1;
		}
	}
	free(temporary);
	return rc;
}

static void text_write(const char *folder, const struct writeback *w, const char *text,
		       struct mir_request *r)
{
	const char *name = strrchr(w->out, '/');
	char *within = name ? memory_copy_bytes(w->out, (size_t)(name - w->out)) : NULL;
	int dir = destination_folder(folder, within ? within : ".");

	name = name ? name + 1 : w->out;
	if (dir < 0)
		request_complain(r, &r->place, "%.200s: the folder of %.200s: %s", folder, w->out,
				 strerror(errno));
	else if (!is_ours(dir, name))
		request_complain(r, &r->place,
				 "%.200s/%.200s: %s: only what evspace mir has written is written "
				 "again; name another one",
				 folder, w->out, strerror(errno));
	else if (file_replace(dir, name, text) < 0)
		request_complain(r, &r->place, "%.200s/%.200s: %s", folder, w->out,
				 strerror(errno));
	if (dir >= 0)
		close(dir);
	free(within);
}

/* The regions of its probes that are in the source, each once. */
static size_t ids_find(const struct probes *probes, const struct probe_owner *owner,
		       const struct writeback *w, const char **ids)
{
	const struct probe *p;
	size_t n = 0;

	TAILQ_FOREACH (p, &probes->list, link) {
		for (unsigned k = 0; p->owner == owner && k < p->n_regions; k++) {
			const char *label = p->regions[k].label;
			size_t i = 0;

			if (!label || !is_of(w, label))
				continue;
			while (i < n && strcmp(ids[i], label) != 0)
				i++;
			ids[i] = label;
			n += i == n;
		}
	}
	return n;
}

static void source_write(const struct probes *probes, const struct probe_owner *owner,
			 const struct writeback *w, const char *folder, struct mir_request *r)
{
	const struct sir_reach reach = {probes->flags, probes->fetch, folder, w->below};
	const char **ids = memory_new(2 * probes->n + 1, sizeof(*ids));
	size_t n = ids_find(probes, owner, w, ids);
	struct code_text code = {.n = 0};
	struct error e = {""};
	char *text = NULL;

	if (sir_read(&reach, w->in, &code, &e) < 0 ||
	    !(text = code_instrument(&code, code_language_by(w->in, probes->flags), ids, n, &e)))
		request_complain(r, &r->place, "not written back: %s", e.text);
	else
		text_write(probes->write, w, text, r);
	free(text);
	code_fini(&code);
	free(ids);
}

void writebacks_write(const struct probes *probes, const struct probe_owner *owner,
		      const char *folder, struct mir_request *request)
{
	const struct sir_reach reach = {.hosts = probes->fetch, .folder = folder};
	const struct writeback *w;

	LIST_FOREACH (w, &owner->writebacks, link)
		sir_fetch(&reach, w->in, &request->place, request);
	LIST_FOREACH (w, &owner->writebacks, link)
		if (w->out && request->n_faults == 0)
			source_write(probes, owner, w, folder, request);
}

void writebacks_free(struct probe_owner *owner)
{
	struct writeback *w;

	while ((w = LIST_FIRST(&owner->writebacks))) {
		LIST_REMOVE(w, link);
		free(w->in);
		free(w->out);
		free(w);
	}
}
