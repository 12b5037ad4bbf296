/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace map diff, apply and rollback: what another map would change, and going by it. */
#include "consumers/map-change.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "consumers/client.h"
#include "consumers/command.h"
#include "consumers/options.h"
#include "pathmap/difference.h"
#include "pathmap/hostlist.h"
#include "pathmap/memory.h"
#include "pathmap/plural.h"
#include "pathmap/texts.h"
#include "tree/stage.h"

/* Hosts are given 3 s to answer, and waves that are under way their deadlines to end. */
#define CHANGE_WITHIN_MS 30000u

static const char change_help[] =
	"usage: evspace map diff DIR [options]\n"
	"       evspace map apply DIR [--dry-run] [options]\n"
	"       evspace map rollback [--dry-run] [options]\n"
	"\n"
	"diff says what would be different if the entry agent went by the pathmap in DIR: hosts, "
	"ranks,\n"
	"what is collected, and for each view which host is below which other one and what runs "
	"where.\n"
	"\n"
	"apply has it go by that map, while the program runs and consumers look: new trees are "
	"prepared\n"
	"beside the old ones, and each consumer goes over between two waves; nothing is lost, "
	"nothing comes\n"
	"twice. When a host does not answer, is not who it should be, or has ranks that the map "
	"puts\n"
	"elsewhere, nothing is changed: exit code 1. Hosts that did not answer before either are "
	"named.\n"
	"rollback goes back to the map before. Both need a control certificate (evspace-certs), or "
	"to be\n"
	"the agent's user on its host.\n"
	"\n"
	"The agent keeps the map: one that is started again with the same files goes on with it. "
	"If the\n"
	"files were changed meanwhile, they count. What is selected by a view and collected holds "
	"for what is\n"
	"opened and started later.\n"
	"\n"
	"examples:\n"
	"  evspace map diff maps\n"
	"  evspace map apply maps --identity control --connect front:7440\n"
	"  evspace map rollback\n"
	"\n"
	"  --dry-run         prepare it, say who does not answer, and change nothing\n"
	"  --verbose         also what no longer runs where, and what does now, stage by stage\n";

enum { DRY_RUN = 256, VERBOSE };

static const struct own_option own[] = {
	{"dry-run", false, DRY_RUN},
	{"verbose", false, VERBOSE},
	{NULL, false, 0},
};

enum action { DIFF, APPLY, ROLLBACK };

/* One difference, and all views that have it. */
struct line {
	UT_hash_handle hh;
	bool is_stage; /* not where a host is, but what runs there */
	char *subject, *text;
	char *views; /* "heartbeat, events"; NULL: it is about none */
	size_t n_views;
	bool printed;
};

struct change {
	struct common common;
	enum action action;
	const char *command; /* "evspace map apply" */
	bool dry_run;
	Evspace__Map *now; /* within reply */
	Evspace__Frame *reply;
	struct pathmap_texts texts; /* the new map's */
	struct pathmap *from, *to;
	struct line *lines; /* by their text */
	bool verbose;
};

static int own_take(void *arg, int code, const char *value, struct error *e)
{
	struct change *c = arg;

	(void)value;
	if (code == VERBOSE) {
		c->verbose = true;
		return 0;
	}
	c->dry_run = true;
	return c->action == DIFF ? errorf(e, "it goes with apply and rollback") : 0;
}

static int change_end(const struct change *c, enum exit_code code, const char *why)
{
	fprintf(stderr, "%s: %s\n", c->command, why);
	return code;
}

static void json_print(json_t *object)
{
	json_object_set_new(object, "schema", json_integer(1));
	json_dumpf(object, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(object);
}

/* ---- the agent ---- */

/* Ask the entry agent. Returns EXIT_FINE with c->reply, or the exit code, said why. */
static int change_ask(struct change *c, const Evspace__Frame *question, int expected)
{
	enum evspace_failure failure = EVSPACE_FINE;
	struct evspace_options look = c->common.look;
	char why[sizeof(((struct error *)0)->text)];

	look.deadline_ms = CHANGE_WITHIN_MS;
	if (c->reply)
		evspace__frame__free_unpacked(c->reply, NULL);
	c->reply = client_ask(&look, question, &failure, why, sizeof(why));
	if (c->reply && (int)c->reply->kind_case == expected)
		return EXIT_FINE;
	if (c->reply)
		return change_end(c, EXIT_NO_CONNECTION, "the agent talks nonsense");
	return change_end(c, failure == EVSPACE_WRONG ? EXIT_BAD_NEWS : EXIT_NO_CONNECTION, why);
}

static int change_ask_map(struct change *c)
{
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	Evspace__MapAsk ask = EVSPACE__MAP_ASK__INIT;
	int code;

	frame.kind_case = EVSPACE__FRAME__KIND_MAP_ASK;
	frame.map_ask = &ask;
	code = change_ask(c, &frame, EVSPACE__FRAME__KIND_MAP);
	if (code != EXIT_FINE)
		return code;
	c->now = c->reply->map;
	if (!c->now->texts)
		return change_end(c, EXIT_NO_CONNECTION, "the agent talks nonsense");
	return EXIT_FINE;
}

/* ---- what is different ---- */

static int texts_parse_message(const struct change *c, const Evspace__MapTexts *m,
			       struct pathmap **map)
{
	struct pathmap_texts texts;
	struct error e;

	texts_set(&texts, m->application, m->cluster, m->mapping);
	*map = texts_parse(&texts, stage_check, &e);
	texts_fini(&texts);
	return *map ? EXIT_FINE : change_end(c, EXIT_BAD_NEWS, e.text);
}

/* What the agent does not say of its map is not compared. */
static int change_hide(struct change *c)
{
	struct pathmap_texts texts;
	struct error e;

	fprintf(stderr, "%s: where hosts are is not compared: only control may see that\n",
		c->command);
	texts_set(&texts, c->texts.application, c->texts.cluster, c->texts.mapping);
	texts_hide(&texts);
	pathmap_free(c->to);
	c->to = texts_parse(&texts, stage_check, &e);
	texts_fini(&texts);
	return c->to ? EXIT_FINE : change_end(c, EXIT_BAD_NEWS, e.text);
}

/* Read the new map: DIR, or the one before. */
static int change_read(struct change *c)
{
	const Evspace__MapTexts *before = c->now->previous;
	struct error e;
	int code = texts_parse_message(c, c->now->texts, &c->from);

	if (code != EXIT_FINE)
		return code;
	if (c->action == ROLLBACK) {
		if (!before)
			return change_end(c, EXIT_BAD_NEWS, "there is no map before this one");
		texts_set(&c->texts, before->application, before->cluster, before->mapping);
		return texts_parse_message(c, before, &c->to);
	}
	c->to = pathmap_load(c->common.words[0], stage_check, stderr, &e);
	if (!c->to || texts_read(&c->texts, c->common.words[0], &e) < 0)
		return change_end(c, EXIT_BAD_NEWS, e.text);
	return c->now->hidden ? change_hide(c) : EXIT_FINE;
}

static void line_note(struct change *c, const struct difference *d)
{
	struct line *line;
	char *longer;

	HASH_FIND_STR(c->lines, d->text, line);
	if (!line) {
		line = memory_new(1, sizeof(*line));
		line->is_stage = strcmp(d->what, "stages") == 0;
		line->subject = memory_copy(d->subject);
		line->text = memory_copy(d->text);
		HASH_ADD_KEYPTR(hh, c->lines, line->text, strlen(line->text), line);
	}
	if (!d->view)
		return;
	longer = memory_format("%s%s%s", line->views ? line->views : "", line->views ? ", " : "",
			       d->view);
	free(line->views);
	line->views = longer;
	line->n_views++;
}

static void difference_take(void *arg, const struct difference *d)
{
	struct change *c = arg;

	if (c->common.json) {
		json_t *object = json_pack("{ss ss ss ss ss ss}", "type", "difference", "what",
					   d->what, "subject", d->subject, "from", d->from, "to",
					   d->to, "text", d->text);

		if (d->view)
			json_object_set_new(object, "view", json_string(d->view));
		json_print(object);
		return;
	}
	line_note(c, d);
}

/* "all views", or which. */
static void views_print(const struct change *c, const struct line *line)
{
	const char *const *names;

	if (line->n_views == pathmap_views(c->to, &names))
		printf("  all views: ");
	else
		printf("  view %s: ", line->views);
}

/* What is said of a host behind its name. */
static const char *line_rest(const struct line *line)
{
	size_t length = strlen(line->subject);

	return strncmp(line->text, line->subject, length) == 0 ? line->text + length : line->text;
}

static bool lines_alike(const struct line *a, const struct line *b)
{
	return line_rest(a) != a->text && strcmp(line_rest(a), line_rest(b)) == 0 &&
	       strcmp(a->views, b->views) == 0;
}

/* A difference, with all hosts of which the same is said, of the same views. */
static void line_print(struct change *c, struct line *line)
{
	const char **subjects = NULL;
	size_t n = 0;
	char *text;

	views_print(c, line);
	for (struct line *other = line; other != NULL; other = other->hh.next) {
		if (other != line && (!other->views || !lines_alike(line, other)))
			continue;
		subjects = memory_room(subjects, n, sizeof(*subjects));
		subjects[n++] = other->subject;
		other->printed = true;
	}
	text = hostlist_text(subjects, n);
	if (n > 1)
		printf("%s%s\n", text, line_rest(line));
	else
		printf("%s\n", line->text);
	free(text);
	free(subjects);
}

/* What runs elsewhere because hosts have moved, without the single stages. */
static void stages_print(struct change *c)
{
	const char **hosts = NULL;
	size_t n = 0, hidden = 0;
	char *text;

	for (struct line *line = c->lines; line != NULL; line = line->hh.next) {
		bool known = line->printed;

		hidden += !line->printed;
		for (size_t i = 0; i < n && !known; i++)
			known = strcmp(hosts[i], line->subject) == 0;
		if (known)
			continue;
		hosts = memory_room(hosts, n, sizeof(*hosts));
		hosts[n++] = line->subject;
	}
	text = hostlist_text(hosts, n);
	if (hidden)
		printf("  what runs on %s changes with that in %zu way%s (--verbose)\n", text,
		       hidden, plural(hidden, "s"));
	free(text);
	free(hosts);
}

static void lines_print(struct change *c)
{
	for (struct line *line = c->lines; line != NULL; line = line->hh.next) {
		if (line->printed || (line->is_stage && !c->verbose))
			continue;
		if (line->views) {
			line_print(c, line);
			continue;
		}
		printf("  %s\n", line->text);
		line->printed = true;
	}
	stages_print(c);
}

static void lines_free(struct change *c)
{
	struct line *line, *next;

	HASH_ITER(hh, c->lines, line, next)
	{
		HASH_DEL(c->lines, line);
		free(line->subject);
		free(line->text);
		free(line->views);
		free(line);
	}
}

static void change_print(struct change *c)
{
	size_t n = 0;
	unsigned long long generation = c->now->generation;
	const char *to = c->action == ROLLBACK ? "the map before" : c->common.words[0];

	if (!c->common.json)
		printf("from map generation %llu to %s:\n", generation, to);
	n = difference_walk(c->from, c->to, difference_take, c);
	lines_print(c);
	if (n == 0 && !c->common.json)
		printf("  nothing is different\n");
	if (c->common.json)
		json_print(json_pack("{ss sI sI}", "type", "map", "generation",
				     (json_int_t)generation, "differences", (json_int_t)n));
}

/* ---- applying ---- */

static json_t *missing_json(const Evspace__MapApplied *a)
{
	json_t *array = json_array();

	for (size_t i = 0; i < a->n_missing; i++)
		json_array_append_new(array, json_pack("{ss ss}", "node", a->missing[i]->node,
						       "why", a->missing[i]->text));
	return array;
}

static void applied_print(const struct change *c, const Evspace__MapApplied *a)
{
	for (size_t i = 0; i < a->n_missing; i++) {
		fprintf(stderr, "%s: %s did not answer before, and does not now: %s\n", c->command,
			a->missing[i]->node, a->missing[i]->text);
	}
	if (c->common.json) {
		json_print(json_pack("{ss sb sI si si si so}", "type", "applied", "dry_run",
				     (int)c->dry_run, "generation", (json_int_t)a->generation,
				     "scopes", (int)a->scopes, "prepared_ms", (int)a->prepared_ms,
				     "switched_ms", (int)a->switched_ms, "missing",
				     missing_json(a)));
		return;
	}
	if (c->dry_run)
		printf("it can be applied: all hosts have prepared it in %u ms\n", a->prepared_ms);
	else
		printf("applied as generation %llu: prepared in %u ms, %u open scope%s switched in "
		       "%u ms\n",
		       (unsigned long long)a->generation, a->prepared_ms, a->scopes,
		       plural(a->scopes, "s"), a->switched_ms);
}

static int change_apply(struct change *c)
{
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	Evspace__MapApply apply = EVSPACE__MAP_APPLY__INIT;
	Evspace__MapTexts texts = EVSPACE__MAP_TEXTS__INIT;
	int code;

	texts.application = c->texts.application;
	texts.cluster = c->texts.cluster;
	texts.mapping = c->texts.mapping;
	apply.texts = c->action == ROLLBACK ? NULL : &texts;
	apply.expected = c->now->generation;
	apply.dry_run = c->dry_run;
	frame.kind_case = EVSPACE__FRAME__KIND_MAP_APPLY;
	frame.map_apply = &apply;
	code = change_ask(c, &frame, EVSPACE__FRAME__KIND_MAP_APPLIED);
	if (code == EXIT_FINE)
		applied_print(c, c->reply->map_applied);
	return code;
}

static int change(struct change *c)
{
	int code = change_ask_map(c);

	if (code == EXIT_FINE)
		code = change_read(c);
	if (code != EXIT_FINE)
		return code;
	change_print(c);
	return c->action == DIFF ? EXIT_FINE : change_apply(c);
}

static int change_words(const struct change *c)
{
	int wanted = c->action == ROLLBACK ? 0 : 1;

	if (c->common.n_words == wanted)
		return 0;
	fprintf(stderr, "%s: %s; try --help\n", c->command,
		wanted ? "say which directory the new maps are in" : "it takes no directory");
	return -1;
}

int map_change_main(int argc, char **argv)
{
	static const char *const actions[] = {
		[DIFF] = "diff", [APPLY] = "apply", [ROLLBACK] = "rollback"};
	struct change c = {.common = {.look = {.rate_hz = 1}, .words_max = 1}};
	char command[32];
	int code;

	while (strcmp(actions[c.action], argv[0]) != 0)
		c.action++;
	snprintf(command, sizeof(command), "evspace map %s", actions[c.action]);
	argv[0] = command;
	c.command = command;
	code = options_parse(argc, argv, change_help, own, own_take, &c, &c.common);
	if (code >= 0)
		return code;
	code = change_words(&c) < 0 ? EXIT_USAGE : change(&c);
	lines_free(&c);
	texts_fini(&c.texts);
	pathmap_free(c.from);
	pathmap_free(c.to);
	if (c.reply)
		evspace__frame__free_unpacked(c.reply, NULL);
	return code;
}
