/* SPDX-License-Identifier: BSD-3-Clause */
/* The evspace command: finds the subcommand and runs it. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/command.h"
#include "consumers/cli/status-line.h"
#include "pathmap/grammar/directive.h"
#include "node-agent/store/monitor.h"
#include "pathmap/base/folder-base.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/utf8.h"
#include "tree/data/process.h"
#include "consumers/client/client-monitor.h"

/* in the order of a user's day */
static const struct command commands[] = {
	{"run", "start a program, monitored: evspace run -- mpirun -np 2 ./app", run_main, false},
	{"exec", "the same per process: mpirun -np 2 evspace exec ./app", exec_main, false},
	{"watch", "runs a program, says what goes wrong in it, keeps what led to it", watch_main,
	 true},
	{"heartbeat", "what each thread does now, and who is stuck waiting for whom",
	 heartbeat_main, true},
	{"events", "every communication event, as text, JSON or CSV", events_main, true},
	{"view", "any view's answer: rates, histograms, matrices, the slowest events", view_main,
	 true},
	{"colop", "who is late in collective operations, how often, what that costs", colop_main,
	 true},
	{"archive", "keeps what comes of a run in a folder, for --from DIR of consumers",
	 archive_main, true},
	{"export", "events as OTF2, CTF, Perfetto, Paje, CSV or JSON lines", export_main, true},
	{"collect", "what is collected of a running program, by class; switches it", collect_main,
	 true},
	{"discard", "drops the events that elements hold", discard_main, true},
	{"status", "an agent, its processes, and why something is not collected", status_main,
	 true},
	{"perturb", "what collecting and looking do to a running program, by experiment",
	 perturb_main, true},
	{"phase", "an execution as a path through phase space: entropy, components", phase_main,
	 false},
	{"mir", "answers requests of MIR (APART) in XML about a running program", mir_main, true},
	{"tune", "what looking costs a running program at which rate, as a curve", tune_main, true},
	{"plan", "which event classes to trace and which to sample, under a budget", plan_main,
	 false},
	{"entropy", "how much each event of a sequence tells", entropy_main, false},
	{"element", "elements of programs on this host: make, write, read, wait for them",
	 element_main, false},
	{"runs", "the runs whose elements this host holds, or all hosts of a map", runs_main, true},
	{"purge", "remove the elements of runs that ended", purge_main, false},
	{"profile", "remember where to look and as whom, for --profile NAME", profile_main, false},
	{"map", "check a pathmap, show the gather trees that it makes", map_main, true},
	{"doctor", "check what this host has for EventSpace; measure what waves cost", doctor_main,
	 true},
	{"deploy", "start a pathmap's agents on all its hosts, end them, show them", deploy_main,
	 true},
	{"agent", "the daemon of a node: holds elements, runs its part of gather trees", agent_main,
	 false},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(FILE *out)
{
	fputs("usage: evspace [--profile NAME] COMMAND [options]\n"
	      "\n"
	      "Watch what the communication of parallel programs does, while they run.\n"
	      "\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("\n"
	      "evspace --profile NAME COMMAND looks where `evspace profile save NAME` says.\n"
	      "evspace COMMAND --help tells more. A first look, all on this host:\n"
	      "\n"
	      "  evspace agent &\n"
	      "  evspace run -- mpirun -np 2 ./your-program &\n"
	      "  evspace heartbeat\n"
	      "\n"
	      "exit codes of all commands:\n"
	      "\n"
	      "  0    all is well, or it was done\n"
	      "  1    it failed, there is no such run, or bad news: somebody is stuck, a host\n"
	      "       does not answer\n"
	      "  2    wrong options or arguments: no such view or certificate, several runs\n"
	      "       and none named\n"
	      "  3    no connection to an agent, or it refuses\n"
	      "  125  run, exec: evspace itself failed; else the program's exit code\n",
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

/* "evspace", or with the command after it, for messages */
static char speaker[32] = "evspace";

/* Report a failed write to stdout: only a reader that closed the pipe knows of it already. */
static void output_end(void)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (fflush(stdout) == 0 && !failed)
		return;
	/* try once more to get the error of an earlier failure */
	if (errno == 0 && write(STDOUT_FILENO, "\n", 1) > 0)
		errno = 0;
	if (errno == EPIPE)
		return;
	fprintf(stderr, "%s: cannot write the output%s%s\n", speaker, errno ? ": " : "",
		errno ? strerror(errno) : "");
	_exit(EXIT_BAD_NEWS);
}

/* getopt(3) begins its messages with argv[0]. */
static int command_run(const struct command *command, int argc, char **argv)
{
	snprintf(speaker, sizeof(speaker), "evspace %s", command->name);
	argv[0] = speaker;
	return command->main(argc, argv);
}

/* Take `--profile NAME` before the command, which is the same as after it. Returns how many words
 * it takes, or -1 if there is no name. */
static int profile_take(int argc, char **argv, const char **name)
{
	static const char flag[] = "--profile";
	size_t n = strlen(flag);

	*name = NULL;
	if (argc < 2 || strncmp(argv[1], flag, n) != 0 || (argv[1][n] && argv[1][n] != '='))
		return 0;
	if (argv[1][n] == '=') {
		*name = argv[1] + n + 1;
		return 1;
	}
	*name = argc > 2 ? argv[2] : NULL;
	return *name ? 2 : -1;
}

static int command_unknown(const char *name)
{
	const char *names[COMMANDS], *nearest;

	if (name[0] == '-') {
		fprintf(stderr,
			"evspace: there is no option '%s' before a command, but --profile, --help "
			"and --version; others come after the command: evspace heartbeat --connect "
			"ADDR\n",
			name);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	nearest = word_nearest(name, names, COMMANDS);
	fprintf(stderr, "evspace: there is no command '%s'; %s%s%sevspace --help lists them\n",
		name, nearest ? "did you mean '" : "", nearest ? nearest : "",
		nearest ? "'? " : "");
	return EXIT_USAGE;
}

/* Put what clients record of themselves (--monitored) where agents show it. */
static struct monitor *recorder_begin(const char *host, struct error *e)
{
	char base[FOLDER_BASE];
	const struct monitor_plan plan = {
		.base = base, .process = PROCESS_CONSUMER, .host = host, .keep = true};
	struct monitor *monitor;

	if (!folder_base_path(base, sizeof(base), e))
		return NULL;
	monitor = monitor_new(&plan);
	if (monitor_want(monitor, e) == 0)
		return monitor;
	monitor_free(monitor);
	return NULL;
}

static const struct client_recorder recorder = {
	.begin = recorder_begin,
	.tracer = monitor_tracer,
	.end = monitor_free,
};

/* How long a reader that is slow is waited for: nobody is held up by one that does not read. */
#define READER_MS 1000

/* Write all of it to stderr, or as much as its reader takes. */
static bool message_write(const char *text, size_t n)
{
	struct pollfd reader = {.fd = STDERR_FILENO, .events = POLLOUT};

	while (n > 0) {
		ssize_t said = write(STDERR_FILENO, text, n);

		if (said > 0) {
			text += said;
			n -= (size_t)said;
		} else if (said == 0 || (errno != EINTR && errno != EAGAIN) ||
			   (errno == EAGAIN && poll(&reader, 1, READER_MS) == 0)) {
			return false;
		}
	}
	return true;
}

/* Are these bytes, which are no character yet, the beginning of one? */
static bool is_begun(const char *text, size_t n)
{
	unsigned char lead = (unsigned char)text[0];
	size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < n && i < length; i++) {
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return false;
	}
	return n < length;
}

/* Words of the command line, and names of files, are shown in messages: a terminal does not obey
 * them, nor one of 8 bits, to which any byte from 0x80 to 0x9f that is in no character says
 * something. A character may come in two pieces. */
static ssize_t messages_write(void *arg, const char *text, size_t n)
{
	static char begun[4];
	static size_t n_begun;
	size_t all = n_begun + n, i = 0;
	char *clean = memory_new(all + 1, 1);
	bool said;

	(void)arg;
	status_line_clear();
	memcpy(clean, begun, n_begun);
	memcpy(clean + n_begun, text, n);
	while (i < all) {
		size_t length = utf8_length(clean + i, all - i), bytes = length ? length : 1;

		if (length == 0 && is_begun(clean + i, all - i))
			break;
		if (length == 0 ||
		    (utf8_is_control(clean + i, length) && clean[i] != '\n' && clean[i] != '\t'))
			memset(clean + i, '?', bytes);
		i += bytes;
	}
	n_begun = all - i;
	memcpy(begun, clean + i, n_begun);
	said = message_write(clean, i);
	free(clean);
	return said ? (ssize_t)n : 0;
}

static void messages_begin(void)
{
	FILE *messages = fopencookie(NULL, "w", (cookie_io_functions_t){.write = messages_write});

	if (!messages)
		abort();
	setvbuf(messages, NULL, _IONBF, 0);
	stderr = messages;
}

int main(int argc, char **argv)
{
	const struct command *command;
	const char *profile;
	int taken = profile_take(argc, argv, &profile);

	messages_begin();
	client_recorder_set(&recorder);
	/* if a parent left it ignored, we would not notice the end of children */
	signal(SIGCHLD, SIG_DFL);
	argc -= taken > 0 ? taken : 0;
	argv += taken > 0 ? taken : 0;
	if (atexit(output_end))
		return EXIT_BAD_NEWS;
	if (taken < 0) {
		fputs("evspace: --profile needs a name; evspace profile lists them\n", stderr);
		return EXIT_USAGE;
	}
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
	if (!command)
		return command_unknown(argv[1]);
	if (profile && !command->looks) {
		fprintf(stderr, "evspace: `%s` does not use profiles\n", command->name);
		return EXIT_USAGE;
	}
	if (profile)
		setenv("EVSPACE_PROFILE", profile, 1);
	return command_run(command, argc - 1, argv + 1);
}
