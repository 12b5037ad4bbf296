/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses launchers' command lines, and adds what collectors need on other hosts. */
#include "consumers/run/launch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/preload.h"
#include "consumers/cli/subprocess.h"
#include "pathmap/base/memory.h"

/* Time for a launcher to print its version. */
#define VERSION_WITHIN_S 10

#define ENV_LIST     "mca_base_env_list"
#define ENV_LIST_VAR "OMPI_MCA_" ENV_LIST

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(word, *words))
			return true;
	return false;
}

/* ---- which launcher, which program ---- */

static enum launcher find_launcher(const char *command)
{
	static const char *const mpis[] = {"mpirun",	     "mpiexec",
					   "orterun",	     "prterun",
					   "mpirun.openmpi", "mpiexec.openmpi",
					   "mpirun.mpich",   "mpiexec.mpich",
					   "mpiexec.hydra",  NULL};
	const char *name = base_name(command);
	char *const argv[] = {(char *)(uintptr_t)command, (char *)(uintptr_t) "--version", NULL};
	enum launcher launcher = LAUNCHER_INHERITS;
	struct error e;
	char *words;

	if (!strcmp(name, "srun"))
		return LAUNCHER_INHERITS;
	if (!is_one_of(name, mpis))
		return LAUNCHER_NONE;
	/* "mpirun (Open MPI) 4.1.4", "HYDRA build details:" …; Open MPI 5's launcher calls itself
	 * "prterun (PRRTE)" */
	words = subprocess_run(argv, VERSION_WITHIN_S, &e);
	if (words &&
	    (strstr(words, "Open MPI") || strstr(words, "OpenRTE") || strstr(words, "PRRTE")))
		launcher = LAUNCHER_OPEN_MPI;
	else if (words && strstr(words, "HYDRA"))
		launcher = LAUNCHER_HYDRA;
	else
		fprintf(stderr,
			"evspace run: note: '%s --version' does not say which MPI it is%s%s: "
			"ranks on other hosts may not be collected\n",
			command, words ? "" : ": ", words ? "" : e.text);
	free(words);
	return launcher;
}

/* After a launcher: the first word that names a program and is not an option's value. */
static const char *find_program(const struct launch *launch)
{
	static const char *const takers[] = {"--map-by",
					     "-map-by",
					     "--rank-by",
					     "-rank-by",
					     "--bind-to",
					     "-bind-to",
					     "-x",
					     "--mca",
					     "-mca",
					     "--output-filename",
					     "-launcher",
					     "-bootstrap",
					     "-launcher-exec",
					     "-bootstrap-exec",
					     "-rmk",
					     "-f",
					     "-wdir",
					     NULL};
	char path[PATH_MAX];
	char **word = launch->argv;

	if (launch->launcher == LAUNCHER_NONE)
		return *word;
	while (*++word) {
		if (is_one_of(*word, takers) && word[1])
			word++;
		else if (**word != '-' && subprocess_find(*word, path, sizeof(path)))
			return *word;
	}
	return launch->argv[0];
}

void launch_init(struct launch *launch, char *const *argv)
{
	size_t n = 0;

	while (argv[n])
		n++;
	launch->argv = memory_new(n + 1, sizeof(char *));
	for (size_t i = 0; i < n; i++)
		launch->argv[i] = memory_copy(argv[i]);
	launch->launcher = find_launcher(argv[0]);
	launch->program = find_program(launch);
	launch->inherits =
		launch->launcher != LAUNCHER_OPEN_MPI && launch->launcher != LAUNCHER_HYDRA;
}

void launch_fini(struct launch *launch)
{
	for (char **word = launch->argv; word && *word; word++)
		free(*word);
	free(launch->argv);
	launch->argv = NULL;
}

char *launch_complaint(const struct launch *launch)
{
	return program_complaint(launch->program);
}

/* ---- forwarding ---- */

/* The value after "-mca KEY" or "--mca KEY", or NULL. */
static char **find_mca(const struct launch *launch, const char *key)
{
	static const char *const options[] = {"-mca", "--mca", "-gmca", "--gmca", NULL};

	for (char **word = launch->argv + 1; *word && word[1] && word[2]; word++)
		if (is_one_of(*word, options) && !strcmp(word[1], key))
			return word + 2;
	return NULL;
}

static void replace(char **text, char *by)
{
	free(*text);
	*text = by;
}

/* Is @variable in the list "A;B=1;C"? */
static bool list_names(const char *list, const char *variable, char delimiter)
{
	size_t n = strlen(variable);

	for (; list; list = strchr(list, delimiter), list += list != NULL)
		if (!strncmp(list, variable, n) && strchr((char[]){'=', delimiter, 0}, list[n]))
			return true;
	return false;
}

static char *list_longer(char *list, const char *preload, const char *const *variables,
			 char delimiter)
{
	replace(&list, memory_format("%s%cLD_PRELOAD=%s", list, delimiter, preload));
	for (; *variables; variables++)
		if (getenv(*variables) && !list_names(list, *variables, delimiter))
			replace(&list, memory_format("%s%c%s", list, delimiter, *variables));
	return list;
}

static char list_delimiter(const struct launch *launch)
{
	char **given = find_mca(launch, ENV_LIST "_delimiter");
	const char *delimiter = given ? *given : getenv(ENV_LIST_VAR "_delimiter");

	return delimiter && *delimiter ? *delimiter : ';';
}

/* The options of one part of a command line; new ones go before them. */
struct launch_part {
	char **from, **to; /* from the word after "mpirun" or ":" to the next ":" or the end */
};

/* The user's "-x NAME" or "-x NAME=value", or NULL. */
static char **find_x(const struct launch_part *part, const char *name)
{
	size_t n = strlen(name);

	for (char **word = part->from; word + 1 < part->to; word++)
		if (!strcmp(*word, "-x") && !strncmp(word[1], name, n) &&
		    (!word[1][n] || word[1][n] == '='))
			return word + 1;
	return NULL;
}

static char **add_x(char **to, char *text)
{
	*to++ = memory_copy("-x");
	*to++ = text;
	return to;
}

/* Copy the options that @part lacks to @to. Returns the place after them. */
static char **add_missing(char **to, const struct launch_part *part, const char *preload,
			  const char *const *variables)
{
	char **theirs = find_x(part, "LD_PRELOAD"), *value;

	if (!theirs) {
		to = add_x(to, memory_format("LD_PRELOAD=%s", preload));
	} else {
		/* "-x LD_PRELOAD" means the environment's value, which @preload includes */
		value = strchr(*theirs, '=');
		value = value ? preload_value(preload, value + 1) : memory_copy(preload);
		replace(theirs, memory_format("LD_PRELOAD=%s", value));
		free(value);
	}
	for (; *variables; variables++)
		if (getenv(*variables) && !find_x(part, *variables))
			to = add_x(to, memory_copy(*variables));
	return to;
}

static void forward_by_x(struct launch *launch, const char *preload, const char *const *variables)
{
	size_t n = 0, parts = 1, each = 2, i;
	struct launch_part part;
	char **argv, **to;

	for (i = 0; launch->argv[i]; i++, n++)
		parts += !strcmp(launch->argv[i], ":");
	for (i = 0; variables[i]; i++)
		each += 2;
	argv = memory_new(n + parts * each + 1, sizeof(char *));
	to = argv;
	part.to = launch->argv;
	while (*part.to) {
		*to++ = *part.to; /* mpirun, or the colon */
		part.from = ++part.to;
		while (*part.to && strcmp(*part.to, ":") != 0)
			part.to++;
		to = add_missing(to, &part, preload, variables);
		memcpy(to, part.from, (size_t)(part.to - part.from) * sizeof(char *));
		to += part.to - part.from;
	}
	free(launch->argv);
	launch->argv = argv;
}

/* The value in "-genv NAME VALUE", or "-env NAME VALUE" of one part, from @word on; or NULL. */
static char **find_genv(char **word, const char *name)
{
	static const char *const options[] = {"-genv", "-env", NULL};

	for (; *word && word[1] && word[2]; word++)
		if (is_one_of(*word, options) && !strcmp(word[1], name))
			return word + 2;
	return NULL;
}

static char **add_genv(char **to, const char *name, const char *value)
{
	*to++ = memory_copy("-genv");
	*to++ = memory_copy(name);
	*to++ = memory_copy(value);
	return to;
}

/* The user's options come after ours, and therefore hold. */
static void forward_by_genv(struct launch *launch, const char *preload,
			    const char *const *variables)
{
	size_t n = 0, more = 1;
	char **argv, **to, **value;

	while (launch->argv[n])
		n++;
	for (; variables[more - 1]; more++)
		;
	for (value = launch->argv + 1; (value = find_genv(value, "LD_PRELOAD")); value++)
		replace(value, preload_value(preload, *value));
	argv = memory_new(n + 3 * more + 1, sizeof(char *));
	to = argv;
	*to++ = launch->argv[0];
	to = add_genv(to, "LD_PRELOAD", preload);
	for (; *variables; variables++)
		if (getenv(*variables))
			to = add_genv(to, *variables, getenv(*variables));
	memcpy(to, launch->argv + 1, (n - 1) * sizeof(char *));
	free(launch->argv);
	launch->argv = argv;
}

void launch_forward(struct launch *launch, const char *preload, const char *const *variables)
{
	static const char *const files[] = {"-app", "--app", NULL};
	const char *set = getenv(ENV_LIST_VAR);
	char **given, *list;

	if (launch->launcher == LAUNCHER_HYDRA)
		forward_by_genv(launch, preload, variables);
	if (launch->launcher != LAUNCHER_OPEN_MPI)
		return;
	/* an application file has its own options for each part: only inherited variables get
	 * there */
	for (char **word = launch->argv; *word; word++)
		launch->inherits |= is_one_of(*word, files);
	given = find_mca(launch, ENV_LIST);
	if (given) {
		*given = list_longer(*given, preload, variables, list_delimiter(launch));
	} else if (set && *set) {
		list = list_longer(memory_copy(set), preload, variables, list_delimiter(launch));
		setenv(ENV_LIST_VAR, list, 1);
		free(list);
	} else {
		forward_by_x(launch, preload, variables);
	}
}

/* ---- hosts ---- */

/* "a:2,b[0-3]" or a line of a hostfile, "a slots=2": names, without what follows them. */
static void add_hosts(struct hostlist *hosts, char *text)
{
	char *save = NULL, *word;
	size_t at;

	text[strcspn(text, "# \t\r\n")] = '\0';
	for (word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		word[strcspn(word, ":")] = '\0';
		if (*word && *word != '+')
			(void)hostlist_add(hosts, word, &at, NULL);
	}
}

static void add_hostfile(struct hostlist *hosts, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;

	while (file && getline(&line, &room, file) > 0)
		add_hosts(hosts, line);
	free(line);
	if (file)
		fclose(file);
}

void launch_hosts(const struct launch *launch, struct hostlist *hosts)
{
	static const char *const lists[] = {"-host", "--host", "-H", "-hosts", NULL};
	static const char *const files[] = {
		"-hostfile",	     "--hostfile",	   "-machinefile", "--machinefile",
		"-default-hostfile", "--default-hostfile", "-f",	   NULL};
	const char *file = launch->launcher == LAUNCHER_HYDRA
				   ? getenv("HYDRA_HOST_FILE")
				   : getenv("OMPI_MCA_orte_default_hostfile");
	const char *slurm = getenv("SLURM_JOB_NODELIST");
	size_t before = hosts->n, at;
	char *list;

	for (char **word = launch->argv + 1; *word && word[1]; word++) {
		if (is_one_of(*word, lists)) {
			list = memory_copy(word[1]);
			add_hosts(hosts, list);
			free(list);
		} else if (is_one_of(*word, files)) {
			add_hostfile(hosts, word[1]);
		}
	}
	if (hosts->n == before && launch->launcher >= LAUNCHER_OPEN_MPI && file)
		add_hostfile(hosts, file);
	if (hosts->n == before && launch->launcher != LAUNCHER_NONE && slurm)
		(void)hostlist_add(hosts, slurm, &at, NULL);
}
