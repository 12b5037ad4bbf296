/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace collect: shows what is collected of a running program, by class, and switches it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/cli/options.h"
#include "consumers/cli/tally.h"
#include "node-agent/segment/segment-class.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"

static const char collect_help[] =
	"usage: evspace collect [options] [off | count | time | sample | 1/N | trace]\n"
	"       evspace collect [options] CLASS=MODE...\n"
	"\n"
	"Say what is collected of a running program, class by class; with a mode: switch\n"
	"it, while the program runs. A class is an operation group on a communicator:\n"
	"p2p, collective, wait, completion, comm, env, rma, io, user or pack, with @world\n"
	"or @COMM behind it, as p2p@world.\n"
	"\n"
	"  off     nothing, not even counted\n"
	"  count   calls and bytes are counted; no clock is read\n"
	"  time    the time spent in them, too, and who is in one now (heartbeat)\n"
	"  sample  calls and bytes, and who is in one now (heartbeat)\n"
	"  1/N     calls and bytes; one call in N, at random, is an event: 1/2, 1/4, 1/8\n"
	"          to 1/65536. A collective is one on all ranks, or on none\n"
	"  trace   everything: each call is an event\n"
	"\n"
	"Without a mode: \"recorded\" are the calls that left an event, \"not recorded\"\n"
	"those that their class's mode left out. A line below says how many of these\n"
	"events elements still have, and how many were overwritten, discarded, or had no\n"
	"element to go to.\n"
	"\n"
	"Communicators made later are in the mode that their group was switched to last.\n"
	"Needs a control certificate (evspace-certs), or to be the agent's user on its\n"
	"host. Exit code 1 when something was not switched: a host that does not answer,\n"
	"or a class that no process has.\n"
	"\n"
	"examples:\n"
	"  evspace collect                              # what is collected\n"
	"  evspace collect --class p2p,wait off         # of all processes\n"
	"  evspace collect p2p=1/8 wait=off             # both at once\n"
	"  evspace collect --class p2p@world count      # only on MPI_COMM_WORLD\n"
	"  evspace collect --select '/**/rank[0-3]/**' --class collective time\n";

/* For messages. */
#define MODES "off, count, time, sample, 1/8 or trace"

struct collect_run {
	struct common common;
	char names[CHOICES_MAX][CLASS_TEXT];
	size_t n;
	int mode; /* -1: only show it */
	struct evspace_order orders[CHOICES_MAX];
	size_t n_orders; /* CLASS=MODE; else 0 */
	bool all;	 /* show all classes */
	int code;
};

/* ---- options ---- */

static int take_class(struct collect_run *c, const char *name, struct error *e)
{
	Evspace__Choice choice;

	if (c->n == CHOICES_MAX)
		return errorf(e, "more than %u classes", CHOICES_MAX);
	if (class_choice(name, &choice, e) < 0)
		return -1;
	snprintf(c->names[c->n++], CLASS_TEXT, "%s", name);
	return 0;
}

static int take_classes(void *into, const char *value, struct error *e)
{
	char *list, *rest, *name;
	int rc = 0;

	list = rest = memory_copy(value);
	while (rc == 0 && (name = strsep(&rest, ",")))
		rc = take_class(into, name, e);
	free(list);
	return rc;
}

static const struct option_row collect_rows[] = {
	{"class", "CLASS", .take = take_classes,
	 .help = "only these, separated by commas; may be repeated (default: all)"},
	{"all", .at = offsetof(struct collect_run, all),
	 .help = "show all classes, not only the 20 busiest"},
	{0},
};

static const struct usage collect_usage = {
	.help = collect_help,
	.own = collect_rows,
	.takes = OPTIONS_LOOK | OPTIONS_JSON | OPTIONS_VIEW,
	.live = "it switches a program that runs",
	.words_max = (int)CHOICES_MAX,
};

/* A word CLASS=MODE. */
static int take_order(struct collect_run *c, const char *word, struct error *e)
{
	const char *equal = strchr(word, '=');
	char name[CLASS_TEXT];
	int mode;

	if (!equal)
		return errorf(e, "'%.60s' is not CLASS=MODE, as the words before it are", word);
	mode = segment_mode_find(equal + 1);
	if (mode < 0)
		return errorf(e, "'%.60s' is not a mode; write " MODES, equal + 1);
	snprintf(name, sizeof(name), "%.*s", (int)(equal - word), word);
	if (take_class(c, name, e) < 0)
		return -1;
	c->orders[c->n_orders] =
		(struct evspace_order){c->names[c->n - 1], (enum evspace_mode)mode};
	c->n_orders++;
	return 0;
}

static int take_orders(struct collect_run *c)
{
	struct error e = {""};

	if (c->n > 0)
		errorf(&e, "--class and CLASS=MODE are two ways to say it: use one");
	for (int i = 0; i < c->common.n_words && !e.text[0]; i++)
		(void)take_order(c, c->common.words[i], &e);
	if (!e.text[0])
		return 0;
	fprintf(stderr, "evspace collect: %s\n", e.text);
	return -1;
}

static int take_mode(struct collect_run *c)
{
	const char *word = c->common.n_words ? c->common.words[0] : NULL;
	Evspace__Choice choice;
	struct error e;

	if (word && strchr(word, '='))
		return take_orders(c);
	c->mode = word ? segment_mode_find(word) : -1;
	if (c->common.n_words < 2 && (!word || c->mode >= 0))
		return 0;
	if (c->mode < 0 && class_choice(word, &choice, &e) == 0) {
		fprintf(stderr, "evspace collect: write: evspace collect --class %s%s%s\n", word,
			c->common.n_words > 1 ? " " : "",
			c->common.n_words > 1 ? c->common.words[1] : "");
		return -1;
	}
	if (c->mode >= 0)
		word = c->common.words[1];
	fprintf(stderr, "evspace collect: '%s' is not a mode; write " MODES "\n", word);
	return -1;
}

/* ---- the answer ---- */

static struct classes *answer_classes(const struct evspace_switched *s)
{
	struct classes *classes = classes_new();

	for (size_t i = 0; i < s->n_classes; i++)
		tally_add(classes, &s->classes[i]);
	return classes;
}

/* The account of the events of the classes that were asked about. */
static struct accounting host_fate(const struct evspace_host_reply *h)
{
	return (struct accounting){
		.written = h->written,
		.held = h->held,
		.discarded = h->discarded,
		.lost = h->lost,
	};
}

static struct accounting answer_fate(const struct evspace_switched *s)
{
	struct accounting sum = {0};

	for (size_t i = 0; i < s->n_hosts; i++) {
		sum.written += s->hosts[i].written;
		sum.held += s->hosts[i].held;
		sum.discarded += s->hosts[i].discarded;
		sum.lost += s->hosts[i].lost;
	}
	return sum;
}

static void print_json(const struct evspace_switched *s, struct classes *classes)
{
	for (size_t i = 0; i < s->n_hosts; i++) {
		const struct evspace_host_reply *h = &s->hosts[i];
		const struct accounting accounting = host_fate(h);
		json_t *object;

		object = json_pack("{s:s,s:o,s:o,s:i,s:i,s:o,s:o}", "type", "host", "run",
				   json_text(s->run), "host", json_text(h->name), "processes",
				   (int)h->processes, "switched", (int)h->changed, "missing",
				   json_text(h->missing), "text", json_text(h->text));
		tally_fate_json(&accounting, object);
		json_print(object, stdout);
	}
	for (size_t i = 0; i < classes_count(classes); i++) {
		json_t *object;

		if (!tally_shows(classes_at(classes, i)))
			continue;
		object = tally_class_json(classes_at(classes, i));
		json_object_set_new(object, "type", json_string("class"));
		json_object_set_new(object, "run", json_text(s->run));
		json_print(object, stdout);
	}
}

/* All processes of a program mostly have the same classes. */
static void print_switched(const struct evspace_host_reply *h)
{
	bool alike = h->processes > 1 && h->changed % h->processes == 0;
	uint32_t classes = alike ? h->changed / h->processes : h->changed;

	printf("%s: %u class%s switched in %s%u process%s%s\n", h->name, classes,
	       plural(classes, "es"), alike ? "each of " : "", h->processes,
	       plural(h->processes, "es"), alike || h->processes <= 1 ? "" : ", taken together");
}

static void print_host(const struct evspace_host_reply *h, bool changed)
{
	if (h->missing)
		fprintf(stderr, "evspace collect: %s does not answer: %s%s%s\n", h->name,
			h->missing, h->text[0] ? ": " : "", h->text);
	else if (h->text[0])
		fprintf(stderr, "evspace collect: %s: %s\n", h->name, h->text);
	if (changed && !h->missing)
		print_switched(h);
}

static uint32_t processes(const struct evspace_switched *s)
{
	uint32_t n = 0;

	for (size_t i = 0; i < s->n_hosts; i++)
		n += s->hosts[i].processes;
	return n;
}

static bool changes(const struct collect_run *c)
{
	return c->mode >= 0 || c->n_orders > 0;
}

static void print_text(const struct collect_run *c, const struct evspace_switched *s,
		       struct classes *classes)
{
	const struct accounting accounting = answer_fate(s);
	bool changed = changes(c) && processes(s) > 0;

	for (size_t i = 0; i < s->n_hosts; i++)
		print_host(&s->hosts[i], changed);
	if (changes(c))
		return;
	tally_print(classes, "", c->all ? 0 : TALLY_MOST, "--all shows them", stdout);
	tally_print_fate(&accounting, "", stdout);
}

/* Is there a class that did not get the wanted mode? Says so. */
static bool bad_news(const struct collect_run *c, const struct evspace_switched *s)
{
	uint32_t changed = 0;
	bool bad = false;

	for (size_t i = 0; i < s->n_hosts; i++) {
		changed += s->hosts[i].changed;
		bad |= s->hosts[i].missing || s->hosts[i].text[0];
	}
	if (processes(s) == 0 && !s->run[0])
		fprintf(stderr, "evspace collect: there is no run yet\n");
	else if (processes(s) == 0 && !bad)
		fprintf(stderr, "evspace collect: no %sprocess of run %s that the view selects\n",
			changes(c) ? "living " : "", s->run);
	else if (processes(s) > 0 && changes(c) && changed == 0)
		fprintf(stderr,
			"evspace collect: no process of run %s has used such a class yet: switch "
			"the whole group (without @), or see what there is: evspace collect\n",
			s->run);
	return bad || processes(s) == 0 || (changes(c) && changed == 0);
}

static void collect_answered(const struct evspace_reply *reply, void *arg)
{
	struct collect_run *c = arg;
	struct classes *classes;

	if (!options_answered("evspace collect", reply, &c->code))
		return;
	classes = answer_classes(reply->switched);
	if (c->common.json)
		print_json(reply->switched, classes);
	else
		print_text(c, reply->switched, classes);
	c->code = bad_news(c, reply->switched) ? EXIT_BAD_NEWS : EXIT_FINE;
	classes_free(classes);
}

int collect_main(int argc, char **argv)
{
	struct collect_run c = {.mode = -1};
	int code = options_parse(argc, argv, &collect_usage, &c, &c.common);
	const char *names[CHOICES_MAX];
	struct evspace_connection *connection;
	struct evspace_among among;

	if (code >= 0)
		return code;
	if (take_mode(&c) < 0)
		return EXIT_USAGE;
	for (size_t i = 0; i < c.n; i++)
		names[i] = c.names[i];
	among = options_among(&c.common.look);
	connection = evspace_connect(&c.common.look);
	if (c.n_orders > 0)
		evspace_switch_all(connection, &among, c.orders, c.n_orders, NULL, collect_answered,
				   &c);
	else
		evspace_switch(connection, &among, names, c.n, (enum evspace_mode)c.mode,
			       collect_answered, &c);
	options_await(connection);
	return c.code;
}
