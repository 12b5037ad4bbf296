/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects hosts and processes, and writes them as a pathmap. */
#include "consumers/deploy/finding.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/model/hostlist.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/pattern.h"
#include "pathmap/plan/plan.h"
#include "pathmap/grammar/statement.h"
#include "pathmap/base/utf8.h"
#include "tree/stage/stage.h"

struct finding_index {
	size_t at;
	UT_hash_handle hh;
	char key[];
};

static const struct finding_index *index_find(const struct finding_index *index, const void *key,
					      size_t bytes)
{
	struct finding_index *found;

	HASH_FIND(hh, index, key, bytes, found);
	return found;
}

static void index_add(struct finding_index **index, const void *key, size_t bytes, size_t at)
{
	struct finding_index *new = memory_new(1, sizeof(*new) + bytes);

	new->at = at;
	memcpy(new->key, key, bytes);
	HASH_ADD_KEYPTR(hh, *index, new->key, bytes, new);
}

static void index_free(struct finding_index **index)
{
	struct finding_index *i, *next;

	HASH_ITER(hh, *index, i, next)
	{
		HASH_DEL(*index, i);
		free(i);
	}
}

/* ---- adding ---- */

static void process_fini(struct finding_process *p)
{
	free(p->name);
	free(p->program);
	free(p->cpus);
}

void finding_fini(struct finding *f)
{
	for (size_t i = 0; i < f->n_nodes; i++) {
		free(f->nodes[i].name);
		free(f->nodes[i].host);
		free(f->nodes[i].address);
	}
	for (size_t i = 0; i < f->n_processes; i++)
		process_fini(&f->processes[i]);
	free(f->nodes);
	free(f->processes);
	free(f->what);
	free(f->application);
	free(f->cluster);
	free(f->folder);
	if (f->comms)
		names_free(f->comms);
	texts_fini(&f->maps);
	index_free(&f->by_name);
	index_free(&f->by_number);
	*f = (struct finding){0};
}

size_t finding_node(struct finding *f, const char *name)
{
	const struct finding_index *known = index_find(f->by_name, name, strlen(name));

	if (known)
		return known->at;
	index_add(&f->by_name, name, strlen(name), f->n_nodes);
	f->nodes = memory_room(f->nodes, f->n_nodes, sizeof(*f->nodes));
	f->nodes[f->n_nodes] = (struct finding_node){.name = memory_copy(name)};
	return f->n_nodes++;
}

static bool is_better(const struct finding_process *a, const struct finding_process *b)
{
	if (a->sure != b->sure)
		return a->sure;
	return a->age_ms < b->age_ms;
}

int finding_nodes_check(size_t n, struct error *e)
{
	if (n <= PLAN_PLACES)
		return 0;
	return errorf(e, "%zu hosts; at most %u are possible", n, PLAN_PLACES);
}

void finding_process(struct finding *f, struct finding_process *p)
{
	const uint32_t key[] = {(uint32_t)p->number, p->spawned};
	const struct finding_index *known = index_find(f->by_number, key, sizeof(key));

	/* texts of programs, which get into files and onto terminals */
	utf8_clean(p->name);
	utf8_clean(p->program);
	utf8_clean(p->cpus);
	if (known) {
		struct finding_process *same = &f->processes[known->at];

		if (is_better(p, same)) {
			process_fini(same);
			*same = *p;
		} else {
			process_fini(p);
		}
		return;
	}
	index_add(&f->by_number, key, sizeof(key), f->n_processes);
	f->processes = memory_room(f->processes, f->n_processes, sizeof(*f->processes));
	f->processes[f->n_processes++] = *p;
}

static int process_order(const void *a, const void *b)
{
	const struct finding_process *x = a, *y = b;

	if (x->spawned != y->spawned)
		return x->spawned < y->spawned ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static int node_order(const void *a, const void *b)
{
	const struct finding_node *x = a, *y = b;

	return strverscmp(x->name, y->name);
}

/* w2 before w10 */
static void nodes_order(struct finding *f)
{
	const char **names = memory_new(f->n_nodes + 1, sizeof(*names));

	for (size_t i = 0; i < f->n_nodes; i++)
		names[i] = f->nodes[i].name;
	if (f->n_nodes)
		qsort(f->nodes, f->n_nodes, sizeof(*f->nodes), node_order);
	index_free(&f->by_name);
	for (size_t i = 0; i < f->n_nodes; i++)
		index_add(&f->by_name, f->nodes[i].name, strlen(f->nodes[i].name), i);
	for (size_t i = 0; i < f->n_processes; i++)
		f->processes[i].node = finding_node(f, names[f->processes[i].node]);
	free(names);
}

int finding_order(struct finding *f, struct error *e)
{
	unsigned *missing;
	size_t n = 0, at = 0;
	char *list;

	if (f->ranks > RANKS_MAX)
		return errorf(e, "%u ranks; maps hold at most %u", f->ranks, RANKS_MAX);
	if (finding_nodes_check(f->n_nodes, e) < 0)
		return -1;
	missing = memory_new(f->ranks + 1, sizeof(*missing));
	nodes_order(f);
	index_free(&f->by_number);
	if (f->n_processes)
		qsort(f->processes, f->n_processes, sizeof(*f->processes), process_order);
	for (unsigned rank = 0; rank < f->ranks; rank++) {
		if (at < f->n_processes && f->processes[at].spawned == 0 &&
		    f->processes[at].number == (int32_t)rank)
			at++;
		else
			missing[n++] = rank;
	}
	list = n ? finding_ranks(missing, n) : NULL;
	if (list)
		errorf(e, "%s: %s of %u %s not here%s", f->what, list, f->ranks,
		       n == 1 ? "is" : "are", f->missing ? f->missing : "");
	free(list);
	free(missing);
	return n ? -1 : 0;
}

/* ---- names and lists ---- */

/* Turn @text into a valid name for maps. */
static void name_make(char **text)
{
	struct error e;

	for (char *p = *text; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			*p = '-';
	if (strlen(*text) > NAME_PART_MAX)
		(*text)[NAME_PART_MAX] = '\0';
	if (name_part_check(*text, &e) == 0)
		return;
	free(*text);
	*text = memory_copy("program");
}

enum column { COLUMN_NAME, COLUMN_HOST, COLUMN_ADDRESS };

static const char *node_column(const struct finding_node *node, enum column column)
{
	const char *text = column == COLUMN_HOST      ? node->host
			   : column == COLUMN_ADDRESS ? node->address
						      : node->name;

	return text ? text : node->name;
}

/* One column of the nodes as a host list, each with @suffix; for the caller to free(). */
static char *column_text(const struct finding *f, enum column column, const char *suffix)
{
	struct hostlist list = {0};
	char *text;

	for (size_t i = 0; i < f->n_nodes; i++) {
		list.names = memory_room(list.names, list.n, sizeof(*list.names));
		list.names[list.n++] =
			memory_format("%s%s", node_column(&f->nodes[i], column), suffix);
	}
	text = hostlist_text((const char *const *)list.names, list.n);
	hostlist_fini(&list);
	return text;
}

/* A launcher uses the hosts of the addresses unless others are given. */
static bool has_hosts(const struct finding *f)
{
	for (size_t i = 0; i < f->n_nodes; i++)
		if (strcmp(node_column(&f->nodes[i], COLUMN_HOST),
			   node_column(&f->nodes[i], COLUMN_ADDRESS)) != 0)
			return true;
	return false;
}

/* ---- the maps ---- */

static void print_deploy(FILE *out, const struct finding *f)
{
	char *hosts = column_text(f, COLUMN_HOST, "");

	fprintf(out, "\tdeploy %s", engine_names[f->engine]);
	if (has_hosts(f) || f->folder)
		fprintf(out, " {%s%s%s%s%s%s }", has_hosts(f) ? " host " : "",
			has_hosts(f) ? hosts : "", has_hosts(f) ? ";" : "",
			f->folder ? " folder " : "", f->folder ? f->folder : "",
			f->folder ? ";" : "");
	else
		fprintf(out, ";");
	fprintf(out, "%s\n",
		f->engine == ENGINE_LOCAL ? "  # started here, by evspace deploy" : "");
	free(hosts);
}

static void print_address(FILE *out, const struct finding *f)
{
	char port[16], *list;
	struct hostlist all = {0};
	struct error e;
	size_t at;

	snprintf(port, sizeof(port), ":%u", f->port);
	list = column_text(f, COLUMN_ADDRESS, port);
	/* as one word if possible */
	if (!strchr(list, ' ') && hostlist_add(&all, list, &at, &e) == 0)
		fprintf(out, "\taddress %s;\n", list);
	else
		for (size_t i = 0; i < f->n_nodes; i++)
			fprintf(out, "\taddress %s %s%s;\n", f->nodes[i].name,
				node_column(&f->nodes[i], COLUMN_ADDRESS), port);
	hostlist_fini(&all);
	free(list);
}

static void print_cluster(FILE *out, const struct finding *f)
{
	char *names = column_text(f, COLUMN_NAME, "");

	fprintf(out, "# Which hosts there are, and how they are reached.\n");
	fprintf(out, "cluster %s {\n\tnodes %s;\n", f->cluster, names);
	if (f->engine != ENGINE_LOCAL)
		print_address(out, f);
	print_deploy(out, f);
	fprintf(out, "}\n");
	free(names);
}

static char *ranks_statement(const struct finding *f)
{
	if (f->ranks == 0 || f->planned)
		return memory_copy("ranks any;");
	return f->ranks > 1 ? memory_format("ranks rank[0-%u];", f->ranks - 1)
			    : memory_copy("ranks rank0;");
}

static void print_application(FILE *out, const struct finding *f)
{
	char *ranks = ranks_statement(f);

	fprintf(out, "# What the program is.\napplication %s {\n\t%s\n}\n", f->application, ranks);
	free(ranks);
}

/* Consumers connect where the first process is, or to the first host. */
static void print_mapping(FILE *out, const struct finding *f)
{
	size_t entry = f->n_processes ? f->processes[0].node : 0;
	char *places = finding_places(f), *words = finding_words(f);

	fprintf(out, "%sentry %s;\n", words, f->nodes[entry].name);
	if (f->planned) {
		fprintf(out, "# A node holds the ranks that run on it. srun would put them so:\n");
		for (char *rest = places, *line; (line = strsep(&rest, "\n")) != NULL;)
			fprintf(out, "%s%s%s", *line ? "# " : "", line, *line ? "\n" : "");
	} else {
		fputs(places, out);
	}
	free(places);
	free(words);
}

static char *text_of(const struct finding *f, void (*print)(FILE *, const struct finding *))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	print(out, f);
	fclose(out);
	return text;
}

/* In existing maps, only the placement of ranks changes. */
static void texts_revise(const struct finding *f, struct pathmap_texts *texts)
{
	char *places = finding_places(f), *words = finding_words(f), *mapping;
	char *ranks = ranks_statement(f);

	texts->application = revision_replace(f->maps.application, 1, "ranks", ranks);
	texts->cluster = memory_copy(f->maps.cluster);
	mapping = revision_replace(f->maps.mapping, 0, "place", places);
	texts->mapping = revision_head(mapping, words);
	free(mapping);
	free(places);
	free(words);
	free(ranks);
}

int finding_texts(struct finding *f, struct pathmap_texts *texts, struct error *e)
{
	struct pathmap *map;

	utf8_clean(f->what);
	if (f->maps.mapping) {
		texts_revise(f, texts);
	} else {
		name_make(&f->application);
		name_make(&f->cluster);
		texts->application = text_of(f, print_application);
		texts->cluster = text_of(f, print_cluster);
		texts->mapping = text_of(f, print_mapping);
	}
	map = texts_parse(texts, stage_check, e);
	if (!map)
		return -1;
	pathmap_free(map);
	return 0;
}
