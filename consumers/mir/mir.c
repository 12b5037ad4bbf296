/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace mir: answers the requests of MIR (APART) about a running program. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/command.h"
#include "consumers/cli/module.h"
#include "consumers/cli/options.h"
#include "consumers/mir/answer.h"
#include "consumers/mir/framing.h"
#include "consumers/mir/request.h"
#include "consumers/mir/snapshot.h"

static const char mir_help[] =
	"usage: evspace mir FILE|- [options]\n"
	"\n"
	"Answer the documents of FILE (-: of standard input), which are requests of MIR\n"
	"(APART: Monitoring and Instrumentation Requests for Fortran, Java, C and C++\n"
	"Programs), about a running program: each answer is one line of XML, and valid\n"
	"by mir.xsd. What is wrong with a document is answered, too, and the next one is\n"
	"read. A document ends with its first element; a 0 byte ends one in any case.\n"
	"\n"
	"  snapshotreq  sites (clusters), nodes, communicators, processes, threads\n"
	"  others       are refused by now\n";

static const char mir_more[] =
	"Exit code 1 if one of the answers says what is wrong.\n"
	"\n"
	"examples:\n"
	"  echo '<snapshotreq named=\"true\"/>' | evspace mir - | xmllint --format -\n"
	"  evspace mir requests.xml --lenient --run st\n";

#define CHUNK 65536

struct mir {
	struct common common;
	bool lenient;
	mir_request_function *read;
	struct evspace_connection *connection; /* NULL: none has been needed so far */
	struct framing framing;
	bool wrong; /* an answer says what is wrong */
};

static const struct option_row mir_rows[] = {
	{"lenient", .at = offsetof(struct mir, lenient),
	 .help = "take the words of the report's examples, too, which its grammar lacks "
		 "(docs/mir.md)"},
	{0},
};

static const struct usage mir_usage = {.help = mir_help,
				       .after = mir_more,
				       .own = mir_rows,
				       .takes = OPTIONS_LOOK | OPTIONS_VIEW,
				       .lacks = " of view select deadline from speed ",
				       .words_max = 1};

static void snapshot_answer(struct mir *mir, struct mir_request *request)
{
	struct snapshot snapshot;

	if (!mir->connection)
		mir->connection = evspace_connect(&mir->common.look);
	if (snapshot_take(&snapshot, mir->connection, &mir->common.look, request->stack > 0,
			  request) == 0)
		snapshot_write(&snapshot, request, stdout);
	snapshot_fini(&snapshot);
}

static void document_answer(struct mir *mir, const struct framed *framed)
{
	struct mir_request *request = mir->read(framed->text, framed->n, mir->lenient);

	if (framed->large) {
		request->n_faults = 0;
		request_complain(request, &(struct mir_place){.line = 1, .column = 1},
				 "it is larger than %zu MiB; say it in several documents",
				 FRAMING_MAX >> 20);
	}
	if (request->n_faults == 0) {
		if (request->kind == MIR_SNAPSHOTREQ)
			snapshot_answer(mir, request);
		else
			request_complain(request, &request->place,
					 "this evspace answers snapshotreq alone");
	}
	if (request->n_faults > 0) {
		mir->wrong = true;
		answer_errors(stdout, request);
	}
	fflush(stdout);
	request_free(request);
}

static int documents_answer(struct mir *mir, int fd, struct error *e)
{
	static char bytes[CHUNK];
	struct framed framed;
	ssize_t n = 1;

	while (n > 0) {
		n = read(fd, bytes, sizeof(bytes));
		if (n < 0 && errno == EINTR) {
			n = 1;
			continue;
		}
		if (n < 0)
			return errorf(e, "cannot read: %s", strerror(errno));
		framing_add(&mir->framing, bytes, (size_t)n);
		while (framing_next(&mir->framing, n == 0, &framed))
			document_answer(mir, &framed);
	}
	return 0;
}

static int mir_begin(struct mir *mir, int *fd, struct error *e)
{
	const char *file = mir->common.words[0];

	*fd = STDIN_FILENO;
	*(void **)(void *)&mir->read =
		module_function(REQUEST_OBJECT, REQUEST_SYMBOL, "libxml2 (libxml2-dev)", e);
	if (!mir->read)
		return -1;
	if (strcmp(file, "-") != 0)
		*fd = open(file, O_RDONLY | O_CLOEXEC);
	return *fd < 0 ? errorf(e, "%.200s: %s", file, strerror(errno)) : 0;
}

int mir_main(int argc, char **argv)
{
	struct mir mir = {.lenient = false};
	struct error e = {""};
	int code = options_parse(argc, argv, &mir_usage, &mir, &mir.common), fd;

	if (code >= 0)
		return code;
	if (mir.common.n_words == 0) {
		fputs("evspace mir: say which FILE, or - for standard input\n", stderr);
		return EXIT_USAGE;
	}
	if (mir_begin(&mir, &fd, &e) < 0) {
		fprintf(stderr, "evspace mir: %s\n", e.text);
		return EXIT_USAGE;
	}
	code = documents_answer(&mir, fd, &e);
	if (code < 0)
		fprintf(stderr, "evspace mir: %s\n", e.text);
	evspace_disconnect(mir.connection);
	framing_fini(&mir.framing);
	if (fd != STDIN_FILENO)
		close(fd);
	return code < 0 || mir.wrong ? EXIT_BAD_NEWS : EXIT_FINE;
}
