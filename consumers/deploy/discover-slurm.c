/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the nodes of a job of Slurm, and which of them have its tasks, by Slurm's own commands. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/deploy/discover.h"
#include "consumers/cli/subprocess.h"
#include "pathmap/model/hostlist.h"
#include "pathmap/base/interval.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"

/* Slurm's commands try a dead controller for 18 s. */
#define WITHIN_S 10

/* Steps without ranks: the job's own shells, what mpirun and mpiexec start, and agents. */
static const char *const no_ranks[] = {"orted", "prted", "hydra_pmi_proxy", "hydra_bstrap_proxy",
				       "evspace-agents"};

/* Run one of Slurm's commands. NULL with @e, which says what to do. */
static char *slurm_ask(const char *const *words, struct error *e)
{
	char *argv[8] = {NULL}, *text;
	struct error why;
	size_t n = 0;

	for (; words[n]; n++)
		argv[n] = memory_copy(words[n]);
	text = subprocess_run(argv, WITHIN_S, &why);
	if (!text && errno == ENOENT)
		errorf(e, "%s; install slurm-client", why.text);
	else if (!text && strstr(why.text, "Invalid job id"))
		errorf(e,
		       "Slurm does not know such a job any more, or never did (squeue --me lists "
		       "yours)");
	else if (!text)
		errorf(e, "%s%s", why.text,
		       strstr(why.text, "ontact") || strstr(why.text, "within")
			       ? "; is slurmctld up (scontrol ping)?"
			       : "");
	for (size_t i = 0; i < n; i++)
		free(argv[i]);
	return text;
}

/* ---- Slurm's texts ---- */

/* The value of KEY=VALUE in @text, up to the next blank, for the caller to free(); NULL: none. */
static char *value_of(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *p = text; (p = strstr(p, key)) != NULL; p += n)
		if ((p == text || isspace((unsigned char)p[-1])) && p[n] == '=')
			return memory_copy_bytes(p + n + 1, strcspn(p + n + 1, " \n"));
	return NULL;
}

static unsigned number_of(const char *text, const char *key)
{
	char *value = value_of(text, key);
	unsigned n = value ? (unsigned)strtoul(value, NULL, 10) : 0;

	free(value);
	return n;
}

/* scontrol's text about a job, without the job's name, which may look like Slurm's own words. For
 * the caller to free(); NULL with @e. */
static char *text_nameless(const char *text, struct error *e)
{
	const char *name = strstr(text, " JobName="), *end = name ? strstr(name, " UserId=") : NULL;

	if (!end)
		return memory_copy(text);
	if (strstr(end + 1, " UserId=")) {
		errorf(e,
		       "what scontrol says of the job can be read in several ways: UserId= is in "
		       "its name, or in a comment; scontrol update JobName=... helps");
		return NULL;
	}
	return memory_format("%.*s%s", (int)(name - text), text, end);
}

/* How many numbers are in "0-3,8". */
static unsigned count_of(const char *list)
{
	struct interval next;
	unsigned n = 0;

	while (interval_next(&list, &next))
		n += next.to > next.from ? (unsigned)(next.to - next.from) : 0;
	return n;
}

/* ---- tasks ---- */

static void task_add(struct finding *f, unsigned rank, size_t node)
{
	struct finding_process p;

	if (rank >= f->ranks)
		f->ranks = rank + 1;
	/* finding_order() refuses them all */
	if (rank >= RANKS_MAX)
		return;
	p = (struct finding_process){
		.number = (int32_t)rank,
		.node = node,
		.name = memory_format("rank%u", rank),
		.program = memory_copy(""),
		.cpus = memory_copy(""),
		.sure = true,
	};
	finding_process(f, &p);
}

/* "\tNode 0 (b0), 2 task(s): 0 1": sattach --layout prints where a step's tasks are. */
static void layout_take(struct finding *f, const char *text)
{
	for (const char *p = text; (p = strstr(p, "Node ")) != NULL; p++) {
		const char *name = strchr(p, '('), *tasks = strstr(p, "task(s):");
		char *node, *end;
		size_t at;

		if (!name || !tasks)
			return;
		node = memory_copy_bytes(name + 1, strcspn(name + 1, ")"));
		at = finding_node(f, node);
		free(node);
		for (tasks += strlen("task(s):"); *tasks == ' '; tasks = end) {
			unsigned long rank = strtoul(tasks, &end, 10);

			if (end == tasks || rank >= INT32_MAX)
				break;
			task_add(f, (unsigned)rank, at);
		}
	}
}

/* CPUs of the job on each node, from `scontrol show job -d`: "Nodes=b[1-2] CPU_IDs=0,2-3". */
static int cpus_read(const struct finding *f, const char *job, unsigned *cpus, struct error *e)
{
	int rc = 0;

	for (const char *p = job; rc == 0 && (p = strstr(p, " Nodes=")) != NULL; p++) {
		char *list = value_of(p, "Nodes"), *ids = value_of(p, "CPU_IDs");
		struct hostlist names = {0};
		size_t at;

		rc = hostlist_add(&names, list, &at, e);
		for (size_t i = 0; ids && i < names.n; i++)
			for (size_t k = 0; k < f->n_nodes; k++)
				if (strcmp(f->nodes[k].name, names.names[i]) == 0)
					cpus[k] += count_of(ids);
		hostlist_fini(&names);
		free(list);
		free(ids);
	}
	return rc;
}

/* Where srun would put the job's tasks (srun(1), --distribution block): one on each node, then node
 * by node as many as it has CPUs for. */
static int layout_plan(struct finding *f, const char *job, struct error *e)
{
	unsigned *room = memory_new(f->n_nodes + 1, sizeof(*room)), rank = 0;
	unsigned tasks = number_of(job, "NumTasks"), each = number_of(job, "CPUs/Task");
	unsigned left = tasks > f->n_nodes ? tasks - (unsigned)f->n_nodes : 0;
	int rc = cpus_read(f, job, room, e);

	for (size_t i = 0; rc == 0 && i < f->n_nodes && rank < tasks; i++) {
		unsigned fit = room[i] / (each ? each : 1), more = fit > 1 ? fit - 1 : 0;

		more = more < left ? more : left;
		left -= more;
		for (unsigned k = 0; k <= more; k++)
			task_add(f, rank++, i);
	}
	f->planned = true;
	free(room);
	return rc;
}

/* ---- steps ---- */

static bool has_ranks(const char *step, const char *name)
{
	const char *kind = strchr(step, '.');

	if (!kind || !isdigit((unsigned char)kind[1]))
		return false;
	for (size_t i = 0; i < sizeof(no_ranks) / sizeof(no_ranks[0]); i++)
		if (strcmp(name, no_ranks[i]) == 0)
			return false;
	return true;
}

/* The only step of the job that may have ranks, for the caller to free(); NULL: there is none, or
 * several, which are listed in *@several. */
static char *step_find(const char *job, char **several, struct error *e)
{
	const char *words[] = {"squeue", "-h", "-s", "-j", job, "-o", "%i %j", NULL};
	char *text = slurm_ask(words, e), *rest = text, *line, *step = NULL;

	*several = NULL;
	while (text && (line = strsep(&rest, "\n")) != NULL) {
		char *name = line, *id = strsep(&name, " "), *longer;

		if (!name || !has_ranks(id, name))
			continue;
		if (step) {
			longer = memory_format("%s %s (%s)", *several ? *several : step, id, name);
			free(*several);
			*several = longer;
		} else {
			step = memory_copy(id);
		}
	}
	free(text);
	if (!*several)
		return step;
	free(step);
	return NULL;
}

static int step_take(struct finding *f, const char *step, struct error *e)
{
	const char *words[] = {"sattach", "--layout", step, NULL};
	char *text = slurm_ask(words, e);

	if (!text)
		return -1;
	f->missing = ": sattach --layout does not say where";
	layout_take(f, text);
	free(text);
	return 0;
}

/* ---- the job ---- */

/* The nodes' addresses: their names, unless Slurm itself has others. */
static int nodes_take(struct finding *f, const char *list, struct error *e)
{
	const char *words[] = {"scontrol", "show", "node", "-o", list, NULL};
	char *text = slurm_ask(words, e), *rest = text, *line;
	struct hostlist names = {0};
	size_t position;
	int rc = text ? hostlist_add(&names, list, &position, e) : -1;

	if (rc == 0)
		rc = finding_nodes_check(names.n, e);
	for (size_t i = 0; rc == 0 && i < names.n; i++)
		finding_node(f, names.names[i]);
	while (rc == 0 && (line = strsep(&rest, "\n")) != NULL) {
		char *name = value_of(line, "NodeName"), *address = value_of(line, "NodeAddr");

		for (size_t i = 0; name && address && i < f->n_nodes; i++) {
			if (strcmp(f->nodes[i].name, name) != 0 || strcmp(name, address) == 0)
				continue;
			/* srun needs Slurm's own name of it */
			f->nodes[i].address = memory_copy(address);
			f->nodes[i].host = memory_copy(name);
		}
		free(name);
		free(address);
	}
	hostlist_fini(&names);
	free(text);
	return rc;
}

static int job_check(const char *text, const char *job, struct error *e)
{
	char *state = value_of(text, "JobState");
	int rc = 0;

	if (!state)
		rc = errorf(e, "what scontrol says of job %s cannot be understood", job);
	else if (strcmp(state, "PENDING") == 0 || strcmp(state, "CONFIGURING") == 0)
		rc = errorf(e, "job %s waits (%s) and has no nodes yet", job, state);
	else if (strcmp(state, "RUNNING") != 0 && strcmp(state, "SUSPENDED") != 0)
		rc = errorf(e, "job %s has no nodes any more: it is %s", job, state);
	free(state);
	return rc;
}

static void job_name(struct finding *f, const char *text, const char *job)
{
	const char *name = strstr(text, "JobName="), *end = name ? strstr(name, " UserId=") : NULL;

	f->application = name && end ? memory_copy_bytes(name + 8, (size_t)(end - name) - 8)
				     : memory_format("job%s", job);
}

static void job_describe(struct finding *f, const char *job, const char *step)
{
	const char *cluster = getenv("SLURM_CLUSTER_NAME");

	f->cluster = memory_copy(cluster ? cluster : "slurm");
	f->engine = ENGINE_SLURM;
	if (step)
		f->what = memory_format("step %s of Slurm, %u rank%s", step, f->ranks,
					plural(f->ranks, "s"));
	else
		f->what = memory_format("job %s of Slurm, %zu node%s, which has no step with ranks "
					"now",
					job, f->n_nodes, plural(f->n_nodes, "s"));
}

/* Where its tasks are: those of the named step, of its only one, or where they would be. */
static int tasks_take(struct finding *f, const char *text, const char *job, const char *named,
		      struct error *e)
{
	struct error why = {""};
	char *several = NULL, *step;
	int code = EXIT_FINE;

	step = named ? memory_copy(named) : step_find(job, &several, &why);
	if (why.text[0] || several) {
		code = several ? EXIT_USAGE : EXIT_BAD_NEWS;
		errorf(e, several ? "job %s has several steps; say which with --slurm: %s" : "%s%s",
		       several ? job : why.text, several ? several : "");
	} else if ((step ? step_take(f, step, e) : layout_plan(f, text, e)) < 0) {
		code = EXIT_BAD_NEWS;
	} else {
		job_describe(f, job, step);
		code = finding_order(f, e) < 0 ? EXIT_BAD_NEWS : EXIT_FINE;
	}
	free(several);
	free(step);
	return code;
}

int discover_slurm(struct finding *f, const char *job, struct error *e)
{
	char *number = memory_copy_bytes(job, strcspn(job, ".")), *text, *fields, *list;
	const char *words[] = {"scontrol", "show", "job", "-d", "-o", number, NULL};
	int code = EXIT_BAD_NEWS;

	if (!*number || number[strspn(number, "0123456789_+")]) {
		errorf(e,
		       "'%s' is not a job of Slurm; write its number, or that of a step: 42, 42.0",
		       job);
		free(number);
		return EXIT_USAGE;
	}
	text = slurm_ask(words, e);
	fields = text ? text_nameless(text, e) : NULL;
	list = fields ? value_of(fields, "NodeList") : NULL;
	if (fields)
		job_name(f, text, number);
	if (fields && job_check(fields, number, e) == 0 && list && nodes_take(f, list, e) == 0)
		code = tasks_take(f, fields, number, strchr(job, '.') ? job : NULL, e);
	free(list);
	free(fields);
	free(text);
	free(number);
	return code;
}
