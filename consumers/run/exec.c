/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace exec: becomes a program that is collected from, one process at a time. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/command.h"
#include "consumers/cli/help.h"
#include "consumers/cli/options.h"
#include "consumers/cli/preload.h"
#include "consumers/run/program.h"
#include "pathmap/model/pathmap.h"
#include "tree/stage/stage.h"

static const char exec_help[] =
	"usage: evspace exec [options] [--] PROGRAM [ARG...]\n"
	"\n"
	"Become PROGRAM, with its communication on record: for launchers that start each process,\n"
	"where evspace run cannot stand in front. All processes of a job share a run.\n"
	"\n"
	"  --run NAME       what the run is called (default: run- and what the launcher calls the\n"
	"                   job: PMIX_NAMESPACE, or SLURM_JOB_ID.SLURM_STEP_ID;\n"
	"                   PVM tasks: pvm-UID, with PVM_VMID if that is set)\n"
	"  --pathmap DIR    take what is collected from DIR/application.map\n"
	"  --help           this text\n";

/* Behind what flags_help() says. */
static const char exec_help_end[] =
	"\n"
	"The exit code is the program's; 125 when it could not be started. The elements stay "
	"until\n"
	"an agent's retention ends, or evspace purge.\n"
	"\n"
	"examples:\n"
	"  mpirun -np 2 evspace exec ./app\n"
	"  srun -n 64 evspace exec --run night ./app\n";

/* Those of its own; behind them come those that say what is collected. */
static const struct option own_options[] = {
	{"pathmap", required_argument, NULL, 'p'},
	{"help", no_argument, NULL, 'h'},
};

#define OWN_OPTIONS (sizeof(own_options) / sizeof(own_options[0]))

static int exec_options_parse(int argc, char **argv, struct preload_options *o,
			      const char **pathmap)
{
	struct option options[OWN_OPTIONS + FLAG_OPTIONS];
	int c;

	memcpy(options, own_options, sizeof(own_options));
	flags_options(options + OWN_OPTIONS);
	while ((c = options_next(argc, argv, false, options, NULL)) != -1) {
		if (flags_take(&o->flags, c, optarg))
			continue;
		switch (c) {
		case 'p':
			*pathmap = optarg;
			break;
		case 'h':
			help_print(exec_help);
			flags_help();
			help_print(exec_help_end);
			exit(EXIT_FINE);
		default:
			return -1;
		}
	}
	if (optind < argc)
		return 0;
	fputs("evspace exec: which program? as in: mpirun -np 2 evspace exec ./app\n", stderr);
	return -1;
}

/* Set the environment. Returns 0, or -1 with errno and @e. */
static int exec_prepare(const struct preload_options *o, struct error *e)
{
	struct settings settings;
	char library[PATH_MAX];
	char *preload;

	if (preload_library(library, sizeof(library), e) || preload_settings(o, &settings, e))
		return -1;
	/* What the program starts in its turn belongs to the same run. */
	setenv("EVSPACE_RUN", settings.run, 1);
	preload = preload_value(library, getenv("LD_PRELOAD"));
	setenv("LD_PRELOAD", preload, 1);
	free(preload);
	preload_export();
	return 0;
}

int exec_main(int argc, char **argv)
{
	struct preload_options o = {.map = NULL};
	const char *pathmap = NULL;
	struct pathmap *map = NULL;
	struct error e = {""};
	char *why;
	int rc;

	if (exec_options_parse(argc, argv, &o, &pathmap))
		return EXIT_USAGE;
	if (pathmap)
		o.map = map = preload_pathmap("exec", pathmap, &e);
	rc = pathmap && !map ? -1 : exec_prepare(&o, &e);
	pathmap_free(map);
	if (!rc) {
		why = program_complaint(argv[optind]);
		if (why)
			fprintf(stderr, "evspace exec: %s\n", why);
		free(why);
		execvp(argv[optind], argv + optind);
		errorf(&e, "%s: %s", argv[optind],
		       errno == ENOENT ? "not found; is it in PATH, or does it need ./ in front?"
				       : strerror(errno));
	}
	fprintf(stderr, "evspace exec: %s\n", e.text);
	return EXIT_RUN_FAILED;
}
