/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace element: makes, writes, reads, awaits and lists elements of programs on this host. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/element-elsewhere.h"
#include "consumers/cli/element-show.h"
#include "consumers/cli/options.h"
#include "node-agent/pastset/evspace-element.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/store/store-run.h"
#include "node-agent/store/store.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "tree/data/fields.h"

static const char element_help[] =
	"usage: evspace element list [options]\n"
	"       evspace element make NAME --fields TYPE [options]\n"
	"       evspace element write NAME FIELD=VALUE... [options]\n"
	"       evspace element read NAME [options]\n"
	"       evspace element wait NAME [options]\n"
	"\n"
	"Elements of programs, as evspace-element(3) makes them: typed tuples that one\n"
	"process writes and any number read. On this host no agent is needed; with\n"
	"--connect those of all hosts of an agent's map are listed and read.\n"
	"\n"
	"  list   those of all runs, or of one: type, tuples, who is there\n"
	"  make   one, for whoever writes it later\n"
	"  write  a tuple; fields that are not named are 0. With - instead of fields: a\n"
	"         tuple for each line of stdin\n"
	"  read   what it holds, oldest first\n"
	"  wait   for the next tuple that is written, and print it; exit code 1 if none\n"
	"         comes in time\n";

static const char element_more[] =
	"examples:\n"
	"  evspace element make load --run night --fields 'host text[16], load f64'\n"
	"  evspace element write load host=w3 load=0.93\n"
	"  evspace element read load --follow --json | jq .fields.load\n"
	"  evspace element wait load --timeout 10s\n"
	"  evspace element read residual --connect front:7440 --follow\n";

enum action { LIST, MAKE, WRITE, READ, WAIT };

static const char *const actions[] = {"list", "make", "write", "read", "wait"};

#define ACTIONS (sizeof(actions) / sizeof(actions[0]))

struct element_command {
	struct common common;
	enum action action;
	const char *run, *type;
	unsigned capacity;
	const char *connect, *node;	  /* NULL: here */
	uint64_t patience_ns, timeout_ns; /* 0: not said */
	bool newest, follow;
	struct evspace_element *element;
	struct evspace_element_state state;
	struct fields fields;
};

static const struct option_row element_rows[] = {
	{"run", "NAME", OPTION_TEXT, .at = offsetof(struct element_command, run),
	 .help = "the run that it belongs to; default: $EVSPACE_RUN, else the profile's, else the "
		 "one that has an element of this name, else the only one that is living. list: "
		 "likewise, else those of all runs"},
	{"fields", "TYPE", OPTION_TEXT, .at = offsetof(struct element_command, type),
	 .help = "make: fields of its tuples, \"step u64, residual f64[3], phase text[16]\", of "
		 "i32, u32, i64, u64, f32, f64 and text"},
	{"capacity", "N", OPTION_COUNT, .at = offsetof(struct element_command, capacity),
	 .most = 16777216, .help = "make: tuples that it holds; default 200"},
	{"patience", "TIME", OPTION_SPAN, .at = offsetof(struct element_command, patience_ns),
	 .help = "make: how long its writer waits for readers when it is full; default: it does "
		 "not, and overwrites the oldest"},
	{"newest", .at = offsetof(struct element_command, newest),
	 .help = "read: only the newest tuple"},
	{"follow", .at = offsetof(struct element_command, follow),
	 .help = "read: go on with what is written"},
	{"timeout", "TIME", OPTION_SPAN, .at = offsetof(struct element_command, timeout_ns),
	 .help = "wait, and read --follow: how long to wait for a tuple; default: for ever"},
	{"connect", "ADDR", OPTION_TEXT, .at = offsetof(struct element_command, connect),
	 .help = "list, read, wait: elements of all hosts, by the agent at HOST:PORT or "
		 "unix:PATH; default: those of this host, without agents"},
	{"node", "NODE", OPTION_TEXT, .at = offsetof(struct element_command, node),
	 .help = "with --connect: only those of this node"},
	{0},
};

static const struct usage element_usage = {
	.help = element_help,
	.after = element_more,
	.own = element_rows,
	.takes = OPTIONS_LOOK | OPTIONS_JSON,
	.lacks = " connect ",
	.live = "it is of elements that are held; evspace events reads one",
	.words_max = INT_MAX};

/* ---- which run ---- */

/* Those that have an element @name. Returns how many, with one of them in *@run. */
static unsigned runs_having(const struct store *store, const char *name, const char **run)
{
	const struct store_element *m;
	unsigned n = 0;

	TAILQ_FOREACH (m, &store->elements, link) {
		if (strcmp(m->file.said.name, name) != 0)
			continue;
		*run = m->run;
		n++;
	}
	return n;
}

/* The run of the element @name, for @c->run, which is a copy. */
static int run_find(struct element_command *c, const struct store *store, const char *name)
{
	const char *run = NULL;
	unsigned n = runs_having(store, name, &run);

	if (n == 0)
		run = store_run_newest(store, true);
	if (n <= 1 && run && *run) {
		c->run = memory_copy(run);
		return EXIT_FINE;
	}
	fprintf(stderr,
		n > 1 ? "evspace element: several runs have an element %s; say which with --run "
			"(evspace element list)\n"
		      : "evspace element: no run has an element %s, and none is living: say its "
			"run "
			"with --run\n",
		name);
	return EXIT_USAGE;
}

static int store_open(struct store *store)
{
	char base[FOLDER_BASE];
	struct error e = {""};

	if (folder_base_path(base, sizeof(base), &e) && store_init(store, base, false, &e) == 0)
		return EXIT_FINE;
	fprintf(stderr, "evspace element: %s\n", e.text);
	return EXIT_BAD_NEWS;
}

static int run_choose(struct element_command *c)
{
	struct store store;
	int code;

	if (c->run)
		return EXIT_FINE;
	code = store_open(&store);
	if (code != EXIT_FINE)
		return code;
	code = run_find(c, &store, c->common.words[1]);
	store_fini(&store);
	return code;
}

/* ---- opening ---- */

/* As milliseconds, one at least. */
static int ms_of(uint64_t ns)
{
	uint64_t ms = ns / 1000000 + (ns % 1000000 != 0);

	return ms < INT_MAX ? (int)ms : INT_MAX;
}

static int command_open(struct element_command *c, bool write)
{
	const struct evspace_element_plan plan = {.name = c->common.words[1],
						  .run = c->run,
						  .fields = c->type,
						  .capacity = c->capacity,
						  .wait_ms = ms_of(c->patience_ns)};
	char why[1024] = "";

	c->element = write ? evspace_element_make(&plan, why, sizeof(why))
			   : evspace_element_open(&plan, why, sizeof(why));
	if (!c->element) {
		fprintf(stderr, "evspace element: %s\n", why);
		return errno == EPROTOTYPE || (write && errno == EINVAL) ? EXIT_USAGE
									 : EXIT_BAD_NEWS;
	}
	evspace_element_look(c->element, &c->state);
	return fields_parse(&c->fields, c->state.fields, NULL) < 0 ? EXIT_BAD_NEWS : EXIT_FINE;
}

/* ---- writing ---- */

/* Sets the fields that @words say; all others are 0. */
static int tuple_set(const struct element_command *c, char *const *words, void *tuple,
		     struct error *e)
{
	memset(tuple, 0, FIELDS_BYTES);
	for (; *words; words++) {
		const char *value = strchr(*words, '=');
		char *name = memory_copy_bytes(*words, value ? (size_t)(value - *words) : 0);
		const struct field *field = fields_find(&c->fields, name);

		free(name);
		if (!field)
			return errorf(e, "\"%.60s\" says no field: say NAME=VALUE, of \"%s\"",
				      *words, c->state.fields);
		if (field_set(field, tuple, value + 1, e) < 0)
			return -1;
	}
	return 0;
}

static int tuple_write(struct element_command *c, char *const *words)
{
	char tuple[FIELDS_BYTES];
	struct error e = {""};

	if (tuple_set(c, words, tuple, &e) < 0) {
		fprintf(stderr, "evspace element: %s\n", e.text);
		return EXIT_USAGE;
	}
	if (evspace_element_write(c->element, tuple) == 0)
		return EXIT_FINE;
	fprintf(stderr, "evspace element: not written: %s\n",
		errno == ETIMEDOUT ? "it is full, and a reader has not made room in time"
				   : strerror(errno));
	return EXIT_BAD_NEWS;
}

/* A tuple for each line of stdin. */
static int lines_write(struct element_command *c)
{
	char *line = NULL, *words[FIELDS_MAX + 2], *rest;
	size_t room = 0;
	int code = EXIT_FINE;

	while (code == EXIT_FINE && getline(&line, &room, stdin) > 0) {
		size_t n = 0;

		rest = line;
		while (n <= FIELDS_MAX && (words[n] = strsep(&rest, " \t\n")))
			n += *words[n] != 0;
		words[n] = NULL;
		if (n > 0)
			code = tuple_write(c, words);
	}
	free(line);
	return code;
}

static int command_write(struct element_command *c)
{
	char *const *words = c->common.words + 2;

	return words[0] && strcmp(words[0], "-") == 0 && !words[1] ? lines_write(c)
								   : tuple_write(c, words);
}

/* ---- reading ---- */

/* A tuple that is to be taken. */
struct taking {
	struct element_command *c;
	char tuple[FIELDS_BYTES];
	struct evspace_element_tuple about;
	int timeout_ms;
};

static int take_next(struct taking *t)
{
	return evspace_element_next(t->c->element, t->tuple, &t->about, t->timeout_ms);
}

static void tuple_show(const struct taking *t)
{
	const struct element_tuple tuple = {.run = t->c->state.run,
					    .element = t->c->state.name,
					    .fields = &t->c->fields,
					    .tuple = t->tuple,
					    .number = t->about.number,
					    .lost = t->about.lost,
					    .time_ns = t->about.time_ns};

	element_tuple_show(&tuple, t->c->common.json);
}

static int use_failed(void)
{
	fprintf(stderr, "evspace element: %s\n",
		errno == ESTALE	  ? "it was removed"
		: errno == EIO	  ? "its file is damaged, or was cut short"
		: errno == EUSERS ? "its writer waits for as many readers as it can"
				  : strerror(errno));
	return EXIT_BAD_NEWS;
}

static int timeout_of(const struct element_command *c)
{
	return c->timeout_ns ? ms_of(c->timeout_ns) : -1;
}

/* What it holds, and with --follow what comes. */
static int command_read(struct element_command *c)
{
	struct taking t = {.c = c};
	int rc;

	if (c->newest) {
		rc = evspace_element_newest(c->element, t.tuple, &t.about);
		if (rc > 0)
			tuple_show(&t);
		return rc < 0 ? use_failed() : rc > 0 ? EXIT_FINE : EXIT_BAD_NEWS;
	}
	t.timeout_ms = c->follow ? timeout_of(c) : 0;
	/* what is written meanwhile is for --follow */
	while ((rc = take_next(&t)) > 0) {
		tuple_show(&t);
		if (!c->follow && t.about.number + 1 >= c->state.written)
			return EXIT_FINE;
	}
	return rc < 0 ? use_failed() : c->follow ? EXIT_BAD_NEWS : EXIT_FINE;
}

/* The first tuple that is written from now on. */
static int command_wait(struct element_command *c)
{
	struct taking t = {.c = c, .timeout_ms = timeout_of(c)};
	int rc;

	do
		rc = take_next(&t);
	while (rc > 0 && t.about.number < c->state.written);
	if (rc > 0)
		tuple_show(&t);
	return rc < 0 ? use_failed() : rc > 0 ? EXIT_FINE : EXIT_BAD_NEWS;
}

/* ---- listing ---- */

/* An element that is shown. */
struct listing {
	const struct evspace_element_plan *plan;
	struct element_list *list;
};

static int element_show(void *arg)
{
	const struct listing *l = arg;
	struct evspace_element *element = evspace_element_open(l->plan, NULL, 0);
	struct evspace_element_state state;

	if (!element)
		return -1;
	evspace_element_look(element, &state);
	element_list_add(l->list, &state, NULL);
	evspace_element_close(element);
	return 0;
}

static int command_list(struct element_command *c)
{
	const struct store_element *m;
	struct element_list list;
	struct store store;
	int code = store_open(&store);

	if (code != EXIT_FINE)
		return code;
	element_list_begin(&list, c->common.json, false);
	TAILQ_FOREACH (m, &store.elements, link) {
		const struct evspace_element_plan plan = {.name = m->file.said.name, .run = m->run};
		struct listing l = {&plan, &list};

		if (!c->run || strcmp(c->run, m->run) == 0)
			(void)segment_guarded(element_show, &l);
	}
	element_list_end(&list);
	store_fini(&store);
	return EXIT_FINE;
}

/* ---- all of it ---- */

/* What of the words and options does not belong to @action; NULL: nothing. */
static const char *words_wrong(const struct element_command *c, int action)
{
	if (action == LIST ? c->common.n_words > 1 : c->common.n_words < 2)
		return action == LIST ? "list takes no name" : "say the name of an element";
	if (action != WRITE && c->common.n_words > 2)
		return "one element at a time";
	if (action == MAKE ? !c->type : c->type || c->capacity || c->patience_ns)
		return action == MAKE ? "make needs --fields"
				      : "--fields, --capacity and --patience are for make";
	if (action != READ && (c->newest || c->follow))
		return "--newest and --follow are for read";
	if (c->timeout_ns && action != WAIT && !c->follow)
		return "--timeout is for wait, and for read --follow";
	if (c->connect ? action == MAKE || action == WRITE : c->node != NULL)
		return c->connect ? "elements are made and written on their host: not with "
				    "--connect"
				  : "--node is for --connect";
	return NULL;
}

/* All but listing. A file that is cut meanwhile ends the command. */
static int action_do(void *arg)
{
	struct element_command *c = arg;
	int code = run_choose(c), action = c->action;

	if (code == EXIT_FINE)
		code = command_open(c, action == MAKE || action == WRITE);
	if (code == EXIT_FINE && action == WRITE)
		code = command_write(c);
	if (code == EXIT_FINE && action == READ)
		code = command_read(c);
	if (code == EXIT_FINE && action == WAIT)
		code = command_wait(c);
	evspace_element_close(c->element);
	return code;
}

int element_main(int argc, char **argv)
{
	struct element_command c = {.run = NULL};
	int code = options_parse(argc, argv, &element_usage, &c, &c.common), action;
	const char *wrong;

	if (code >= 0)
		return code;
	if (c.common.n_words == 0) {
		fputs(element_help, stderr);
		return EXIT_USAGE;
	}
	action = options_word(argv[0], c.common.words[0], actions, ACTIONS);
	if (action < 0)
		return EXIT_USAGE;
	wrong = words_wrong(&c, action);
	if (wrong) {
		fprintf(stderr, "evspace element: %s; try --help\n", wrong);
		return EXIT_USAGE;
	}
	c.common.look.connect = c.connect;
	c.run = c.run ? c.run : c.common.look.run;
	if (c.connect)
		return element_elsewhere(
			&(struct element_asked){.look = &c.common.look,
						.run = c.run,
						.name = action == LIST ? NULL : c.common.words[1],
						.node = c.node,
						.waits = action == WAIT,
						.newest = c.newest,
						.follow = c.follow,
						.json = c.common.json,
						.timeout_ns = c.timeout_ns});
	if (action == LIST)
		return command_list(&c);
	c.action = (enum action)action;
	code = segment_guarded(action_do, &c);
	return code < 0 ? use_failed() : code;
}
