/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace mir: answers the requests of MIR (APART) about a running program. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/command.h"
#include "consumers/cli/module.h"
#include "consumers/cli/options.h"
#include "consumers/mir/answer.h"
#include "consumers/mir/metric.h"
#include "consumers/mir/probing.h"
#include "consumers/mir/request.h"
#include "consumers/mir/sir.h"
#include "consumers/mir/snapshot.h"
#include "consumers/mir/tool.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

static const char mir_help[] =
	"usage: evspace mir FILE|- [options]\n"
	"       evspace mir --listen unix:PATH [options]\n"
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
	"  sirreq       the functions of executables and libraries, by their DWARF\n";

static const char mir_more[] =
	"Exit code 1 if one of the answers says what is wrong.\n"
	"\n"
	"examples:\n"
	"  echo '<snapshotreq named=\"true\"/>' | evspace mir - | xmllint --format -\n"
	"  evspace mir requests.xml --lenient --run st\n"
	"  evspace mir --listen unix:/run/user/1000/mir --deliver /tmp/mir\n";

struct mir {
	struct common common;
	bool lenient, catalogue;
	const char *deliver; /* the folder that destinations are below; NULL: none */
	const char *listen;  /* the socket for tools; NULL: a file has all documents */
	uint64_t linger_ns;  /* how long to go on after the last document */
	mir_request_function *read;
	struct probes probes; /* without a connection until one is needed */
	struct tools tools;
	int listener; /* -1: none */
	bool wrong;   /* an answer says what is wrong */
};

static const struct option_row mir_rows[] = {
	{"lenient", .at = offsetof(struct mir, lenient),
	 .help = "take the words of the report's examples, too, which its grammar lacks "
		 "(docs/mir.md)"},
	{"listen", "unix:PATH", OPTION_TEXT, .at = offsetof(struct mir, listen),
	 .help = "instead of FILE, answer all programs of this user that connect there"},
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

static void snapshot_answer(struct mir *mir, struct mir_request *request, FILE *out)
{
	struct snapshot snapshot;

	if (snapshot_take(&snapshot, mir->probes.connection, &mir->common.look, request->stack > 0,
			  request) == 0)
		snapshot_write(&snapshot, request, out);
	snapshot_fini(&snapshot);
}

static void request_answer(struct mir *mir, struct tool *tool, struct mir_request *request,
			   FILE *out)
{
	if (!mir->probes.connection)
		mir->probes.connection = evspace_connect(&mir->common.look);
	if (request->kind == MIR_SNAPSHOTREQ)
		snapshot_answer(mir, request, out);
	else if (request->kind == MIR_SIRREQ)
		sir_answer(request, out);
	else
		probing_answer(&mir->probes, &tool->owner, request, out);
}

/* What there is of a document that is too large. */
static struct mir_request *request_of_large(void)
{
	struct mir_request *request = memory_new(1, sizeof(*request));

	request_complain(request, &(struct mir_place){.line = 1, .column = 1},
			 "it is larger than %zu MiB; say it in several documents",
			 FRAMING_MAX >> 20);
	return request;
}

static void document_answer(struct mir *mir, struct tool *tool, const struct framed *framed)
{
	struct mir_request *request = framed->large
					      ? request_of_large()
					      : mir->read(framed->text, framed->n, mir->lenient);
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	if (!out)
		abort();
	if (request->n_faults == 0)
		request_answer(mir, tool, request, out);
	if (request->n_faults > 0) {
		mir->wrong = true;
		answer_errors(out, request);
	}
	if (fclose(out) != 0)
		abort();
	tool_say(tool, text, n);
	free(text);
	request_free(request);
}

/* One document of each tool that has one, so that nobody waits for all of another one. Returns
 * whether there may be more. */
static bool documents_answer(struct mir *mir)
{
	struct framed framed;
	struct tool *tool;
	bool any = false;

	LIST_FOREACH (tool, &mir->tools, link) {
		if (tool->gone || tool->n_unread >= TOOL_UNREAD ||
		    !framing_next(&tool->framing, tool->ended, &framed))
			continue;
		document_answer(mir, tool, &framed);
		any = true;
	}
	return any;
}

/* ---- the loop ---- */

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	(void)number;
	stopped = 1;
}

/* The nearer one; -1 is never. */
static int sooner(int a, int b)
{
	return a < 0 ? b : b < 0 || a < b ? a : b;
}

/* Wait until there is something to read or to do, and do it. */
static void mir_turn(struct mir *mir, int timeout_ms)
{
	struct evspace_connection *connection = mir->probes.connection;
	struct pollfd fds[2 + TOOLS_MAX] = {{.fd = mir->listener, .events = POLLIN},
					    {.fd = -1, .events = POLLIN}};
	struct tool *tool;
	nfds_t n = 2;

	timeout_ms = sooner(timeout_ms, probing_timeout(&mir->probes));
	if (connection) {
		timeout_ms = sooner(timeout_ms, evspace_timeout(connection));
		fds[1].fd = evspace_fd(connection);
	}
	LIST_FOREACH (tool, &mir->tools, link) {
		short events = tool_events(tool);

		fds[n++] = (struct pollfd){.fd = events ? tool->fd : -1, .events = events};
	}
	if (poll(fds, n, timeout_ms) < 0)
		return;
	n = 2;
	LIST_FOREACH (tool, &mir->tools, link) {
		if (fds[n].revents & POLLOUT)
			tool_flush(tool);
		if (fds[n++].revents & (POLLIN | POLLHUP | POLLERR))
			tool_read(tool);
	}
	if (connection)
		evspace_dispatch(connection);
	probing_run(&mir->probes);
	if (fds[0].revents)
		tools_accept(&mir->tools, mir->listener);
}

static void tools_leave(struct mir *mir, bool all)
{
	struct tool *tool, *next;

	for (tool = LIST_FIRST(&mir->tools); tool; tool = next) {
		next = LIST_NEXT(tool, link);
		if (!all && !tool->gone && (!tool->ended || tool->n_unread > 0))
			continue;
		probing_leave(&mir->probes, &tool->owner);
		tool_free(tool);
	}
}

/* Until the end of the file, or for ever. */
static void mir_run(struct mir *mir)
{
	uint64_t until = 0;

	while (!stopped) {
		const struct tool *only = LIST_FIRST(&mir->tools);
		bool more = documents_answer(mir);

		if (mir->listener >= 0) {
			if (!more)
				tools_leave(mir, false);
		} else if (only->ended && !more) {
			uint64_t now = clock_mono_ns();

			until = until > 0 ? until : now + mir->linger_ns;
			if (now >= until || !probing_delivers(&mir->probes))
				break;
			mir_turn(mir, (int)((until - now) / 1000000 % 60000) + 1);
			continue;
		}
		mir_turn(mir, more ? 0 : -1);
	}
}

/* Where documents come from. */
static int mir_begin(struct mir *mir, struct error *e)
{
	struct sigaction action = {.sa_handler = on_signal};
	const char *file = mir->common.words[0];
	int fd = STDIN_FILENO;

	*(void **)(void *)&mir->read =
		module_function(REQUEST_OBJECT, REQUEST_SYMBOL, "libxml2 (libxml2-dev)", e);
	if (!mir->read)
		return -1;
	if (mir->listen) {
		mir->listener = tools_listen(mir->listen, e);
		if (mir->listener < 0)
			return -1;
		sigaction(SIGTERM, &action, NULL);
		sigaction(SIGINT, &action, NULL);
		fprintf(stderr, "evspace mir: ready on %s\n", mir->listen);
		return 0;
	}
	if (strcmp(file, "-") != 0)
		fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errorf(e, "%.200s: %s", file, strerror(errno));
	tool_new(&mir->tools, fd, false);
	return 0;
}

static void mir_end(struct mir *mir)
{
	tools_leave(mir, true);
	evspace_disconnect(mir->probes.connection);
	if (mir->listener < 0)
		return;
	unlink(mir->listen + strlen("unix:"));
	close(mir->listener);
}

int mir_main(int argc, char **argv)
{
	struct mir mir = {.listener = -1};
	struct error e = {""};
	int code = options_parse(argc, argv, &mir_usage, &mir, &mir.common);

	if (code >= 0)
		return code;
	if (mir.catalogue) {
		metric_catalogue(stdout);
		return EXIT_FINE;
	}
	if ((mir.common.n_words == 0) != (mir.listen != NULL)) {
		fputs("evspace mir: say which FILE, - for standard input, or where to --listen\n",
		      stderr);
		return EXIT_USAGE;
	}
	TAILQ_INIT(&mir.probes.list);
	mir.probes.look = &mir.common.look;
	mir.probes.folder = mir.deliver;
	if (mir_begin(&mir, &e) < 0) {
		fprintf(stderr, "evspace mir: %s\n", e.text);
		return EXIT_USAGE;
	}
	mir_run(&mir);
	/* it could not be read to its end */
	mir.wrong |= !mir.listen && LIST_FIRST(&mir.tools)->gone;
	mir_end(&mir);
	return mir.wrong && !mir.listen ? EXIT_BAD_NEWS : EXIT_FINE;
}
