/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes into a map which processes are where: as comments, and as few statements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "consumers/deploy/finding.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "tree/data/names-comm.h"
#include "tree/data/process.h"
#include "pathmap/model/hostlist.h"

/* Most lines of communicators, and of processes that no map places. */
#define LINES_MOST 64

/* A comment that is wrapped between words. */
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

/* Consecutive ranks on the same CPUs are listed together. */
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

/* Tasks of PVM, and worlds that the program spawns, are not placed by maps. */
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

/* In the order of ranks, not of the communicator, to show who is in it. */
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
	else if (c->parent && c->parent != c->id)
		snprintf(from, sizeof(from), ", made of %08x", c->parent);
	if (names_comm_is_world(c))
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

		/* not a process alone, and not a region of the program */
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

/* ---- where ranks are, in few statements: by blocks, in turn, or node by node ---- */

/* The ranks of one `place` statement, and their nodes. */
struct finding_place_block {
	size_t first, end; /* indexes of processes */
	size_t by;	   /* consecutive ranks on each node */
};

char *finding_ranks(const unsigned *ranks, size_t n)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	fprintf(out, n > 1 ? "rank[" : "rank");
	for (size_t i = 0, last; i < n; i = last + 1) {
		last = i;
		while (last + 1 < n && ranks[last + 1] == ranks[last] + 1)
			last++;
		fprintf(out, "%s%u", i ? "," : "", ranks[i]);
		if (last > i)
			fprintf(out, "-%u", ranks[last]);
	}
	fprintf(out, n > 1 ? "]" : "");
	fclose(out);
	return text;
}

/* How many consecutive ranks from @at on are on one node. */
static size_t run_length(const struct finding *f, size_t at, size_t end)
{
	size_t n = 1;

	while (at + n < end && f->processes[at + n].node == f->processes[at].node)
		n++;
	return n;
}

/* Has the node had ranks between @first and @at? */
static bool is_used(const struct finding *f, size_t first, size_t at)
{
	for (size_t i = first; i < at; i++)
		if (f->processes[i].node == f->processes[at].node)
			return true;
	return false;
}

/* The longest block from @first on: the same number of ranks on each node, fewer on the last. */
static struct finding_place_block block_from(const struct finding *f, size_t first, size_t end)
{
	struct finding_place_block b = {
		.first = first, .end = first, .by = run_length(f, first, end)};

	while (b.end < end && !is_used(f, first, b.end)) {
		size_t n = run_length(f, b.end, end);

		if (n != b.by && (n > b.by || b.end + n < end))
			break;
		b.end += n;
	}
	return b;
}

static void print_nodes(FILE *out, const struct finding *f, const size_t *nodes, size_t n)
{
	const char **names = memory_new(n + 1, sizeof(*names));
	char *list;

	for (size_t i = 0; i < n; i++)
		names[i] = f->nodes[nodes[i]].name;
	list = hostlist_text(names, n);
	fprintf(out, " on %s", list);
	free(list);
	free(names);
}

static void print_block(FILE *out, const struct finding *f, const struct finding_place_block *b)
{
	size_t *nodes = memory_new(b->end - b->first, sizeof(*nodes)), n = 0;

	for (size_t i = b->first; i < b->end; i += run_length(f, i, b->end))
		nodes[n++] = f->processes[i].node;
	fprintf(out, "place rank");
	if (b->end - b->first > 1)
		fprintf(out, "[%d-%d]", f->processes[b->first].number,
			f->processes[b->end - 1].number);
	else
		fprintf(out, "%d", f->processes[b->first].number);
	print_nodes(out, f, nodes, n);
	if (n > 1 && b->by > 1)
		fprintf(out, " by %zu", b->by);
	fprintf(out, ";\n");
	free(nodes);
}

/* How many nodes, from the first, have the ranks in turn; 0: they do not. */
static size_t turn_length(const struct finding *f, size_t n)
{
	size_t turn = 0;

	while (turn < n && !is_used(f, 0, turn))
		turn++;
	for (size_t i = turn; i < n; i++)
		if (f->processes[i].node != f->processes[i % turn].node)
			return 0;
	return turn < n ? turn : 0;
}

static void print_turns(FILE *out, const struct finding *f, size_t n, size_t turn)
{
	size_t *nodes = memory_new(turn, sizeof(*nodes));

	for (size_t i = 0; i < turn; i++)
		nodes[i] = f->processes[i].node;
	fprintf(out, "place rank[0-%zu]", n - 1);
	print_nodes(out, f, nodes, turn);
	fprintf(out, " cyclic;\n");
	free(nodes);
}

/* Write a statement for each node. */
static void print_each(FILE *out, const struct finding *f, size_t n)
{
	unsigned *ranks = memory_new(n, sizeof(*ranks));

	for (size_t node = 0; node < f->n_nodes; node++) {
		size_t count = 0;
		char *list;

		for (size_t i = 0; i < n; i++)
			if (f->processes[i].node == node)
				ranks[count++] = (unsigned)f->processes[i].number;
		if (count == 0)
			continue;
		list = finding_ranks(ranks, count);
		fprintf(out, "place %s on %s;\n", list, f->nodes[node].name);
		free(list);
	}
	free(ranks);
}

char *finding_places(const struct finding *f)
{
	size_t n = f->ranks, blocks = 0, turn;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct finding_place_block b;

	if (!out)
		abort();
	for (size_t at = 0; at < n; at = b.end, blocks++)
		b = block_from(f, at, n);
	turn = n > 1 ? turn_length(f, n) : 0;
	if (blocks > 1 && turn > 1)
		print_turns(out, f, n, turn);
	else if (blocks > f->n_nodes)
		print_each(out, f, n);
	else
		for (size_t at = 0; at < n; at = b.end) {
			b = block_from(f, at, n);
			print_block(out, f, &b);
		}
	fclose(out);
	return text;
}
