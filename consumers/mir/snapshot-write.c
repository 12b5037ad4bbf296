/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes snapshots as the report's section 3 has them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/toll.h"
#include "consumers/mir/answer.h"
#include "consumers/mir/snapshot.h"

/* Parts of a name: cluster, node, process, thread. */
#define PARTS 4

static const char *const elements[PARTS] = {"site", "node", "process", "thread"};

struct mir_writing {
	const struct mir_request *request;
	FILE *out;
	unsigned open; /* elements that are not ended yet */
};

/* Where part @i of a name ends; it begins where the one before ends. */
static size_t part_end(const char *name, unsigned i)
{
	const char *at = name;

	for (unsigned k = 0; k <= i && *at == '/'; k++)
		at += 1 + strcspn(at + 1, "/");
	return (size_t)(at - name);
}

static unsigned parts_of(const char *name)
{
	unsigned n = 0;

	while (n < PARTS && name[part_end(name, n)] == '/')
		n++;
	return n < PARTS ? n + 1 : PARTS;
}

static void ends_write(struct mir_writing *w, unsigned until)
{
	while (w->open > until)
		fprintf(w->out, "</%s>", elements[--w->open]);
}

/* The id is the name up to here, and the name its last part, if it has no @title. */
static void begin_write(struct mir_writing *w, const char *name, unsigned part, const char *title)
{
	size_t begin = part > 0 ? part_end(name, part - 1) : 0, end = part_end(name, part);
	char *id = strndup(name, end);

	if (!id)
		abort();
	fprintf(w->out, "<%s", elements[part]);
	answer_attribute(w->out, "id", id);
	if (w->request->named)
		answer_attribute(w->out, "name", title ? title : id + begin + 1);
	/* whoever has called MPI_Init is a process's first thread */
	if (part == PARTS - 1 && strcmp(id + begin, "/t0") == 0)
		answer_attribute(w->out, "master", "true");
	fputc('>', w->out);
	free(id);
	w->open = part + 1;
}

static void stack_write(struct mir_writing *w, const struct mir_thread *t)
{
	/* what is known without them, if there are none */
	char *const *frames = t->n_stack > 0 ? t->stack : t->frames;
	size_t n = t->n_stack > 0 ? t->n_stack : SNAPSHOT_FRAMES;
	uint64_t written = 0;

	for (size_t i = 0; i < n && written < w->request->stack; i++) {
		if (!frames[i])
			continue;
		fputs("<stack>", w->out);
		answer_text(w->out, frames[i]);
		fputs("</stack>", w->out);
		written++;
	}
}

static void threads_write(const struct snapshot *s, struct mir_writing *w)
{
	const char *last = NULL;

	for (size_t i = 0; i < s->n_threads; i++) {
		const char *name = s->threads[i].name;
		unsigned parts = parts_of(name), same = 0;

		while (last && same < w->open && same < parts &&
		       part_end(name, same) == part_end(last, same) &&
		       strncmp(name, last, part_end(name, same)) == 0)
			same++;
		ends_write(w, same);
		for (unsigned part = same; part < parts; part++)
			begin_write(w, name, part, part == PARTS - 1 ? s->threads[i].title : NULL);
		stack_write(w, &s->threads[i]);
		last = name;
	}
	ends_write(w, 0);
}

static void communicators_write(const struct snapshot *s, struct mir_writing *w)
{
	for (size_t i = 0; i < s->n_members; i++) {
		const struct mir_member *m = &s->members[i];
		bool first = i == 0 || m[-1].comm != m->comm;
		bool last = i + 1 == s->n_members || m[1].comm != m->comm;

		if (first) {
			fprintf(w->out, "<communicator id=\"%08x\"", m->comm);
			if (w->request->named && m->world)
				fputs(" name=\"MPI_COMM_WORLD\"", w->out);
			fputc('>', w->out);
		}
		fputs("<process", w->out);
		answer_attribute(w->out, "id", m->process);
		fputs("/>", w->out);
		if (last)
			fputs("</communicator>", w->out);
	}
}

/* The report has no element for what is missing, but a processing instruction may be anywhere. */
static void missing_write(const struct snapshot *s, struct mir_writing *w)
{
	for (size_t i = 0; i < s->n_missing; i++)
		answer_missing(w->out, s->missing[i].host, s->missing[i].why);
}

/* What has no stacks, and what those that there are have cost; and whether all is over. */
static void state_write(const struct snapshot *s, FILE *out)
{
	if (s->ended)
		fputs("<?ended why=\"no process of the run is there any more: this is who there "
		      "was\"?>",
		      out);
	for (size_t i = 0; i < s->n_unread; i++) {
		fputs("<?unread", out);
		answer_attribute(out, "id", s->unread[i].host);
		answer_attribute(out, "why", s->unread[i].why);
		fputs("?>", out);
	}
	if (s->looked > 0)
		fprintf(out, "<?stopped threads=\"%u\" ms=\"%.3f\" longest_ms=\"%.3f\"?>",
			s->looked, (double)s->stopped_ns / 1e6, (double)s->longest_ns / 1e6);
}

/* Nor for what looking costs. */
static void cost_write(const struct toll *toll, FILE *out)
{
	struct evspace_spent spent;
	double rate;

	if (toll_spent_last(toll, &spent, &rate) < 0)
		return;
	fprintf(out, "<?cost looks_per_s=\"%.1f\"", rate);
	if (isfinite(spent.slowdown))
		fprintf(out, " slowdown=\"%.6f\" low=\"%.6f\" high=\"%.6f\"", spent.slowdown,
			spent.low, spent.high);
	fputs("?>", out);
}

void snapshot_write(const struct snapshot *snapshot, const struct mir_request *request,
		    const struct toll *toll, FILE *out)
{
	struct mir_writing w = {.request = request, .out = out};

	fputs("<snapshot>", out);
	cost_write(toll, out);
	missing_write(snapshot, &w);
	state_write(snapshot, out);
	threads_write(snapshot, &w);
	communicators_write(snapshot, &w);
	fputs("</snapshot>\n", out);
}
