/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the agents which runs there are, while the waves bring nothing of the wanted one. */
#include "consumers/watch/standing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client/client.h"
#include "consumers/cli/command.h"
#include "node-agent/store/store.h"
#include "pathmap/grammar/directive.h"
#include "pathmap/model/hostlist.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "pathmap/base/utf8.h"
#include "tree/data/clock.h"
#include "tree/data/op.h"
#include "tree/data/span.h"

/* A program that was just started may take this long to begin. */
#define GRACE_NS UINT64_C(3000000000)

/* Most runs and hosts named in a message. */
#define NAMED_MOST  8
#define HOSTS_NAMED 4

/* The runs of all hosts, each once, and what is known of the wanted one. */
struct standing_runs {
	const char **names;
	size_t n;
	uint64_t idle_ns, events; /* of the wanted one */
	bool known, alive;
	const Evspace__Run *newest; /* of the live ones, else of all */
};

/* The order by which hosts choose the newest of their runs. */
static bool is_newer(const Evspace__Run *run, const Evspace__Run *than)
{
	if (!run->alive != !than->alive)
		return run->alive > 0;
	return run->born_ns > than->born_ns;
}

static void runs_add(struct standing_runs *runs, Evspace__Run *run, const char *wanted)
{
	size_t i = 0;

	utf8_clean(run->name);
	if (wanted && strcmp(run->name, wanted) == 0) {
		runs->idle_ns =
			!runs->known || run->idle_ns < runs->idle_ns ? run->idle_ns : runs->idle_ns;
		runs->events += run->events;
		runs->alive |= run->alive > 0;
		runs->known = true;
	}
	if (strcmp(run->name, SPAN_RUN) == 0)
		return;
	if (!runs->newest || is_newer(run, runs->newest))
		runs->newest = run;
	while (i < runs->n && strcmp(runs->names[i], run->name) != 0)
		i++;
	if (i < runs->n)
		return;
	runs->names = memory_room(runs->names, runs->n, sizeof(*runs->names));
	runs->names[runs->n++] = run->name;
}

/* Ask all hosts for their status, and for the processes of the run. Returns the answer, or NULL. */
static Evspace__Frame *status_ask(const struct evspace_options *look, struct evspace_client *client,
				  bool processes)
{
	Evspace__StatusAsk all = EVSPACE__STATUS_ASK__INIT;

	all.all = true;
	all.process_tables = processes;
	if (processes && look->run)
		all.run = (char *)(uintptr_t)look->run;
	return client_beside(client, &WIRE_FRAME(STATUS_ASK, status_ask, &all),
			     EVSPACE__FRAME__KIND_STATUS);
}

/* Ask all hosts for their runs. Returns the answer, which owns the names, or NULL. */
static Evspace__Frame *runs_ask(const struct evspace_options *look, struct evspace_client *client,
				const char *wanted, struct standing_runs *runs)
{
	Evspace__Frame *reply = status_ask(look, client, false);

	if (!reply)
		return NULL;
	for (size_t i = 0; i < reply->status->n_runs; i++)
		runs_add(runs, reply->status->runs[i], wanted);
	for (size_t k = 0; k < reply->status->n_below; k++)
		for (size_t i = 0; i < reply->status->below[k]->n_runs; i++)
			runs_add(runs, reply->status->below[k]->runs[i], wanted);
	return reply;
}

/* List the processes of @run, or of all runs for NULL, that could not be collected on this host:
 * nothing else says why. Returns whether there are any. */
static bool say_refused(const char *command, const struct evspace_options *look, const char *run)
{
	const struct store_refusal *r, *other;
	char base[sizeof(((struct store *)0)->base)];
	struct store store;
	unsigned said = 0, n;
	const char *why;
	struct error e;

	if (look->connect || !folder_base_path(base, sizeof(base), &e) ||
	    store_init(&store, base, false, &e) < 0)
		return false;
	TAILQ_FOREACH (r, &store.refusals, link) {
		if (said == NAMED_MOST || (run && strcmp(r->run, run) != 0))
			continue;
		/* each run once, with its last reason */
		n = 1;
		for (other = TAILQ_FIRST(&store.refusals); other != r;
		     other = TAILQ_NEXT(other, link))
			n += strcmp(other->run, r->run) == 0;
		while ((other = TAILQ_NEXT(other, link)) && strcmp(other->run, r->run) != 0)
			;
		if (other)
			continue;
		why = strstr(r->text, " is not collected: ");
		fprintf(stderr, "%s: run %s: %u process%s not collected: %s\n", command, r->run, n,
			n == 1 ? " is" : "es are",
			why ? why + strlen(" is not collected: ") : r->text);
		said++;
	}
	store_fini(&store);
	return said > 0;
}

static void say_none(const char *command, const char *wanted, const struct standing_runs *runs,
		     const struct evspace_wave *w)
{
	const char *nearest = wanted ? word_nearest(wanted, runs->names, runs->n) : NULL;

	fprintf(stderr, "%s: there is no run%s%s", command, wanted ? " " : "",
		wanted ? wanted : " yet");
	if (nearest)
		fprintf(stderr, "; did you mean %s?", nearest);
	for (size_t i = 0; !nearest && i < runs->n && i < NAMED_MOST; i++)
		fprintf(stderr, "%s%s", i ? ", " : "; there are ", runs->names[i]);
	if (w->n_missing)
		fprintf(stderr, "; %u of %u host%s not answer", w->leaves - w->answered, w->leaves,
			w->leaves == 1 ? " does" : "s do");
	fprintf(stderr, "%s --wait waits for one\n", nearest ? "" : ";");
}

static void say_awaited(struct standing *s, const char *command, const struct evspace_wave *w)
{
	if (!s->awaiting)
		fprintf(stderr,
			"%s: the hosts that answer have no more of the run; waiting for %u of %u "
			"host%s\n",
			command, w->leaves - w->answered, w->leaves, plural(w->leaves, "s"));
	s->awaiting = true;
}

static void say_waiting(struct standing *s, const char *command, const char *run)
{
	if (!s->awaiting)
		fprintf(stderr, "%s: waiting for %s%s\n", command, run ? "run " : "a run",
			run ? run : "");
	s->awaiting = true;
}

/* Only a stream can have something left to read. */
static void say_ended(const char *command, const char *run, const struct standing_runs *runs,
		      bool stream, bool backlog)
{
	char ago[UNIT_TEXT], events[UNIT_TEXT];

	fprintf(stderr, "%s: run %s ended %s ago", command, run, unit_duration(ago, runs->idle_ns));
	if (!stream)
		fputc('\n', stderr);
	else if (backlog)
		fprintf(stderr, "; this is all that is left of its %s event%s\n",
			unit_count(events, runs->events), plural(runs->events, "s"));
	else
		fprintf(stderr, "; --backlog has what is left of its %s event%s\n",
			unit_count(events, runs->events), plural(runs->events, "s"));
}

void standing_wait(struct standing *s, const char *command, const struct common *common)
{
	say_waiting(s, command, common->look.run);
}

int standing_none(const char *command, const struct common *common)
{
	const char *run = common->look.run;

	fprintf(stderr, "%s: gave up waiting for %s%s\n", command, run ? "run " : "a run",
		run ? run : "");
	return EXIT_BAD_NEWS;
}

const char *standing_run(struct standing *s, const struct common *common,
			 struct evspace_client *client)
{
	const struct evspace_wave *w = evspace_wave(client);
	struct standing_runs runs = {0};
	Evspace__Frame *reply;

	if (*evspace_run(client))
		return evspace_run(client);
	if (s->asked || !w || w->elements == 0)
		return s->run;
	s->asked = true;
	reply = runs_ask(&common->look, client, NULL, &runs);
	if (runs.newest)
		snprintf(s->run, sizeof(s->run), "%s", runs.newest->name);
	free(runs.names);
	evspace__frame__free_unpacked(reply, NULL);
	return s->run;
}

bool standing_is_empty(const struct evspace_client *client)
{
	const struct evspace_wave *w = evspace_wave(client);

	return w->elements == 0 && w->processes == 0 && w->unreadable == 0 && w->n_missing == 0;
}

bool standing_say_unreadable(const struct evspace_client *client, const char *prefix, FILE *out)
{
	struct evspace_leaf leaf;
	const struct evspace_wave *w = evspace_wave(client);
	unsigned others = w ? w->unreadable : 0;
	bool any = false;

	for (size_t i = 0; evspace_leaf(client, i, &leaf); i++) {
		if (!leaf.unreadable)
			continue;
		any = true;
		others -= leaf.unreadable < others ? leaf.unreadable : others;
		fprintf(out,
			"%s%s: the elements of %u process%s cannot be read: %s; evspace status "
			"there says why\n",
			prefix, leaf.name, leaf.unreadable, plural(leaf.unreadable, "es"),
			STANDING_UNREADABLE);
	}
	if (any && others)
		fprintf(out, "%sother hosts: the elements of %u process%s cannot be read either\n",
			prefix, others, plural(others, "es"));
	return any;
}

void standing_note_unreadable(struct standing *s, const char *command,
			      const struct evspace_client *client)
{
	const struct evspace_wave *w = evspace_wave(client);
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "%s: ", command);
	if (w->unreadable > s->unreadable)
		(void)standing_say_unreadable(client, prefix, stderr);
	s->unreadable = w->unreadable > s->unreadable ? w->unreadable : s->unreadable;
}

/* ---- nothing is selected ---- */

/* rank2 before rank10 */
static int name_order(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* "/A/a0/rank[0-1]", for the caller to free(); NULL: it has none. Several nodes may have one
 * folder: those of the others are not its own. */
static char *host_text(const Evspace__Status *s)
{
	const char **names = memory_new(s->n_processes + 1, sizeof(*names));
	char *list, *text = NULL;
	size_t n = 0;

	for (size_t i = 0; i < s->n_processes; i++) {
		if (!s->processes[i]->misplaced)
			names[n++] = s->processes[i]->name;
	}
	if (n == 0) {
		free(names);
		return NULL;
	}
	qsort(names, n, sizeof(*names), name_order);
	list = hostlist_text(names, n);
	text = memory_format("/%s/%s/%s", s->cluster[0] ? s->cluster : "-", s->node, list);
	utf8_clean(text);
	free(list);
	free(names);
	return text;
}

/* Returns how many hosts have processes. */
static size_t hosts_write(FILE *line, const Evspace__Status *all)
{
	size_t n = 0;

	for (size_t i = 0; i <= all->n_below; i++) {
		const Evspace__Status *s = i ? all->below[i - 1] : all;
		char *text = host_text(s);

		if (text && n++ < HOSTS_NAMED)
			fprintf(line, "%s%s", n > 1 ? ", " : "; there is ", text);
		free(text);
	}
	if (n > HOSTS_NAMED)
		fprintf(line, ", and %zu more", n - HOSTS_NAMED);
	return n;
}

struct unmatched {
	const char *command;
	const char *what;	     /* selects */
	const Evspace__Frame *reply; /* NULL: none */
};

static void unmatched_write(FILE *line, const void *arg)
{
	const struct unmatched *u = arg;

	fprintf(line, "%s: so far nothing is there that %s", u->command, u->what);
	if (!u->reply || hosts_write(line, u->reply->status) == 0)
		return;
	fputs(", with threads such as /t0, which have", line);
	for (int i = 0; i < CHANNEL_PROGRAMS; i++)
		fprintf(line, "%s %s", i ? "," : "", channel_name(i));
}

/* Say on stderr, for @command, that nothing of what @look selects is there so far, and what is: the
 * processes of the run, by asking all hosts. */
static void unmatched_tell(const char *command, const struct evspace_options *look,
			   struct evspace_client *client)
{
	Evspace__Frame *reply = status_ask(look, client, true);
	const char *what = look->n_select ? "--select matches" : "the view selects";
	const struct unmatched u = {command, what, reply};

	table_say_of(stderr, unmatched_write, &u);
	evspace__frame__free_unpacked(reply, NULL);
}

/* ---- */

/* No host that answers has it. Returns the exit code, or -1 to go on. */
static int take_none(const char *command, const char *wanted, const struct common *common,
		     const struct standing_runs *runs, const struct evspace_client *client)
{
	const struct evspace_wave *w = evspace_wave(client);
	char prefix[32];

	if (runs->known)
		return -1;
	snprintf(prefix, sizeof(prefix), "%s: ", command);
	if (!say_refused(command, &common->look, wanted) &&
	    !standing_say_unreadable(client, prefix, stderr))
		say_none(command, wanted, runs, w);
	return EXIT_BAD_NEWS;
}

/* Its processes are there: is anything of what was selected? */
static void take_selected(struct standing *s, const char *command, const struct common *common,
			  struct evspace_client *client, bool last)
{
	const struct evspace_wave *w = evspace_wave(client);

	s->matched |= w->elements > 0 || common->look.n_select == 0;
	if (s->matched || w->n_missing || w->unreadable)
		return;
	s->since_ns = s->since_ns ? s->since_ns : clock_mono_ns();
	if (!last && clock_mono_ns() - s->since_ns < GRACE_NS)
		return;
	s->matched = true;
	unmatched_tell(command, &common->look, client);
}

/* It has ended, and nothing of what was selected is there. */
static int take_nothing(const char *command, const struct common *common,
			struct evspace_client *client)
{
	unmatched_tell(command, &common->look, client);
	return EXIT_BAD_NEWS;
}

int standing_take(struct standing *s, const char *command, const struct common *common,
		  struct evspace_client *client, bool last)
{
	const struct evspace_wave *w = evspace_wave(client);
	const char *wanted = common->look.run;
	bool ended = w->elements > 0 && w->n_missing == 0;
	struct standing_runs runs = {0};
	Evspace__Frame *reply;
	int code = -1;

	if (s->settled || w->processes || (wanted && strcmp(wanted, SPAN_RUN) == 0)) {
		s->settled = true;
		if (w->processes)
			take_selected(s, command, common, client, last);
		return -1;
	}
	if (!ended && common->look.wait && last && w->elements == 0 && w->unreadable == 0)
		return standing_none(command, common);
	if (!ended && common->look.wait)
		say_waiting(s, command, wanted);
	if ((w->unreadable && w->elements) || (!ended && common->look.wait))
		return -1;
	s->since_ns = s->since_ns ? s->since_ns : clock_mono_ns();
	if (!ended && !last && clock_mono_ns() - s->since_ns < GRACE_NS)
		return -1;
	/* any host that has not answered may have it */
	if (w->answered < w->leaves && !last) {
		say_awaited(s, command, w);
		return -1;
	}
	if (*standing_run(s, common, client))
		wanted = standing_run(s, common, client);
	reply = runs_ask(&common->look, client, wanted, &runs);
	/* a host that does not say whether it has the run may have it */
	s->settled = runs.known || !reply;
	if (runs.known && !runs.alive && ended && wanted)
		say_ended(command, wanted, &runs, evspace_is_stream(client), common->look.backlog);
	else if (runs.known && !runs.alive &&
		 (common->look.n_select || (!ended && w->n_missing == 0)))
		code = take_nothing(command, common, client);
	/* a run of elements of programs alone is in no list */
	else if (!ended && reply && w->elements == 0)
		code = take_none(command, wanted, common, &runs, client);
	free(runs.names);
	evspace__frame__free_unpacked(reply, NULL);
	return code;
}

int standing_end(struct standing *s, const char *command, const struct common *common,
		 struct evspace_client *client)
{
	const struct evspace_wave *w = evspace_wave(client);
	int code = w ? standing_take(s, command, common, client, true) : -1;

	if (code < 0 && common->look.wait && !s->settled && (!w || w->elements == 0))
		code = standing_none(command, common);
	return code >= 0 ? code : EXIT_FINE;
}
