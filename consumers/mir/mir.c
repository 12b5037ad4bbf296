/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace mir: answers the requests of MIR (APART) about a running program. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/command.h"
#include "consumers/cli/module.h"
#include "consumers/cli/options.h"
#include "consumers/mir/access.h"
#include "consumers/mir/https.h"
#include "consumers/mir/metric.h"
#include "consumers/mir/owner.h"
#include "consumers/mir/probe-function.h"
#include "consumers/mir/probe-keeper.h"
#include "consumers/mir/probing.h"
#include "consumers/mir/request.h"
#include "consumers/mir/tool.h"
#include "consumers/mir/units.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/* How long probes outlive the last request of a tool elsewhere. */
#define LEASE_NS (UINT64_C(300) * 1000000000)

/* How long what is delivered last may take, by those that take anything. */
#define LAST_NS UINT64_C(1000000000)

/* How often to look whether what is waited for has come too late. */
#define WAITING_MS 100

static const char mir_help[] =
	"usage: evspace mir FILE|- [options]\n"
	"       evspace mir --listen unix:PATH|HOST:PORT [options]\n"
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
	"  sirreq       functions, loops, calls ... of sources; of executables, by DWARF\n";

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
	const char *post;	 /* the host that values may be posted to; NULL: none */
	const char *sources;	 /* that tools elsewhere may ask about; NULL: none */
	const char *listen;	 /* where tools connect; NULL: a file has all documents */
	const char *certificate; /* that tools elsewhere see; NULL: that of this host's name */
	struct probe_keeper keeper;
	uint64_t linger_ns; /* how long to go on after the last document */
	mir_request_function *read;
	struct probes probes; /* without a connection until one is needed */
	struct errands errands;
	struct tools tools;
	struct https *https; /* tools elsewhere; NULL: there are none */
	struct owners owners;
	struct probe_owner nobody; /* of requests that only look */
	int listener;		   /* -1: none */
	struct event *acceptable, *term, *interrupt, *timer;
	bool stopped;
};

static const struct option_row mir_rows[] = {
	{"lenient", .at = offsetof(struct mir, lenient),
	 .help = "take the words of the report's examples, too, which its grammar lacks "
		 "(docs/mir.md)"},
	{"listen", "ADDR", OPTION_TEXT, .at = offsetof(struct mir, listen),
	 .help = "instead of FILE, answer all programs of this user that connect to unix:PATH, or "
		 "those with a certificate that POST documents to https://HOST:PORT/"},
	{"certificate", "NAME", OPTION_TEXT, .at = offsetof(struct mir, certificate),
	 .help = "of HOST:PORT, and for --post: the agent's certificate NAME.pem of the folder "
		 "--tls that tools see (default: that of this host's name)"},
	{"lease", "TIME", OPTION_SPAN, .at = offsetof(struct mir, owners.lease_ns),
	 .help = "of HOST:PORT: probes end so long after the last request with the certificate "
		 "that has defined them (default 5m)"},
	{"deliver", "DIR", OPTION_TEXT, .at = offsetof(struct mir, probes.destinations.folder),
	 .help = "let requests have values written to files below this folder: destinations "
		 "file://DIR/..."},
	{"post", "HOST:PORT", OPTION_TEXT, .at = offsetof(struct mir, post),
	 .help = "let requests have values posted to this host, whose certificate names it (or "
		 "NAME=HOST:PORT): destinations https://HOST:PORT/..."},
	{"flags", "FLAGS", OPTION_TEXT, .at = offsetof(struct mir, probes.flags),
	 .help = "read sources in C and C++ as the compiler does with these (-I, -D, -std=, "
		 "-fopenmp ...), instead of compile_commands.json's"},
	{"write", "DIR", OPTION_TEXT, .at = offsetof(struct mir, probes.write),
	 .help = "let requests have instrumented sources written below this folder: out "
		 "file://DIR/..."},
	{"sources", "DIR", OPTION_TEXT, .at = offsetof(struct mir, sources),
	 .help = "of HOST:PORT: sirreq may ask about files below this folder (default: none)"},
	{"fetch", "HOSTS", OPTION_TEXT, .at = offsetof(struct mir, probes.fetch),
	 .help = "let sirreq name sources at these hosts, HOST or HOST:PORT,...: "
		 "https://HOST/PATH, http: and ftp: are fetched by curl(1)"},
	{"keep", "FILE", OPTION_TEXT, .at = offsetof(struct mir, keeper.path),
	 .help = "of HOST:PORT: keep probes in FILE, and begin with those that are there"},
	{"linger", "TIME", OPTION_TIME, .at = offsetof(struct mir, linger_ns),
	 .help = "deliver values for so long after the last document"},
	{"wait", NULL, OPTION_ONE, .at = offsetof(struct mir, common.look.wait),
	 .help = "the run need not exist yet"},
	{"catalogue", .at = offsetof(struct mir, catalogue), .help = "print the metrics, and end"},
	{0},
};

static const struct usage mir_usage = {
	.help = mir_help,
	.after = mir_more,
	.own = mir_rows,
	.live = "probes measure from when they are asked for; view, colop and export read one",
	.takes = OPTIONS_LOOK | OPTIONS_VIEW | OPTIONS_WAVES,
	.lacks = " of view select deadline from speed rate window tree concurrency count duration "
		 "compress patience monitored wait ",
	.words_max = 1};

/* What there is of a document that is too large. */
static struct mir_request *request_of_large(void)
{
	struct mir_request *request = memory_new(1, sizeof(*request));

	request_complain(request, &(struct mir_place){.line = 1, .column = 1},
			 "it is larger than %zu MiB; say it in several documents",
			 FRAMING_MAX >> 20);
	return request;
}

static void mir_connect(struct mir *mir)
{
	struct snapshots *s = &mir->probes.snapshots;

	/* it was lost for good, and nothing has anything on it */
	if (s->connection && evspace_trouble(s->connection)[0] && s->coming.since_ns == 0 &&
	    LIST_EMPTY(&mir->probes.views)) {
		probe_functions_fini(&mir->probes);
		evspace_disconnect(s->connection);
		s->connection = NULL;
		usages_fini(&mir->probes.usages);
	}
	if (!s->connection)
		s->connection = evspace_connect_on(mir->tools.base, &mir->common.look);
}

/* Have it answered; what only looks at this host's files needs no agent. */
static struct errand *request_ask(struct mir *mir, struct probe_owner *owner,
				  struct mir_request *request, errand_done *done, void *arg)
{
	if (request->n_faults == 0 && request->kind != MIR_SIRREQ)
		mir_connect(mir);
	return errand_new(&mir->errands, &mir->probes, owner, request, done, arg);
}

/* One document of each tool, so that nobody waits for long. Returns whether there may be more. */
static bool documents_ask(struct mir *mir)
{
	struct mir_request *request;
	struct framed f;
	struct tool *tool;
	bool any = false;

	LIST_FOREACH (tool, &mir->tools.list, link) {
		if (!tool_next(tool, &f))
			continue;
		request = f.large ? request_of_large() : mir->read(f.text, f.n, mir->lenient);
		request->asker = (uintptr_t)tool;
		tool->errand = request_ask(mir, &tool->owner, request, tool_answer, tool);
		any = true;
	}
	return any;
}

/* ---- tools elsewhere ---- */

/* Whose request it is; NULL with @e: it may not ask it. */
static struct probe_owner *owner_of(struct mir *mir, const struct peer *peer,
				    const struct mir_request *request, struct error *e)
{
	struct probe_owner *owner;

	if (access_check(peer, request, mir->common.look.run, e) < 0)
		return NULL;
	if (!(peer->roles & ROLE_CONTROL))
		return &mir->nobody;
	owner = owner_find(&mir->owners, peer->name);
	if (!owner)
		errorf(e, "%u others have probes already; ask again later", OWNERS_MAX);
	else if (request_changes(request))
		fprintf(stderr, "evspace mir: audit: %s (%s): %s\n", peer->name, peer->where,
			request->place.element);
	return owner;
}

static struct errand *on_document(void *arg, const struct peer *peer, const char *text, size_t n,
				  errand_done *done, void *done_arg, struct error *e)
{
	struct mir *mir = arg;
	struct mir_request *request;
	struct probe_owner *owner;

	/* nothing is read of who may ask nothing */
	if (access_check(peer, NULL, mir->common.look.run, e) < 0)
		return NULL;
	request = mir->read(text, n, mir->lenient);
	owner = owner_of(mir, peer, request, e);
	request->below = mir->sources ? mir->sources : "";
	request->asker = hash_bytes(peer->name, strlen(peer->name));
	if (owner)
		return request_ask(mir, owner, request, done, done_arg);
	request_free(request);
	return NULL;
}

/* ---- the loop ---- */

static void on_signal(evutil_socket_t number, short what, void *arg)
{
	struct mir *mir = arg;

	(void)number;
	(void)what;
	mir->stopped = true;
}

static void on_acceptable(evutil_socket_t fd, short what, void *arg)
{
	(void)what;
	tools_accept(arg, fd);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

/* The nearer one; -1 is never. */
static int sooner(int a, int b)
{
	return a < 0 ? b : b < 0 || a < b ? a : b;
}

static void tools_leave(struct mir *mir, bool all)
{
	struct tool *tool, *next;

	for (tool = LIST_FIRST(&mir->tools.list); tool; tool = next) {
		next = LIST_NEXT(tool, link);
		tool->gone |= tool_has_left(tool);
		if (!all && !tool->gone && (!tool->ended || tool->errand || tool->n_unread > 0))
			continue;
		errand_drop(tool->errand);
		tool->errand = NULL;
		probing_leave(&mir->probes, &tool->owner);
		tool_free(tool);
	}
}

/* Do what there is to do. Returns in how many ms there is more, -1: never. */
static int mir_work(struct mir *mir)
{
	bool waits = probing_run(&mir->probes);
	int ms;

	/* before whoever has made them is told */
	probe_keeper_run(&mir->keeper, &mir->probes);
	waits |= errands_run(&mir->errands);
	waits |= snapshots_run(&mir->probes.snapshots);
	ms = probe_functions_run(&mir->probes);
	/* for waves, and not for ever */
	ms = sooner(waits ? WAITING_MS : ms, sooner(probing_timeout(&mir->probes),
						    owners_run(&mir->owners, &mir->probes, false)));
	/* all of these may have changed some */
	return sooner(ms, probe_keeper_timeout(&mir->keeper, &mir->probes));
}

static void mir_wait(struct mir *mir, int timeout_ms)
{
	const struct timeval after = {timeout_ms / 1000, timeout_ms % 1000 * 1000};

	if (timeout_ms >= 0)
		event_add(mir->timer, &after);
	event_base_loop(mir->tools.base, EVLOOP_ONCE);
	event_del(mir->timer);
}

/* A file is answered: returns whether it is time to end. */
static bool is_over(const struct mir *mir, uint64_t *until_ns)
{
	uint64_t now = clock_mono_ns();

	*until_ns = *until_ns > 0 ? *until_ns : now + mir->linger_ns;
	return now >= *until_ns || !probing_delivers(&mir->probes);
}

/* Until the end of the file, or for ever. */
static void mir_run(struct mir *mir)
{
	uint64_t until = 0;

	while (!mir->stopped) {
		int timeout_ms = mir_work(mir);
		bool more = documents_ask(mir);
		const struct tool *only = LIST_FIRST(&mir->tools.list);

		if (mir->listen) {
			tools_leave(mir, false);
		} else if (only->ended && !only->errand) {
			if (is_over(mir, &until))
				break;
			timeout_ms = sooner(timeout_ms,
					    (int)((until - clock_mono_ns()) / 1000000 % 60000) + 1);
		}
		mir_wait(mir, more ? 0 : timeout_ms);
	}
	until = clock_mono_ns() + LAST_NS;
	while (destinations_wait(&mir->probes.destinations) && clock_mono_ns() < until)
		mir_wait(mir, WAITING_MS);
}

/* ---- begin and end ---- */

static void event_begin(struct event *event)
{
	if (!event || event_add(event, NULL) < 0)
		abort();
}

static bool is_local(const char *address)
{
	return strncmp(address, "unix:", strlen("unix:")) == 0;
}

static int probes_restore(struct mir *mir, struct error *e)
{
	if (mir->keeper.path &&
	    (probe_keeper_begin(&mir->keeper, e) < 0 ||
	     probe_file_read(mir->keeper.path, &mir->owners, &mir->probes, mir->read, e) < 0))
		return -1;
	if (mir->probes.n > 0)
		mir_connect(mir);
	return 0;
}

static int mir_listen(struct mir *mir, struct error *e)
{
	bool local = is_local(mir->listen);
	struct tls *tls = local ? NULL : access_identity(mir->common.look.tls, mir->certificate, e);

	if (!local && !tls)
		return -1;
	if (local || probes_restore(mir, e) == 0)
		mir->listener = tools_listen(&mir->tools, mir->listen, e);
	if (mir->listener < 0) {
		tls_free(tls);
		return -1;
	}
	if (tls) {
		mir->https = https_new(mir->tools.base, mir->listener, tls, on_document, mir);
	} else {
		mir->acceptable = event_new(mir->tools.base, mir->listener, EV_READ | EV_PERSIST,
					    on_acceptable, &mir->tools);
		event_begin(mir->acceptable);
	}
	signal(SIGPIPE, SIG_IGN);
	mir->term = evsignal_new(mir->tools.base, SIGTERM, on_signal, mir);
	mir->interrupt = evsignal_new(mir->tools.base, SIGINT, on_signal, mir);
	event_begin(mir->term);
	event_begin(mir->interrupt);
	fprintf(stderr, "evspace mir: ready on %s\n", mir->listen);
	return 0;
}

/* A loop that waits for files, too. */
static void base_make(struct mir *mir)
{
	struct event_config *config = event_config_new();

	if (!config || event_config_require_features(config, EV_FEATURE_FDS) < 0)
		abort();
	mir->tools.base = event_base_new_with_config(config);
	event_config_free(config);
	mir->timer = mir->tools.base ? evtimer_new(mir->tools.base, on_timer, NULL) : NULL;
	if (!mir->timer)
		abort();
}

/* Do the options go together? */
static int mir_check(const struct mir *mir, struct error *e)
{
	bool keeps = mir->keeper.path || (mir->certificate && !mir->post) || mir->sources;

	if (keeps && (!mir->listen || is_local(mir->listen)))
		return errorf(e, "--keep and --certificate are of --listen HOST:PORT");
	if (mir->common.look.collect)
		return errorf(e, "--budget PERCENT alone: with ,collect probes would lack events");
	if ((mir->common.n_words == 0) != (mir->listen != NULL))
		return errorf(e, "say which FILE, - for standard input, or where to --listen");
	return 0;
}

/* Where documents come from. */
static int mir_begin(struct mir *mir, struct error *e)
{
	const char *file = mir->common.words[0];
	int fd = STDIN_FILENO;

	*(void **)(void *)&mir->read =
		module_function(REQUEST_OBJECT, REQUEST_SYMBOL, "libxml2 (libxml2-dev)", e);
	if (!mir->read || destinations_begin(&mir->probes.destinations, mir->post,
					     mir->common.look.tls, mir->certificate, e) < 0)
		return -1;
	if (mir->listen)
		return mir_listen(mir, e);
	if (strcmp(file, "-") != 0)
		fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errorf(e, "%.200s: %s", file, strerror(errno));
	tool_new(&mir->tools, fd, false);
	return 0;
}

static void mir_end(struct mir *mir)
{
	struct event *const events[] = {mir->acceptable, mir->term, mir->interrupt, mir->timer};

	tools_leave(mir, true);
	https_free(mir->https);
	probe_keeper_end(&mir->keeper, &mir->probes);
	owners_run(&mir->owners, &mir->probes, true);
	archivers_fini(&mir->probes.archivers, mir->tools.base);
	probe_functions_fini(&mir->probes);
	snapshots_fini(&mir->probes.snapshots);
	evspace_disconnect(mir->probes.snapshots.connection);
	usages_fini(&mir->probes.usages);
	units_free(&mir->nobody);
	destinations_fini(&mir->probes.destinations);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i])
			event_free(events[i]);
	event_base_free(mir->tools.base);
	if (mir->listener < 0 || mir->https)
		return;
	tools_unlisten(&mir->tools, mir->listen);
	close(mir->listener);
}

int mir_main(int argc, char **argv)
{
	struct mir mir = {.listener = -1, .owners.lease_ns = LEASE_NS};
	struct error e = {""};
	bool wrong;
	int code = options_parse(argc, argv, &mir_usage, &mir, &mir.common);

	if (code >= 0)
		return code;
	if (mir.catalogue) {
		metric_catalogue(stdout);
		return EXIT_FINE;
	}
	TAILQ_INIT(&mir.probes.list);
	mir.probes.snapshots.options = &mir.common.look;
	mir.probes.destinations.run = mir.common.look.run;
	base_make(&mir);
	errands_init(&mir.errands, mir.tools.base);
	mir.probes.destinations.base = mir.keeper.base = mir.tools.base;
	mir.keeper.owners = &mir.owners;
	if (mir_check(&mir, &e) < 0 || mir_begin(&mir, &e) < 0) {
		fprintf(stderr, "evspace mir: %s\n", e.text);
		return EXIT_USAGE;
	}
	mir_run(&mir);
	/* an answer says so, or it could not be read to its end */
	wrong = !mir.listen &&
		(LIST_FIRST(&mir.tools.list)->wrong || LIST_FIRST(&mir.tools.list)->gone);
	mir_end(&mir);
	return wrong ? EXIT_BAD_NEWS : EXIT_FINE;
}
