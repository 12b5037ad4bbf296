/* SPDX-License-Identifier: BSD-3-Clause */
/* Says where ranks are in few statements: in blocks, in turn, or node by node. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/deploy/finding.h"
#include "pathmap/model/hostlist.h"
#include "pathmap/base/memory.h"

/* The ranks that one `place` is about, and their nodes. */
struct finding_place_block {
	size_t first, end; /* processes */
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

/* The longest block from @first on: as many ranks on each node, the last one may have less. */
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

/* Ranks in turn on the first so many nodes: how many, or 0. */
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

/* A statement for each node. */
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
