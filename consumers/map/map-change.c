/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace map diff, apply and rollback: shows what another map would change, and puts it into
 * effect. */
#include "consumers/map/map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/cli/options.h"
#include "pathmap/plan/difference.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/texts.h"
#include "tree/stage/stage.h"

/* Time for hosts to answer (3 s), and for waves under way to end by their deadlines. */
#define CHANGE_WITHIN_MS 30000u

static const char change_help[] =
	"usage: evspace map diff DIR [options]\n"
	"       evspace map apply DIR [--dry-run] [options]\n"
	"       evspace map rollback [--dry-run] [options]\n"
	"\n"
	"diff shows what would change if the entry agent used the pathmap in DIR: hosts,\n"
	"ranks, what is collected, and for each view which host is below which other one\n"
	"and what runs where.\n"
	"\n"
	"apply puts that map into effect, while the program runs and consumers look: new\n"
	"trees are prepared beside the old ones, and each consumer changes over between\n"
	"two waves; nothing is lost, nothing comes twice. When a host does not answer, is\n"
	"not who it should be, or has ranks of a live run that the map puts elsewhere,\n"
	"nothing is changed: exit code 1. Hosts that had not answered before, either, are\n"
	"only named.\n"
	"A map without differences is not applied. A host that was away takes up what the\n"
	"map says of elements when it is back; until then each apply of it names it.\n"
	"\n"
	"rollback goes back to the map before, one step: a second rollback undoes the\n"
	"first. Both need a control certificate (evspace-certs), or to be the agent's\n"
	"user on its host.\n"
	"\n"
	"The agent keeps the map: one that is started again with the same files goes on\n"
	"with it. If the files were changed meanwhile, they count. What a view selects\n"
	"holds for what is opened later. Lifetimes and modes of elements change at once,\n"
	"in all runs, and rollback puts them back; capacities, and which ranks and\n"
	"channels are collected, change for programs that are started later: the\n"
	"differences say which is which.\n"
	"\n"
	"examples:\n"
	"  evspace map diff maps\n"
	"  evspace map apply maps --identity control --connect front:7440\n"
	"  evspace map rollback\n";

enum action { DIFF, APPLY, ROLLBACK };

struct change {
	struct common common;
	enum action action;
	const char *command; /* "evspace map apply" */
	bool dry_run;
	int code;
	/* of the agent */
	struct evspace_connection *connection;
	uint64_t generation;
	bool hidden;
	struct pathmap_texts now, before; /* NULL: not shown, or none */
	struct pathmap_texts texts;	  /* of the new map */
	struct pathmap *from, *to;
	struct map_fold fold;
	bool verbose;
};

static int dry_run_take(void *into, const char *value, struct error *e)
{
	struct change *c = into;

	(void)value;
	c->dry_run = true;
	return c->action == DIFF ? errorf(e, "it goes with apply and rollback") : 0;
}

static const struct option_row change_rows[] = {
	{"dry-run", .take = dry_run_take,
	 .help = "prepare it, say who does not answer and which open views it would end, and "
		 "change nothing"},
	{"verbose", .at = offsetof(struct change, verbose),
	 .help = "all of it: node by node, and what runs where, stage by stage"},
	{0},
};

static const struct usage change_usage = {.help = change_help,
					  .own = change_rows,
					  .takes = OPTIONS_LOOK | OPTIONS_JSON,
					  .words_max = 1};

static int change_end(const struct change *c, enum exit_code code, const char *why)
{
	fprintf(stderr, "%s: %s\n", c->command, why);
	return code;
}

/* ---- the agent ---- */

/* Wait for its answer. Returns EXIT_FINE, or the exit code after a message. */
static int change_await(struct change *c)
{
	c->code = EXIT_FINE;
	(void)evspace_wait(c->connection, -1);
	/* a refusal of the agent is the answer */
	return c->code == EXIT_USAGE ? EXIT_BAD_NEWS : c->code;
}

static void texts_take(struct pathmap_texts *to, const struct evspace_texts *from)
{
	if (from->application)
		texts_set(to, from->application, from->cluster, from->mapping);
}

static void map_answered(const struct evspace_reply *reply, void *arg)
{
	struct change *c = arg;

	if (!options_answered(c->command, reply, &c->code))
		return;
	c->generation = reply->map->generation;
	c->hidden = reply->map->hidden;
	texts_take(&c->now, &reply->map->texts);
	texts_take(&c->before, &reply->map->previous);
}

static int change_ask_map(struct change *c)
{
	int code;

	c->connection = evspace_connect(&c->common.look);
	evspace_map(c->connection, map_answered, c);
	code = change_await(c);
	if (code == EXIT_FINE && !c->now.application)
		return change_end(c, EXIT_NO_CONNECTION, "the agent does not show its map");
	return code;
}

/* ---- differences ---- */

static int change_parse(const struct change *c, const struct pathmap_texts *texts,
			struct pathmap **map)
{
	struct error e;

	*map = texts_parse(texts, stage_check, &e);
	return *map ? EXIT_FINE : change_end(c, EXIT_BAD_NEWS, e.text);
}

/* Do not compare what the agent does not show of its map. */
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

/* Read the new map: from DIR, or the one before. */
static int change_read(struct change *c)
{
	const struct pathmap_texts *before = &c->before;
	struct error e;
	int code = change_parse(c, &c->now, &c->from);

	if (code != EXIT_FINE)
		return code;
	if (c->action == ROLLBACK) {
		if (!before->application)
			return change_end(c, EXIT_BAD_NEWS, "there is no map before this one");
		texts_set(&c->texts, before->application, before->cluster, before->mapping);
		return change_parse(c, before, &c->to);
	}
	c->to = pathmap_load(c->common.words[0], stage_check, stderr, &e);
	if (!c->to || texts_read(&c->texts, c->common.words[0], &e) < 0)
		return change_end(c, EXIT_BAD_NEWS, e.text);
	return c->hidden ? change_hide(c) : EXIT_FINE;
}

static void difference_take(void *arg, const struct difference *d)
{
	struct change *c = arg;

	if (c->common.json) {
		json_t *object = json_pack("{ss so so so so so}", "type", "difference", "what",
					   json_text(d->what), "subject", json_text(d->subject),
					   "from", json_text(d->from), "to", json_text(d->to),
					   "text", json_text(d->text));

		if (d->view)
			json_object_set_new(object, "view", json_text(d->view));
		json_print(object, stdout);
		return;
	}
	map_fold_take(&c->fold, d);
}

/* How many views both maps have. */
static size_t views_both(const struct change *c)
{
	const char *const *from, *const *to;
	size_t n_from = pathmap_views(c->from, &from), n_to = pathmap_views(c->to, &to), n = 0;

	for (size_t i = 0; i < n_from; i++)
		for (size_t k = 0; k < n_to; k++)
			n += strcmp(from[i], to[k]) == 0;
	return n;
}

/* Returns the number of differences. */
static size_t change_print(struct change *c)
{
	size_t n = 0;
	unsigned long long generation = c->generation;
	const char *to = c->action == ROLLBACK ? "the map before" : c->common.words[0];

	if (!c->common.json)
		printf("from map generation %llu to %s:\n", generation, to);
	n = difference_walk(c->from, c->to, difference_take, c);
	map_fold_print(&c->fold, views_both(c), c->verbose, stdout);
	if (n == 0 && !c->common.json)
		printf("  nothing is different\n");
	if (c->common.json)
		json_print(json_pack("{ss sI sI}", "type", "map", "generation",
				     (json_int_t)generation, "differences", (json_int_t)n),
			   stdout);
	/* before messages on stderr */
	fflush(stdout);
	return n;
}

/* ---- applying ---- */

static json_t *unready_json(const struct evspace_unready *hosts, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, json_pack("{so so}", "node", json_text(hosts[i].node),
						       "why", json_text(hosts[i].why)));
	return array;
}

/* Who is not as the map says, on stderr. */
static void unready_print(const struct change *c, const struct evspace_applied *a)
{
	for (size_t i = 0; i < a->n_missing; i++) {
		fprintf(stderr, "%s: %s %s: %s\n", c->command, a->missing[i].node,
			a->missing[i].left_out ? "is not in the new map, but says"
					       : "did not answer before, and does not now",
			a->missing[i].why);
	}
	for (size_t i = 0; i < a->n_unchanged; i++)
		fprintf(stderr, "%s: elements of %s stay as they are: %s\n", c->command,
			a->unchanged[i].node, a->unchanged[i].why);
	for (size_t i = 0; i < a->n_notes; i++)
		fprintf(stderr, "%s: %s\n", c->command, a->notes[i]);
}

static json_t *notes_json(const struct evspace_applied *a)
{
	json_t *array = json_array();

	for (size_t i = 0; i < a->n_notes; i++)
		json_array_append_new(array, json_text(a->notes[i]));
	return array;
}

/* The previous map stays the one for rollback. */
static void nothing_print(const struct change *c)
{
	if (!c->common.json)
		printf("nothing is applied: map generation %llu stays\n",
		       (unsigned long long)c->generation);
}

static void applied_print(const struct change *c, const struct evspace_applied *a)
{
	unready_print(c, a);
	if (c->common.json) {
		json_print(json_pack("{ss sb sI si si si so sI sI so so}", "type", "applied",
				     "dry_run", (int)c->dry_run, "generation",
				     (json_int_t)a->generation, "scopes", (int)a->scopes,
				     "prepared_ms", (int)a->prepared_ms, "switched_ms",
				     (int)a->switched_ms, "missing",
				     unready_json(a->missing, a->n_missing), "lifetimes",
				     (json_int_t)a->lifetimes, "classes", (json_int_t)a->classes,
				     "unchanged", unready_json(a->unchanged, a->n_unchanged),
				     "notes", notes_json(a)),
			   stdout);
		return;
	}
	if (a->generation == c->generation) {
		nothing_print(c);
		return;
	}
	if (c->dry_run)
		printf("it can be applied: all hosts have prepared it in %u ms\n", a->prepared_ms);
	else
		printf("applied as generation %llu: prepared in %u ms, %u open scope%s switched in "
		       "%u ms\n",
		       (unsigned long long)a->generation, a->prepared_ms, a->scopes,
		       plural(a->scopes, "s"), a->switched_ms);
	if (a->lifetimes || a->classes)
		printf("%u element%s with another lifetime, %u class%s switched\n", a->lifetimes,
		       plural(a->lifetimes, "s"), a->classes, plural(a->classes, "es"));
}

static void apply_answered(const struct evspace_reply *reply, void *arg)
{
	struct change *c = arg;

	if (!options_answered(c->command, reply, &c->code))
		return;
	applied_print(c, reply->applied);
	if (reply->applied->n_unchanged)
		c->code = EXIT_BAD_NEWS;
}

static int change_apply(struct change *c)
{
	const struct evspace_texts texts = {c->texts.application, c->texts.cluster,
					    c->texts.mapping};
	const struct evspace_apply apply = {
		.texts = c->action == ROLLBACK ? NULL : &texts,
		.expected = c->generation,
		.dry_run = c->dry_run,
		.within_ms = CHANGE_WITHIN_MS,
	};

	evspace_apply(c->connection, &apply, apply_answered, c);
	return change_await(c);
}

static int change(struct change *c)
{
	int code = change_ask_map(c);
	size_t n;

	if (code == EXIT_FINE)
		code = change_read(c);
	if (code != EXIT_FINE)
		return code;
	n = change_print(c);
	if (c->action == DIFF)
		return EXIT_FINE;
	/* of the map in effect the agent says who does not have it yet */
	if (n > 0 || (!c->hidden && texts_equal(&c->now, &c->texts)))
		return change_apply(c);
	nothing_print(c);
	return EXIT_FINE;
}

static int change_words(const struct change *c)
{
	int wanted = c->action == ROLLBACK ? 0 : 1;

	if (c->common.n_words == wanted)
		return 0;
	fprintf(stderr, "%s: %s; try '%s --help'\n", c->command,
		wanted ? "say which directory the new maps are in" : "it takes no directory",
		c->command);
	return -1;
}

int map_change_main(int argc, char **argv)
{
	static const char *const actions[] = {
		[DIFF] = "diff", [APPLY] = "apply", [ROLLBACK] = "rollback"};
	struct change c = {.common.look.rate_hz = 1};
	char command[32];
	int code;

	while (strcmp(actions[c.action], argv[0]) != 0)
		c.action++;
	snprintf(command, sizeof(command), "evspace map %s", actions[c.action]);
	argv[0] = command;
	c.command = command;
	code = options_parse(argc, argv, &change_usage, &c, &c.common);
	if (code >= 0)
		return code;
	code = change_words(&c) < 0 ? EXIT_USAGE : change(&c);
	map_fold_fini(&c.fold);
	texts_fini(&c.texts);
	pathmap_free(c.from);
	pathmap_free(c.to);
	texts_fini(&c.now);
	texts_fini(&c.before);
	evspace_disconnect(c.connection);
	return code;
}
