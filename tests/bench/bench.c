/* SPDX-License-Identifier: BSD-3-Clause */
/* Options, waiting and child processes of the benches. */
#include "tests/bench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEP_S	     0.005 /* between two looks at a condition */
#define END_WITHIN_S 10

static sigset_t before;
static pid_t bench_pid;

/* What was started, to say of what ended unasked. */
#define STARTED_MOST 1024
#define LAST_LINES   12

static struct started {
	pid_t pid;
	char log[160];
} started[STARTED_MOST];
static size_t n_started;

/* ---- options ---- */

static const char options_help[] =
	"\n"
	"  --json       one JSON object a line instead of a table\n"
	"  --seconds S  how long one measurement takes (%g)\n"
	"  --rounds N   measurements of each kind, taken in turn (%u)\n"
	"  --case NAME  only this one (where there are several)\n"
	"  --quick      %g seconds, %u rounds: a first look, not a result\n"
	"  --help       this text\n";

static double number_parse(const char *program, const char *name, const char *text, double least)
{
	char *end;
	double value = strtod(text, &end);

	if (end != text && !*end && value >= least && value <= 1e6)
		return value;
	fprintf(stderr, "%s: --%s wants a number from %g on, not '%s'\n", program, name, least,
		text);
	exit(2);
}

void bench_parse(int argc, char **argv, struct bench_options *o, const struct bench_options *quick,
		 const char *about)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"seconds", required_argument, NULL, 's'},
		{"rounds", required_argument, NULL, 'r'},
		{"quick", no_argument, NULL, 'q'},
		{"case", required_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	const struct bench_options defaults = *o;
	const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			o->json = true;
			break;
		case 's':
			o->seconds = number_parse(name, "seconds", optarg, 0.05);
			break;
		case 'r':
			o->rounds = (unsigned)number_parse(name, "rounds", optarg, 1);
			break;
		case 'q':
			o->seconds = quick->seconds;
			o->rounds = quick->rounds;
			o->quick = true;
			break;
		case 'c':
			o->only = optarg;
			break;
		case 'h':
			fputs(about, stdout);
			printf(options_help, defaults.seconds, defaults.rounds, quick->seconds,
			       quick->rounds);
			exit(0);
		default:
			fprintf(stderr, "try %s --help\n", name);
			exit(2);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "%s: '%s' is not wanted here; try --help\n", name, argv[optind]);
		exit(2);
	}
}

/* ---- waiting ---- */

static void signals_of_interest(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGCHLD);
}

void bench_begin(void)
{
	sigset_t set;

	signals_of_interest(&set);
	sigprocmask(SIG_BLOCK, &set, &before);
	signal(SIGPIPE, SIG_IGN);
	bench_pid = getpid();
}

double bench_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The child that has ended and that nobody waits for, or 0: a signal may be an old one of a child
 * that is gone. */
static pid_t child_ended(void)
{
	siginfo_t info = {.si_pid = 0};

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 ? info.si_pid : 0;
}

static void last_lines_show(const char *log)
{
	char lines[LAST_LINES][400];
	FILE *file = fopen(log, "re");
	size_t n = 0;

	while (file && fgets(lines[n % LAST_LINES], sizeof(lines[0]), file))
		n++;
	if (file)
		fclose(file);
	for (size_t i = n > LAST_LINES ? n - LAST_LINES : 0; i < n; i++)
		fputs(lines[i % LAST_LINES], stderr);
}

/* The last lines of what it said go to stderr. */
static int child_explain(pid_t pid, struct error *e)
{
	for (size_t i = n_started; i-- > 0;) {
		if (started[i].pid != pid)
			continue;
		last_lines_show(started[i].log);
		break;
	}
	errno = ECHILD;
	return errorf(e, "a process that the bench needs ended unasked: its last lines are above");
}

int bench_wait(double seconds, struct error *e)
{
	double until = bench_seconds() + seconds, left;
	struct timespec t;
	sigset_t set;
	pid_t ended;
	int got;

	signals_of_interest(&set);
	while ((left = until - bench_seconds()) > 0) {
		t.tv_sec = (time_t)left;
		t.tv_nsec = (long)((left - (double)t.tv_sec) * 1e9);
		got = sigtimedwait(&set, NULL, &t);
		ended = got == SIGCHLD ? child_ended() : 0;
		if (ended > 0)
			return child_explain(ended, e);
		if (got > 0 && got != SIGCHLD) {
			errno = EINTR;
			return errorf(e, "interrupted");
		}
	}
	return 0;
}

int bench_until(bool (*is_true)(void *arg), void *arg, double seconds, const char *what,
		struct error *e)
{
	double until = bench_seconds() + seconds;

	while (!is_true(arg)) {
		if (bench_wait(STEP_S, e) < 0)
			return -1;
		if (bench_seconds() > until) {
			errno = ETIMEDOUT;
			return errorf(e, "%s: not within %g s", what, seconds);
		}
	}
	return 0;
}

/* ---- processes ---- */

pid_t bench_fork(void)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != bench_pid)
		_exit(1);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return 0;
}

pid_t bench_start(char *const *argv, const char *log, struct error *e)
{
	pid_t pid = bench_fork();
	int fd;

	if (pid < 0)
		return errorf(e, "cannot start %s: %s", argv[0], strerror(errno));
	if (pid > 0) {
		struct started *s = &started[n_started < STARTED_MOST ? n_started++ : 0];

		s->pid = pid;
		snprintf(s->log, sizeof(s->log), "%s", log);
		return pid;
	}
	fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
		_exit(127);
	execv(argv[0], argv);
	fprintf(stderr, "cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

int bench_run(char *const *argv, const char *log, struct error *e)
{
	pid_t pid = bench_start(argv, log, e);
	int status = 0;

	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	errorf(e, "%s failed", argv[0]);
	errno = ECHILD;
	return bench_quote(log, e);
}

bool bench_has_ended(pid_t pid)
{
	siginfo_t info = {.si_pid = 0};

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid != 0;
}

void bench_end(pid_t pid, int signal)
{
	double until = bench_seconds() + END_WITHIN_S;
	static const struct timespec step = {.tv_nsec = (long)(STEP_S * 1e9)};

	if (pid <= 0)
		return;
	kill(pid, signal);
	while (signal != SIGKILL && !bench_has_ended(pid) && bench_seconds() < until)
		nanosleep(&step, NULL);
	if (!bench_has_ended(pid))
		kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int bench_quote(const char *log, struct error *e)
{
	FILE *file = fopen(log, "re");
	char line[400], last[400] = "";

	while (file && fgets(line, sizeof(line), file))
		if (line[0] != '\n')
			snprintf(last, sizeof(last), "%s", line);
	if (file)
		fclose(file);
	last[strcspn(last, "\n")] = '\0';
	if (last[0]) {
		struct error said = *e;

		errorf(e, "%.500s: %s", said.text, last);
	}
	return -1;
}

void bench_mpi(void)
{
	setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
	setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
	setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
	setenv("OMP_NUM_THREADS", "1", 0);
}

/* ---- where things are ---- */

const char *bench_built(const char *name, char *path, size_t n)
{
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	/* We are tests/bench/NAME in the folder of the build. */
	self[length > 0 ? length : 0] = '\0';
	for (int up = 0; up < 3 && strrchr(self, '/'); up++)
		*strrchr(self, '/') = '\0';
	snprintf(path, n, "%s/%s", self, name);
	return path;
}

const char *bench_source(const char *name, char *path, size_t n)
{
	snprintf(path, n, "%s/%s", BENCH_SOURCES, name);
	return path;
}
