/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace mir: answers the requests of MIR (APART) about a running program. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/command.h"
#include "consumers/cli/module.h"
#include "consumers/cli/options.h"
#include "consumers/mir/answer.h"
#include "consumers/mir/framing.h"
#include "consumers/mir/metric.h"
#include "consumers/mir/probe-define.h"
#include "consumers/mir/probing.h"
#include "consumers/mir/request.h"
#include "consumers/mir/snapshot.h"
#include "tree/data/clock.h"

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
	"  instrreq     begins to measure what operations take, as a probe\n"
	"  ctrlreq      values of probes; switches, changes and removes them\n"
	"  sirreq       is refused by now\n";

static const char mir_more[] =
	"Exit code 1 if one of the answers says what is wrong.\n"
	"\n"
	"examples:\n"
	"  echo '<snapshotreq named=\"true\"/>' | evspace mir - | xmllint --format -\n"
	"  evspace mir requests.xml --lenient --run st\n";

#define CHUNK 65536

struct mir {
	struct common common;
	bool lenient, catalogue;
	const char *deliver; /* the folder that destinations are below; NULL: none */
	uint64_t linger_ns;  /* how long to go on after the last document */
	mir_request_function *read;
	struct probes probes; /* without a connection until one is needed */
	struct framing framing;
	bool wrong; /* an answer says what is wrong */
};

static const struct option_row mir_rows[] = {
	{"lenient", .at = offsetof(struct mir, lenient),
	 .help = "take the words of the report's examples, too, which its grammar lacks "
		 "(docs/mir.md)"},
	{"deliver", "DIR", OPTION_TEXT, .at = offsetof(struct mir, deliver),
	 .help = "let requests have values written to files below this folder: destinations "
		 "file://DIR/..."},
	{"linger", "TIME", OPTION_TIME, .at = offsetof(struct mir, linger_ns),
	 .help = "deliver values for so long after the last document"},
	{"wait", NULL, OPTION_ONE, .at = offsetof(struct mir, common.look.wait),
	 .help = "the run need not exist yet"},
	{"catalogue", .at = offsetof(struct mir, catalogue),
	 .help = "print the metrics that there are, and end"},
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

	if (snapshot_take(&snapshot, mir->probes.connection, &mir->common.look, request->stack > 0,
			  request) == 0)
		snapshot_write(&snapshot, request, stdout);
	snapshot_fini(&snapshot);
}

static void request_answer(struct mir *mir, struct mir_request *request)
{
	if (!mir->probes.connection)
		mir->probes.connection = evspace_connect(&mir->common.look);
	if (request->kind == MIR_SNAPSHOTREQ)
		snapshot_answer(mir, request);
	else if (request->kind == MIR_SIRREQ)
		request_complain(request, &request->place,
				 "no SIR is made yet; regions are operations and their groups");
	else
		probing_answer(&mir->probes, request, stdout);
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
	if (request->n_faults == 0)
		request_answer(mir, request);
	if (request->n_faults > 0) {
		mir->wrong = true;
		answer_errors(stdout, request);
	}
	fflush(stdout);
	request_free(request);
}

/* Take what has come. Returns 0 at the end. */
static ssize_t documents_take(struct mir *mir, int fd, struct error *e)
{
	static char bytes[CHUNK];
	struct framed framed;
	ssize_t n = read(fd, bytes, sizeof(bytes));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN
			       ? 1
			       : errorf(e, "cannot read: %s", strerror(errno));
	framing_add(&mir->framing, bytes, (size_t)n);
	while (framing_next(&mir->framing, n == 0, &framed))
		document_answer(mir, &framed);
	return n;
}

/* The nearer one; -1 is never. */
static int sooner(int a, int b)
{
	return a < 0 ? b : b < 0 || a < b ? a : b;
}

/* Wait until there is something to read or to do. */
static bool mir_wait(struct mir *mir, int fd, int timeout_ms)
{
	struct evspace_connection *connection = mir->probes.connection;
	struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = -1, .events = POLLIN}};

	timeout_ms = sooner(timeout_ms, probing_timeout(&mir->probes));
	if (connection) {
		timeout_ms = sooner(timeout_ms, evspace_timeout(connection));
		fds[1].fd = evspace_fd(connection);
	}
	if (poll(fds, 2, timeout_ms) < 0)
		return false;
	if (connection)
		evspace_dispatch(connection);
	probing_run(&mir->probes, stdout);
	return fds[0].revents != 0;
}

static int documents_answer(struct mir *mir, int fd, struct error *e)
{
	uint64_t until;
	ssize_t n = 1;

	while (n > 0)
		if (mir_wait(mir, fd, -1))
			n = documents_take(mir, fd, e);
	until = clock_mono_ns() + mir->linger_ns;
	while (n == 0 && mir->linger_ns > 0 && probing_delivers(&mir->probes)) {
		uint64_t now = clock_mono_ns();

		if (now >= until)
			break;
		mir_wait(mir, -1, sooner(60000, (int)((until - now) / 1000000 % 60000) + 1));
	}
	return (int)n;
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

static void mir_end(struct mir *mir)
{
	struct probe *p;

	while ((p = TAILQ_FIRST(&mir->probes.list)))
		probe_free(&mir->probes, p);
	measuring_fini(&mir->probes.defaults);
	evspace_disconnect(mir->probes.connection);
	framing_fini(&mir->framing);
}

int mir_main(int argc, char **argv)
{
	struct mir mir = {.lenient = false};
	struct error e = {""};
	int code = options_parse(argc, argv, &mir_usage, &mir, &mir.common), fd;

	if (code >= 0)
		return code;
	if (mir.catalogue) {
		metric_catalogue(stdout);
		return EXIT_FINE;
	}
	if (mir.common.n_words == 0) {
		fputs("evspace mir: say which FILE, or - for standard input\n", stderr);
		return EXIT_USAGE;
	}
	TAILQ_INIT(&mir.probes.list);
	mir.probes.look = &mir.common.look;
	mir.probes.folder = mir.deliver;
	if (mir_begin(&mir, &fd, &e) < 0) {
		fprintf(stderr, "evspace mir: %s\n", e.text);
		return EXIT_USAGE;
	}
	code = documents_answer(&mir, fd, &e);
	if (code < 0)
		fprintf(stderr, "evspace mir: %s\n", e.text);
	mir_end(&mir);
	if (fd != STDIN_FILENO)
		close(fd);
	return code < 0 || mir.wrong ? EXIT_BAD_NEWS : EXIT_FINE;
}
