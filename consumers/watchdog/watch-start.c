/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts a program by evspace run, and an agent where none listens; passes signals on. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "consumers/cli/command.h"
#include "consumers/cli/subprocess.h"
#include "consumers/watchdog/watch.h"
#include "node-agent/store/store.h"
#include "pathmap/base/folder-base.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/* This program, also where it was replaced meanwhile. */
#define SELF "/proc/self/exe"

/* Time for an agent to be ready. */
#define READY_WITHIN_NS UINT64_C(10000000000)

static volatile pid_t passed_to;

/* ---- agents ---- */

/* Returns false, with a message, if none can be started. */
static bool agent_begin(struct watch *w)
{
	static const struct subprocess_way quietly = {.fds = {-1, -1, -1}, .session = true};
	char *const argv[] = {(char *)(uintptr_t)SELF, (char *)(uintptr_t) "agent", NULL};

	if (subprocess_start(argv, &quietly, &w->agent) == 0)
		return true;
	w->agent = 0;
	fprintf(stderr, "evspace watch: no agent can be started: %s\n", strerror(errno));
	return false;
}

/* Connect; without an agent where the user names none, to one of our own. */
static int connect_to(struct watch *w)
{
	static const struct timespec moment = {.tv_nsec = 20000000};
	const struct evspace_options *o = &w->heartbeat.common.look;
	uint64_t until = clock_mono_ns() + READY_WITHIN_NS;
	enum evspace_failure failure;
	char why[256];

	for (;;) {
		w->heartbeat.client = evspace_open(o, &failure, why, sizeof(why));
		if (w->heartbeat.client)
			return -1;
		if (failure != EVSPACE_NO_CONNECTION || o->connect || clock_mono_ns() >= until)
			break;
		if (!w->agent && !agent_begin(w))
			break;
		nanosleep(&moment, NULL);
	}
	fprintf(stderr, "evspace watch: %s\n", why);
	return options_failure(failure);
}

/* ---- the program ---- */

static void pass_on(int number)
{
	if (passed_to > 0)
		kill(passed_to, number);
}

/* Those of the terminal reach the program without us; all others are for it. */
static void signals_pass(void)
{
	static const int passed[] = {SIGHUP, SIGTERM, SIGUSR1, SIGUSR2};
	struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		sigaction(passed[i], &action, NULL);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

static bool program_begin(struct watch *w)
{
	static const struct subprocess_way as_it_is = {
		.fds = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}};
	const struct common *common = &w->heartbeat.common;
	char **argv = memory_new((size_t)common->n_words + 10, sizeof(char *)), **to = argv;
	bool begun;

	*to++ = (char *)(uintptr_t)SELF;
	*to++ = (char *)(uintptr_t) "run";
	*to++ = (char *)(uintptr_t) "--run";
	*to++ = w->name;
	if (w->pathmap) {
		*to++ = (char *)(uintptr_t) "--pathmap";
		*to++ = (char *)(uintptr_t)w->pathmap;
	}
	/* so that it can be said where a rank is late */
	if (w->on[WATCH_LATE] && !w->pathmap && !getenv("EVSPACE_ELEMENTS")) {
		*to++ = (char *)(uintptr_t) "--elements";
		*to++ = (char *)(uintptr_t) "collective=site";
	}
	*to++ = (char *)(uintptr_t) "--";
	memcpy(to, common->words, (size_t)common->n_words * sizeof(char *));
	begun = subprocess_start(argv, &as_it_is, &w->program) == 0;
	if (!begun)
		fprintf(stderr, "evspace watch: evspace run cannot be started: %s\n",
			strerror(errno));
	free(argv);
	return begun;
}

int watch_start(struct watch *w)
{
	int code;

	w->name = w->run ? memory_copy(w->run) : memory_format("watch-%d", (int)getpid());
	w->heartbeat.common.look.run = w->name;
	code = connect_to(w);
	if (code >= 0)
		return code;
	if (!program_begin(w))
		return EXIT_RUN_FAILED;
	passed_to = w->program;
	signals_pass();
	return -1;
}

bool watch_ended(struct watch *w, bool wait, int *code)
{
	int status;

	if (waitpid(w->program, &status, wait ? 0 : WNOHANG) != w->program)
		return false;
	passed_to = 0;
	*code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

/* ---- the end ---- */

/* What our own agent has kept is of no use to anybody. */
static void clear_up(const struct watch *w)
{
	struct store store;
	struct error e;
	char base[FOLDER_BASE];

	if (folder_base(base, sizeof(base), &e) < 0 || store_init(&store, base, false, &e) < 0)
		return;
	store_purge(&store, w->name, 0, true);
	store_fini(&store);
}

void watch_stop(struct watch *w)
{
	if (w->heartbeat.client)
		options_close(&w->heartbeat.common, w->heartbeat.client);
	if (w->agent <= 0)
		return;
	kill(w->agent, SIGTERM);
	while (waitpid(w->agent, NULL, 0) < 0 && errno == EINTR)
		;
	clear_up(w);
}
