/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace run: starts a program with collectors, passes signals on, and sums up at its end. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "consumers/run/claim.h"
#include "consumers/cli/command.h"
#include "consumers/run/launch.h"
#include "consumers/cli/preload.h"
#include "consumers/cli/subprocess.h"
#include "consumers/run/summary.h"
#include "node-agent/control/uncollected.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/pathmap.h"
#include "tree/link/address.h"
#include "tree/data/clock.h"
#include "tree/stage/stage.h"

/* Time for ranks to end after their launcher has returned. */
#define GONE_WITHIN_NS 3000000000u

static const char run_help[] =
	"usage: evspace run [options] [--] COMMAND [ARG...]\n"
	"\n"
	"Start an MPI or PVM program, unmodified, with its communication on record: every\n"
	"process gets trace elements in shared memory, which evspace heartbeat, events\n"
	"and the others read while it runs. At its end a summary goes to stderr. COMMAND\n"
	"is what you would type without evspace; the exit code is its own (128 + N when\n"
	"signal N ended it, 125 when evspace itself failed).\n";

/* after its options */
static const char run_more[] =
	"Open MPI's mpirun passes the collector on to other hosts (by -x options that are\n"
	"added for you), srun does so by itself, and PVM's tasks pass it on to those they\n"
	"spawn. There an agent holds what is collected.\n"
	"\n"
	"examples:\n"
	"  evspace run -- mpirun -np 2 ./app            # see: evspace heartbeat\n"
	"  evspace run --run test --capacity 10000 -- mpirun -np 2 ./app\n"
	"  evspace run --json --summary run.json -- srun -n 64 ./app\n";

struct job {
	struct common common; /* --json; its words: the command */
	struct preload_options collect;
	const char *pathmap;
	bool keep, quiet;
	const char *summary_path;
	FILE *out; /* for the summary */
	struct pathmap *map;
	struct launch launch;
	struct claim claim;
	char library[PATH_MAX];
	char *preload;	      /* value of LD_PRELOAD; NULL: nothing is collected */
	struct error no_room; /* why there is no folder, so that nothing is collected */
	struct summary_span span;
	bool served; /* an agent listened while the program ran */
	int told;    /* the signal by which the user ended it, 0: none */
	int status;  /* of the child, as from waitpid(2) */
};

/* ---- options ---- */

static const struct option_row run_rows[] = {
	{"run", "NAME", OPTION_TEXT, .at = offsetof(struct job, collect.flags.said[FLAG_RUN]),
	 .help = "what the run is called (default: the program's name and the time); an ended run "
		 "of that name is replaced, a live one is an error"},
	{"pathmap", "DIR", OPTION_TEXT, .at = offsetof(struct job, pathmap),
	 .help = "take what is collected from DIR/application.map"},
	{"keep", .at = offsetof(struct job, keep),
	 .help = "keep the elements at the end: until evspace purge, until the retention time "
		 "of an agent that serves them is over, or until a later program needs their "
		 "memory (--quota). Without it they are kept only if an agent served them"},
	{"no-summary", .at = offsetof(struct job, quiet),
	 .help = "say nothing at the end, unless nothing was collected"},
	{"json", .at = offsetof(struct job, common.json),
	 .help = "the summary is one JSON object, with \"schema\": 1"},
	{"summary", "FILE", OPTION_TEXT, .at = offsetof(struct job, summary_path),
	 .help = "the summary goes to FILE instead of stderr"},
	{0},
};

static const struct usage run_usage = {
	.help = run_help,
	.after = run_more,
	.own = run_rows,
	.more = flag_rows,
	.more_at = offsetof(struct job, collect.flags),
	.program = true,
};

/* ---- preparing ---- */

/* Before it starts: say what will not be collected, while the program prints nothing yet. */
static void warn(const struct launch *launch)
{
	char *why = launch_complaint(launch);

	if (why)
		fprintf(stderr, "evspace run: %s\n", why);
	free(why);
}

/* Returns EXIT_FINE, or the exit code with @e. */
static enum exit_code job_prepare(struct job *job, struct error *e)
{
	if (job->summary_path) {
		job->out = fopen(job->summary_path, "we");
		if (!job->out) {
			errorf(e, "--summary %s: %s", job->summary_path, strerror(errno));
			return EXIT_RUN_FAILED;
		}
	}
	if (job->pathmap) {
		job->map = preload_pathmap("run", job->pathmap, e);
		if (!job->map)
			return EXIT_RUN_FAILED;
		job->collect.map = job->map;
		job->collect.whole = true;
	}
	if (preload_library(job->library, sizeof(job->library), e))
		return EXIT_RUN_FAILED;
	launch_init(&job->launch, job->common.words);
	preload_folder_tell("run");
	if (claim_take(&job->claim, &job->collect, job->launch.program, e)) {
		if (errno == EBUSY || errno == EINVAL)
			return errno == EINVAL ? EXIT_USAGE : EXIT_RUN_FAILED;
		/* the program runs even if it cannot be collected */
		job->no_room = *e;
		return EXIT_FINE;
	}
	warn(&job->launch);
	job->preload = preload_value(job->library, getenv("LD_PRELOAD"));
	launch_forward(&job->launch, job->preload, flag_variables);
	return EXIT_FINE;
}

/* ---- the child ---- */

/* Does an agent of the map listen at a Unix socket of its own? */
static bool mapped_agent_serves(const struct pathmap *map)
{
	const char *const *nodes;
	size_t n = map ? pathmap_nodes(map, &nodes) : 0;

	for (size_t i = 0; i < n; i++) {
		const char *address = pathmap_address(map, nodes[i]);

		if (address && strncmp(address, "unix:", 5) == 0 && address_is_served(address + 5))
			return true;
	}
	return false;
}

/* Does an agent listen on one of the base's sockets, or where the map says? */
static bool agent_serves(const struct job *job)
{
	char *pattern = memory_format("%s/agent-*.sock", job->claim.settings.base);
	bool served = false;
	glob_t found;
	size_t i;

	if (glob(pattern, GLOB_NOSORT, NULL, &found))
		found.gl_pathc = 0;
	for (i = 0; i < found.gl_pathc && !served; i++)
		served = address_is_served(found.gl_pathv[i]);
	globfree(&found);
	free(pattern);
	return served || mapped_agent_serves(job->map);
}

/* Signals that are passed on, and the child's end. */
static void signals_of_interest(sigset_t *set)
{
	static const int numbers[] = {SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(set, numbers[i]);
}

static bool is_told_to_end(int number)
{
	return number == SIGHUP || number == SIGINT || number == SIGQUIT || number == SIGTERM;
}

/* The child stays in our process group, so Ctrl-C reaches it as it would without us. Signals from
 * the terminal have reached it already; those sent to us alone are passed on. */
static void child_wait(struct job *job, pid_t child, const sigset_t *set)
{
	static const struct timespec second = {.tv_sec = 1};
	siginfo_t info;
	int number;

	for (;;) {
		/* elements that an agent has served stay, even if it is gone at the end */
		job->served = job->served || agent_serves(job);
		number = job->served ? sigwaitinfo(set, &info) : sigtimedwait(set, &info, &second);
		if (number == SIGCHLD) {
			if (waitpid(child, &job->status, WNOHANG) == child)
				return;
			continue;
		}
		if (is_told_to_end(number))
			job->told = number;
		if (number > 0 && info.si_code <= 0)
			kill(child, number);
	}
}

/* Start the program and wait for its end. Returns 0, or -1 with @e if it could not be started. */
static int job_program(struct job *job, struct error *e)
{
	sigset_t set, before;
	const struct subprocess_way way = {.fds = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO},
					   .mask = &before};
	pid_t child;
	int rc;

	if (job->preload && job->launch.inherits) {
		setenv("LD_PRELOAD", job->preload, 1);
		preload_export();
	}
	signals_of_interest(&set);
	sigprocmask(SIG_BLOCK, &set, &before);
	job->span.began_ns = clock_mono_ns();
	rc = subprocess_start(job->launch.argv, &way, &child);
	if (rc == 0)
		child_wait(job, child, &set);
	job->span.ended_ns = clock_mono_ns();
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (rc == 0)
		return 0;
	return errorf(e, "%s: %s", job->launch.argv[0],
		      errno == ENOENT ? "not found; is it in PATH, or does it need ./ in front?"
				      : strerror(errno));
}

/* ---- the end ---- */

/* Why nothing was collected, as text for the caller to free(), or NULL if unknown. */
static char *why_none(const struct job *job, const struct summary *summary,
		      const struct summary_about *about)
{
	const struct store_refusal *r;
	size_t i, here = 0;
	char *why;

	if (summary->n_processes)
		return NULL;
	if (job->claim.folder < 0)
		return memory_copy(job->no_room.text);
	TAILQ_FOREACH (r, &about->store->refusals, link)
		if (!strcmp(r->run, about->run))
			return NULL;
	why = launch_complaint(&job->launch);
	if (why)
		return why;
	for (i = 0; i < about->hosts->n; i++)
		here += summary_has_host(summary, about->hosts->names[i]);
	if (about->hosts->n && !here)
		return memory_copy("all its processes are on other hosts");
	why = uncollected_folder(about->base, about->run);
	if (why)
		return why;
	return memory_format("nothing came through MPI_Init, or made it a PVM task: %s is no MPI "
			     "or PVM program, ended before, could not reach %s (as another "
			     "user, or in another root folder), or finds MPI by dlsym(3) or with "
			     "RTLD_DEEPBIND, which passes us by",
			     job->launch.program, about->base);
}

/* A launcher may return a moment before the processes that it has killed are gone. */
static void wait_for_ranks(struct store *store, const char *run)
{
	uint64_t deadline = clock_mono_ns() + GONE_WITHIN_NS, now;
	struct store_segment *s;
	struct pollfd process;

	TAILQ_FOREACH (s, &store->segments, link) {
		if (!s->alive || strcmp(s->run, run) != 0)
			continue;
		process = (struct pollfd){.fd = pidfd_open(s->pid, 0), .events = POLLIN};
		now = clock_mono_ns();
		if (process.fd >= 0 && now < deadline)
			(void)poll(&process, 1, (int)((deadline - now) / 1000000));
		if (process.fd >= 0)
			close(process.fd);
		store_check_alive(s);
	}
}

static void report(const struct job *job, const struct summary *summary,
		   const struct summary_about *about)
{
	FILE *out = job->out ? job->out : stderr;

	if (job->quiet && summary->n_processes)
		return;
	if (job->common.json && !job->quiet)
		summary_json(summary, about, out);
	else
		summary_print(summary, about, out);
	if (fflush(out) || ferror(out))
		fprintf(stderr, "evspace run: --summary %s: cannot be written: %s\n",
			job->summary_path ? job->summary_path : "", strerror(errno));
}

/* Where the mapping has ranks that are not here. Names of nodes need not be names of hosts. */
static void add_mapped(const struct job *job, const struct summary *summary, struct hostlist *hosts)
{
	const char *const *nodes;
	size_t n, at;
	unsigned rank;

	if (!job->map || !pathmap_places_ranks(job->map) || !summary->n_processes)
		return;
	n = pathmap_nodes(job->map, &nodes);
	for (size_t i = 0; i < n; i++) {
		for (rank = 0; rank < pathmap_ranks(job->map); rank++)
			if (pathmap_rank_on(job->map, rank, nodes[i]) &&
			    summary_lacks_rank(summary, (int32_t)rank))
				break;
		if (rank < pathmap_ranks(job->map))
			(void)hostlist_add(hosts, nodes[i], &at, NULL);
	}
}

/* Why the elements stay or go, for the caller to free(). */
static char *stays_words(const struct job *job, size_t alive)
{
	const struct settings *s = &job->claim.settings;

	if (agent_serves(job))
		return memory_copy("the agent holds them for its retention time");
	if (job->keep)
		return memory_format("until evspace purge %s, or a later program needs the memory",
				     s->run);
	if (job->served)
		return memory_format("the agent that served them is gone; start one again, or "
				     "evspace purge %s",
				     s->run);
	if (alive)
		return memory_format("%zu process%s still running", alive,
				     alive == 1 ? " is" : "es are");
	return memory_format("no agent serves %s; --keep keeps them", s->base);
}

static int job_end(struct job *job)
{
	struct hostlist hosts = {0};
	struct summary_about about = {
		.run = job->claim.settings.run,
		.base = job->claim.settings.base,
		.hosts = &hosts,
		.ranks = job->claim.settings.ranks,
		.span = job->span,
		.signal = WIFSIGNALED(job->status) ? WTERMSIG(job->status) : 0,
		.exit_code = WIFSIGNALED(job->status) ? 128 + WTERMSIG(job->status)
						      : WEXITSTATUS(job->status),
		.told = job->told,
	};
	struct store store;
	struct summary summary;
	struct error e = {""};
	char *why, *stays_why;

	/* a reader that closes the pipe early must not keep us from clearing up */
	signal(SIGPIPE, SIG_IGN);
	if (store_init(&store, job->claim.settings.base, false, &e) && job->claim.folder >= 0) {
		fprintf(stderr, "evspace run: no summary: %s\n", e.text);
		return about.exit_code;
	}
	wait_for_ranks(&store, about.run);
	summary_init(&summary, &store, about.run, &about.span);
	launch_hosts(&job->launch, &hosts);
	job->served = job->served || agent_serves(job);
	about.store = &store;
	about.stays = job->keep || job->served || summary.alive;
	stays_why = stays_words(job, summary.alive);
	about.stays_why = stays_why;
	about.why_none = why = why_none(job, &summary, &about);
	if (!hosts.n)
		add_mapped(job, &summary, &hosts);
	for (size_t i = 0; i < hosts.n && !about.elsewhere.run; i++)
		if (!summary_has_host(&summary, hosts.names[i]))
			elsewhere_ask(&about.elsewhere, about.run);
	report(job, &summary, &about);
	if (!about.stays && job->claim.folder >= 0)
		store_purge(&store, about.run, 0, true);
	/* an empty folder is of no use to the agent either */
	claim_drop(&job->claim);
	free(why);
	free(stays_why);
	elsewhere_fini(&about.elsewhere);
	summary_fini(&summary);
	store_fini(&store);
	hostlist_fini(&hosts);
	return about.exit_code;
}

static void job_fini(struct job *job)
{
	if (job->out)
		fclose(job->out);
	claim_fini(&job->claim);
	if (job->launch.argv)
		launch_fini(&job->launch);
	pathmap_free(job->map);
	free(job->preload);
}

int run_main(int argc, char **argv)
{
	struct job job = {.claim.folder = -1};
	struct error e = {""};
	int code = options_parse(argc, argv, &run_usage, &job, &job.common);

	if (code >= 0)
		return code;
	if (job.common.n_words == 0) {
		fputs("evspace run: which program? as in: evspace run -- mpirun -np 2 ./app\n",
		      stderr);
		return EXIT_USAGE;
	}
	code = job_prepare(&job, &e);
	if (!code && job_program(&job, &e))
		code = EXIT_RUN_FAILED;
	if (code) {
		fprintf(stderr, "evspace run: %s\n", e.text);
		claim_drop(&job.claim);
	} else {
		code = job_end(&job);
	}
	job_fini(&job);
	return code;
}
