/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of probes: a line for each, with owner, id (or "-": what its later ones are to be like),
 * and the request that would define it as it is. */
#include "consumers/mir/probe-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "consumers/mir/probe-change.h"
#include "consumers/mir/probe-define.h"
#include "consumers/mir/request-write.h"
#include "pathmap/base/config.h"

#define HEADER "evspace mir probes 1\n"

/* Largest one that is read. */
#define FILE_MAX ((off_t)256 << 20)

/* ---- written ---- */

static void probe_write(FILE *out, const struct probe *p)
{
	struct mir_request now = *p->defined;

	now.activated = p->wanted;
	now.flush = p->flushed;
	fprintf(out, "%s %s ", p->owner->name, p->id);
	request_write(out, &now);
	fputc('\n', out);
}

int probe_file_write(const char *path, const struct owners *owners, const struct probes *probes,
		     struct error *e)
{
	const struct named_owner *o;
	const struct probe *p;
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	int rc;

	if (!out)
		abort();
	fputs(HEADER, out);
	TAILQ_FOREACH (p, &probes->list, link)
		if (p->owner->name && !probe_change_removes(p))
			probe_write(out, p);
	/* after those that these defaults are not for */
	LIST_FOREACH (o, &owners->list, link) {
		const struct mir_request defaults = {.measuring = o->owner.defaults};

		if (!o->owner.defaults.said)
			continue;
		fprintf(out, "%s - ", o->owner.name);
		request_write(out, &defaults);
		fputc('\n', out);
	}
	if (fclose(out) != 0)
		abort();
	rc = config_write(path, text, n, e);
	free(text);
	return rc;
}

/* ---- read ---- */

/* A line: its parts, ended by zeros. */
struct probe_line {
	const char *owner, *id, *document;
	unsigned number; /* of the id; 0: none */
};

/* Returns false if it is none. */
static bool line_split(char *text, size_t n, struct probe_line *line)
{
	char *id = memchr(text, ' ', n), *document = id ? strchr(id + 1, ' ') : NULL, *end;
	unsigned long number;

	if (!document || id == text || text[n - 1] != '\n' || strlen(text) != n)
		return false;
	text[n - 1] = *id = *document = '\0';
	*line = (struct probe_line){.owner = text, .id = id + 1, .document = document + 1};
	if (strcmp(line->id, "-") == 0)
		return true;
	/* as it is written: else two would have one number */
	if (line->id[0] != 'p' || line->id[1] < '1' || line->id[1] > '9')
		return false;
	number = strtoul(line->id + 1, &end, 10);
	line->number = (unsigned)number;
	return number < PROBES_NAMED_MAX && !*end;
}

/* Returns NULL, or why it is left out. */
static const char *probe_take(const struct probe_line *line, struct owners *owners,
			      struct probes *probes, struct mir_request *request)
{
	struct probe_owner *owner;
	struct probe *p;

	if (request->n_faults > 0)
		return request->faults[0].text;
	owner = request->kind == MIR_INSTRREQ ? owner_find(owners, line->owner) : NULL;
	if (!owner || probe_find(probes, line->id))
		return "it is no request for a probe, there are too many owners, or the probe is "
		       "there already";
	if (line->number == 0) {
		measuring_settle(&owner->defaults, &request->measuring);
		return NULL;
	}
	p = probe_new(probes, owner, request);
	if (!p)
		return request->faults[0].text;
	probe_restore(probes, p, line->number, request->flush);
	return NULL;
}

static void line_take(const char *path, unsigned number, char *text, size_t n,
		      struct owners *owners, struct probes *probes, mir_request_function *read)
{
	const char *why = "it is no line of such a file";
	struct mir_request *request = NULL;
	struct probe_line line;

	if (line_split(text, n, &line)) {
		request = read(line.document, strlen(line.document), false);
		why = probe_take(&line, owners, probes, request);
	}
	if (why)
		fprintf(stderr, "evspace mir: %s, line %u: left out: %s\n", path, number, why);
	request_free(request);
}

static int file_check(const char *path, int fd, struct error *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return errorf(e, "%.200s: %s", path, strerror(errno));
	errno = EACCES;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) ||
	    st.st_size > FILE_MAX)
		return errorf(e,
			      "%.200s is no file of this user alone, or larger than 256 MiB; "
			      "choose another one for --keep",
			      path);
	return 0;
}

int probe_file_read(const char *path, struct owners *owners, struct probes *probes,
		    mir_request_function *read, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), rc = 0;
	FILE *in = fd >= 0 ? fdopen(fd, "r") : NULL;
	unsigned number = 1;
	char *text = NULL;
	size_t room = 0;
	ssize_t n;

	if (!in)
		return errno == ENOENT ? 0 : errorf(e, "%.200s: %s", path, strerror(errno));
	if (file_check(path, fd, e) < 0)
		rc = -1;
	else if (getline(&text, &room, in) < 0 || strcmp(text, HEADER) != 0)
		rc = errorf(e, "%.200s is no file of probes; choose another one for --keep", path);
	while (rc == 0 && (n = getline(&text, &room, in)) > 0)
		line_take(path, ++number, text, (size_t)n, owners, probes, read);
	free(text);
	fclose(in);
	return rc;
}
