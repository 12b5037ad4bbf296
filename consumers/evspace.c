/* SPDX-License-Identifier: BSD-3-Clause */
/* The evspace command: finds the subcommand and hands over to it. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "consumers/command.h"
#include "pathmap/directive.h"

/* In the order of a user's day. */
static const struct command commands[] = {
	{"run", "start a program, monitored: evspace run -- mpirun -np 8 ./app", run_main},
	{"exec", "the same per process: mpirun -np 8 evspace exec ./app", exec_main},
	{"heartbeat", "what each thread does now, and who is stuck waiting for whom",
	 heartbeat_main},
	{"events", "every communication event, as text, JSON or CSV", events_main},
	{"view", "any view's answer: rates, histograms, matrices, the slowest events", view_main},
	{"collect", "what is collected of a running program, by class; switches it", collect_main},
	{"discard", "drops the events that elements hold", discard_main},
	{"status", "an agent, its processes, and why something is not collected", status_main},
	{"runs", "the runs whose elements this host holds", runs_main},
	{"purge", "remove the elements of runs that ended", purge_main},
	{"map", "check a pathmap, show the gather trees that it makes", map_main},
	{"doctor", "check what this host has for EventSpace; measure what waves cost here",
	 doctor_main},
	{"deploy", "start the agents of a pathmap on all its hosts, end them, show how they are",
	 deploy_main},
	{"agent", "the daemon of a node: holds elements, runs its part of gather trees",
	 agent_main},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(FILE *out)
{
	fputs("usage: evspace COMMAND [options]\n"
	      "\n"
	      "Watch what the communication of parallel programs does, while they run.\n"
	      "\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("\n"
	      "evspace COMMAND --help tells more. A first look, all on this host:\n"
	      "\n"
	      "  evspace agent &\n"
	      "  evspace run -- mpirun -np 4 ./your-program &\n"
	      "  evspace heartbeat\n",
	      out);
}

static const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

/* With a first word that getopt(3) may begin its messages with. */
static int command_run(const struct command *command, int argc, char **argv)
{
	char name[32];

	snprintf(name, sizeof(name), "evspace %s", command->name);
	argv[0] = name;
	return command->main(argc, argv);
}

int main(int argc, char **argv)
{
	const struct command *command;
	const char *names[COMMANDS], *nearest;

	if (argc < 2) {
		help(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0) {
		if (argc > 2 && (command = command_find(argv[2]))) {
			char ask[] = "--help", *args[] = {argv[2], ask, NULL};

			return command_run(command, 2, args);
		}
		help(stdout);
		return EXIT_FINE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("evspace " PACKAGE_VERSION);
		return EXIT_FINE;
	}
	command = command_find(argv[1]);
	if (command)
		return command_run(command, argc - 1, argv + 1);
	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	nearest = word_nearest(argv[1], names, COMMANDS);
	fprintf(stderr, "evspace: there is no command '%s'; %s%s%sevspace --help lists them\n",
		argv[1], nearest ? "did you mean '" : "", nearest ? nearest : "",
		nearest ? "'? " : "");
	return EXIT_USAGE;
}
