/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conformance suite: makes every MPI call that collectors wrap, in the ways that are easy to
 * get wrong, and each process writes down what it saw. With collectors it must be the same, bit for
 * bit. Usage: suite FOLDER [threads | spawn]: with several threads, or else by MPI_Init; what
 * spawns processes, for itself (Open MPI 4.1.4 does not always come back from it), or all the rest.
 */
#include "tests/conformance/suite.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *out;

/* Write to FOLDER/NAME.txt from now on, and to nowhere without. */
static void suite_open(const char *folder, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s.txt", folder, name);
	out = fopen(path, "w");
	if (!out) {
		perror(path);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	/* what a process wrote before it was stuck is there to be read */
	setvbuf(out, NULL, _IOLBF, 0);
}

static void suite_close(void)
{
	if (out && fclose(out) != 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
	out = NULL;
}

void suite_say(const char *format, ...)
{
	va_list args;

	if (!out)
		return;
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	putc('\n', out);
}

int suite_rc(const char *name, int rc)
{
	int class = MPI_SUCCESS;

	if (rc == MPI_SUCCESS) {
		suite_say("%s: fine", name);
		return rc;
	}
	MPI_Error_class(rc, &class);
	suite_say("%s: error class %d", name, class);
	return rc;
}

void suite_ints(const char *name, const int *buf, int n)
{
	char text[2048];
	int at = 0;

	text[0] = '\0';
	for (int i = 0; i < n && at < (int)sizeof(text) - 16; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, " %d", buf[i]);
	suite_say("%s:%s", name, text);
}

void suite_status(const char *name, const MPI_Status *status, MPI_Datatype type)
{
	int bytes = -1, elements = -1, cancelled = -1;
	MPI_Count large = -1;

	MPI_Get_count(status, MPI_BYTE, &bytes);
	MPI_Get_elements(status, type, &elements);
	MPI_Get_elements_x(status, MPI_BYTE, &large);
	MPI_Test_cancelled(status, &cancelled);
	suite_say("%s: source %d tag %d error %d bytes %d (%lld) elements %d cancelled %d", name,
		  status->MPI_SOURCE, status->MPI_TAG, status->MPI_ERROR, bytes, (long long)large,
		  elements, cancelled);
}

void suite_moved(const char *name, const MPI_Status *status, MPI_Datatype type)
{
	int bytes = -1, elements = -1;

	MPI_Get_count(status, MPI_BYTE, &bytes);
	MPI_Get_elements(status, type, &elements);
	suite_say("%s: bytes %d elements %d", name, bytes, elements);
}

void suite_mark(MPI_Status *statuses, int n)
{
	memset(statuses, 0, (size_t)n * sizeof(*statuses));
	for (int i = 0; i < n; i++)
		statuses[i].MPI_ERROR = SUITE_MARK;
}

void suite_requests(const char *name, const MPI_Request *requests, int n)
{
	char text[SUITE_MANY + 1];

	for (int i = 0; i < n; i++)
		text[i] = requests[i] == MPI_REQUEST_NULL ? '0' : '1';
	text[n] = '\0';
	suite_say("%s: requests left %s", name, text);
}

int suite_value(int from, int what, int i)
{
	return from * 10007 + what * 101 + i;
}

void suite_fill(int *buf, int n, int from, int what)
{
	for (int i = 0; i < n; i++)
		buf[i] = suite_value(from, what, i);
}

static const struct part {
	const char *name;
	void (*run)(const struct suite *s);
	bool spawns;
} parts[] = {
	{"messages", suite_messages, false},
	{"probes", suite_probes, false},
	{"completions", suite_completions, false},
	{"persistent", suite_persistent, false},
	{"partitions", suite_partitions, false},
	{"types", suite_types, false},
	{"collectives", suite_collectives, false},
	{"reductions", suite_reductions, false},
	{"vectors", suite_vectors, false},
	{"nonblocking", suite_nonblocking, false},
	{"lasting", suite_lasting, false},
	{"neighbours", suite_neighbours, false},
	{"communicators", suite_communicators, false},
	{"intercomm", suite_intercomm, false},
	{"callbacks", suite_callbacks, false},
	{"errors", suite_errors, false},
	{"windows", suite_windows, false},
	{"epochs", suite_epochs, false},
	{"files", suite_files, false},
	{"split files", suite_split_files, false},
	{"children", suite_children, true},
	{"ports", suite_ports, true},
	{"threads", suite_threads, false},
};

static void parent_run(struct suite *s, bool spawn)
{
	char name[32];

	snprintf(name, sizeof(name), "rank%d", s->rank);
	suite_open(s->folder, name);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].spawns != spawn)
			continue;
		suite_say("--- %s ---", parts[i].name);
		parts[i].run(s);
		SUITE(MPI_Barrier(s->comm));
	}
}

static void child_run(MPI_Comm parent, const char *folder, int rank)
{
	char name[64];
	int app = 0;

	/* of MPI_Comm_spawn_multiple, one world with both commands */
	MPI_Comm_remote_size(parent, &app);
	snprintf(name, sizeof(name), "child%d", rank);
	suite_open(folder, name);
	suite_say("parents: %d", app);
	suite_child(parent);
}

int main(int argc, char **argv)
{
	struct suite s = {.comm = MPI_COMM_WORLD, .program = argv[0]};
	MPI_Comm parent;
	int provided = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: suite FOLDER [threads | spawn]\n");
		return 2;
	}
	if (argc > 2 && strcmp(argv[2], "threads") == 0)
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	else
		MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &s.size);
	MPI_Comm_get_parent(&parent);
	s.right = (s.rank + 1) % s.size;
	s.left = (s.rank + s.size - 1) % s.size;
	s.folder = argv[1];
	s.threads = provided == MPI_THREAD_MULTIPLE;
	if (parent == MPI_COMM_NULL)
		parent_run(&s, argc > 2 && strcmp(argv[2], "spawn") == 0);
	else
		child_run(parent, argv[1], s.rank);
	SUITE(MPI_Finalize());
	suite_close();
	return 0;
}
