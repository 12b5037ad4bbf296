/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace exec: becomes a program that is collected from, one process at a time. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/command.h"
#include "consumers/cli/preload.h"
#include "consumers/run/launch.h"
#include "pathmap/model/pathmap.h"
#include "tree/stage/stage.h"

static const char exec_help[] =
	"usage: evspace exec [options] [--] PROGRAM [ARG...]\n"
	"\n"
	"Become PROGRAM, with its communication on record: for launchers that start each\n"
	"process, where evspace run cannot stand in front. All processes of a job share a\n"
	"run.\n";

/* after its options */
static const char exec_more[] =
	"The exit code is the program's; 125 when it could not be started. The elements\n"
	"stay until an agent's retention ends, or evspace purge.\n"
	"\n"
	"examples:\n"
	"  mpirun -np 2 evspace exec ./app\n"
	"  srun -n 64 evspace exec --run night ./app\n";

struct exec {
	struct common common; /* its words: the program's */
	struct preload_options collect;
	const char *pathmap;
};

static const struct option_row exec_rows[] = {
	{"run", "NAME", OPTION_TEXT, .at = offsetof(struct exec, collect.flags.said[FLAG_RUN]),
	 .help = "what the run is called (default: run- and what the launcher calls the job: "
		 "PMIX_NAMESPACE, or SLURM_JOB_ID.SLURM_STEP_ID; PVM tasks: pvm-UID, with "
		 "PVM_VMID if that is set)"},
	{"pathmap", "DIR", OPTION_TEXT, .at = offsetof(struct exec, pathmap),
	 .help = "take what is collected from DIR/application.map"},
	{0},
};

static const struct usage exec_usage = {
	.help = exec_help,
	.after = exec_more,
	.own = exec_rows,
	.more = flag_rows,
	.more_at = offsetof(struct exec, collect.flags),
	.program = true,
};

/* Set the environment. Returns 0, or -1 with errno and @e. */
static int exec_prepare(const struct preload_options *o, struct error *e)
{
	struct settings settings;
	char library[PATH_MAX];
	char *preload;

	if (preload_library(library, sizeof(library), e) || preload_settings(o, &settings, e))
		return -1;
	/* programs that it starts belong to the same run */
	setenv("EVSPACE_RUN", settings.run, 1);
	preload = preload_value(library, getenv("LD_PRELOAD"));
	setenv("LD_PRELOAD", preload, 1);
	free(preload);
	preload_export();
	return 0;
}

int exec_main(int argc, char **argv)
{
	struct exec x = {.pathmap = NULL};
	int code = options_parse(argc, argv, &exec_usage, &x, &x.common), rc;
	char **words = x.common.words;
	struct pathmap *map = NULL;
	struct error e = {""};
	char *why;

	if (code >= 0)
		return code;
	if (x.common.n_words == 0) {
		fputs("evspace exec: which program? as in: mpirun -np 2 evspace exec ./app\n",
		      stderr);
		return EXIT_USAGE;
	}
	if (x.pathmap)
		x.collect.map = map = preload_pathmap("exec", x.pathmap, &e);
	rc = x.pathmap && !map ? -1 : exec_prepare(&x.collect, &e);
	pathmap_free(map);
	if (!rc) {
		why = program_complaint(words[0]);
		if (why)
			fprintf(stderr, "evspace exec: %s\n", why);
		free(why);
		execvp(words[0], words);
		errorf(&e, "%s: %s", words[0],
		       errno == ENOENT ? "not found; is it in PATH, or does it need ./ in front?"
				       : strerror(errno));
	}
	fprintf(stderr, "evspace exec: %s\n", e.text);
	return EXIT_RUN_FAILED;
}
