/* SPDX-License-Identifier: BSD-3-Clause */
/* Says in a map's comments which processes are where, on which cores, and in which communicators.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "consumers/deploy/finding.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/plural.h"
#include "tree/data/names-comm.h"
#include "tree/data/process.h"

/* Lines of communicators, and of processes that no map places, that a person may want to read. */
#define LINES_MOST 64

/* A comment that is broken between its words. */
struct line {
	FILE *out;
	size_t column;
};

#define COLUMNS 100

static void line_word(struct line *line, const char *word)
{
	if (line->column + 1 + strlen(word) > COLUMNS) {
		fprintf(line->out, "\n#   ");
		line->column = 4;
	}
	line->column += (size_t)fprintf(line->out, " %s", word);
}

static void line_begin(struct line *line, FILE *out, const char *word)
{
	*line = (struct line){.out = out, .column = 1};
	fprintf(out, "#");
	line_word(line, word);
}

/* ---- processes ---- */

static bool is_placed(const struct finding *f, const struct finding_process *p)
{
	return f->ranks > 0 && p->spawned == 0 && !process_is_task(p->number);
}

/* Consecutive ranks on the same CPUs are said together. */
static void print_node(FILE *out, const struct finding *f, size_t node)
{
	unsigned *ranks = memory_new(f->n_processes + 1, sizeof(*ranks));
	struct line line = {.out = NULL};
	size_t n = 0;

	for (size_t i = 0, next; i < f->n_processes; i = next) {
		const struct finding_process *p = &f->processes[i];
		char *list, *word;

		next = i + 1;
		if (p->node != node || !is_placed(f, p))
			continue;
		for (ranks[0] = (unsigned)p->number, n = 1; next < f->n_processes; next++) {
			const struct finding_process *q = &f->processes[next];

			if (q->node != node || !is_placed(f, q) || strcmp(q->cpus, p->cpus) != 0)
				break;
			ranks[n++] = (unsigned)q->number;
		}
		list = finding_ranks(ranks, n);
		word = memory_format("%s%s%s;", list, *p->cpus ? " on " : "", p->cpus);
		if (!line.out) {
			char *begin = memory_format("%s:", f->nodes[node].name);

			line_begin(&line, out, begin);
			free(begin);
		}
		line_word(&line, word);
		free(word);
		free(list);
	}
	if (line.out)
		fprintf(out, "\n");
	free(ranks);
}

/* Tasks of PVM, and worlds that the program spawns, are where they are: no map says it. */
static void print_others(FILE *out, const struct finding *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_processes; i++) {
		const struct finding_process *p = &f->processes[i];

		if (is_placed(f, p))
			continue;
		if (n++ == 0)
			fprintf(out,
				"#\n# These have no rank in the program's world; they are found "
				"on the host that they run on:\n");
		if (n <= LINES_MOST)
			fprintf(out, "#   %s%s%s on %s%s%s\n", p->name, *p->program ? " " : "",
				p->program, f->nodes[p->node].name, *p->cpus ? ", " : "", p->cpus);
	}
	if (n > LINES_MOST)
		fprintf(out, "#   and %zu more\n", n - LINES_MOST);
}

/* ---- communicators ---- */

static int number_order(const void *a, const void *b)
{
	const unsigned *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* In the order of ranks, not of the communicator: who is in it is asked. */
static char *members_text(const struct name_comm *c)
{
	unsigned *ranks;
	char *text;

	if (c->world && c->size)
		return c->size > 1 ? memory_format("rank[0-%u]", c->size - 1)
				   : memory_copy("rank0");
	if (!c->members || c->size == 0 || c->members[0] < 0)
		return memory_format("%u member%s", c->size, plural(c->size, "s"));
	if (process_is_task(c->members[0]))
		return memory_format("%u task%s, t%x first", c->size, plural(c->size, "s"),
				     (unsigned)c->members[0]);
	ranks = memory_new(c->size, sizeof(*ranks));
	for (uint32_t i = 0; i < c->size; i++)
		ranks[i] = (unsigned)c->members[i];
	qsort(ranks, c->size, sizeof(*ranks), number_order);
	text = finding_ranks(ranks, c->size);
	free(ranks);
	return text;
}

static void print_comm(FILE *out, const struct finding *f, const struct name_comm *c)
{
	const struct name_comm *parent = names_comm_find(f->comms, c->parent);
	char *members = members_text(c), from[32] = "";

	if (parent && parent->world)
		snprintf(from, sizeof(from), ", made of world");
	else if (c->parent)
		snprintf(from, sizeof(from), ", made of %08x", c->parent);
	if (c->world && c->parent == 0)
		fprintf(out, "#   world: %s\n", members);
	else
		fprintf(out, "#   %08x: %s%s\n", c->id, members, from);
	free(members);
}

static void print_comms(FILE *out, const struct finding *f)
{
	size_t n = 0;

	for (size_t i = 0; f->comms && i < names_comm_count(f->comms); i++) {
		const struct name_comm *c = names_comm_at(f->comms, i);

		/* a process alone, and regions of the program */
		if (c->label || (c->size == 1 && c->parent))
			continue;
		if (n++ == 0)
			fprintf(out, "#\n# Communicators (as events and `comm=` name them):\n");
		if (n <= LINES_MOST)
			print_comm(out, f, c);
	}
	if (n > LINES_MOST)
		fprintf(out, "#   and %zu more\n", n - LINES_MOST);
}

char *finding_words(const struct finding *f)
{
	time_t now = time(NULL);
	char *text = NULL, at[32];
	struct tm tm;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	strftime(at, sizeof(at), "%Y-%m-%d %H:%M:%S", localtime_r(&now, &tm));
	fprintf(out,
		"# Found by `evspace map discover` at %s:\n# %s.\n# Edit what follows; "
		"`evspace map check DIR` says whether it is right.\n#\n",
		at, f->what);
	for (size_t node = 0; node < f->n_nodes; node++)
		print_node(out, f, node);
	print_others(out, f);
	print_comms(out, f);
	fprintf(out, "\n");
	fclose(out);
	return text;
}
