/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace view: any view's answer, as a table for each wave. */
#include "consumers/watch/view.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/cli/words.h"
#include "consumers/watch/events.h"
#include "pathmap/base/memory.h"
#include "pathmap/plan/plan.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/clock.h"

static const char view_help[] =
	"usage: evspace view NAME [options]\n"
	"       evspace view --define TEXT [options]\n"
	"\n"
	"Show the answer of a view, wave by wave, until Ctrl-C. Views are defined by the\n"
	"pathmap's application map, or here; these are shipped:\n"
	"\n"
	"  rates        calls and bytes per second by class (operation group and\n"
	"               communicator)\n"
	"  histogram    how long operations take, by operation: quantiles\n"
	"  sizes        the same of how many bytes they have\n"
	"  slowest      the 10 operations that took longest since the last wave: who,\n"
	"               where\n"
	"  largest      the 10 with the most bytes\n"
	"  matrix       messages and bytes from each process to each other\n"
	"  traffic      the same from node to node\n"
	"  meet         collective operations: who came last, how long the others waited\n"
	"  blocks       in which operations processes are now, and behind which\n"
	"  states       in which blocks, as the program says them (evspace.h)\n"
	"  latest       the newest event of every element\n"
	"  heartbeat    the last of every thread\n"
	"  events       all events (see also: evspace events, evspace heartbeat)\n"
	"\n"
	"Figures are those of what came since the wave before (rates: of what was counted\n"
	"between the two); quantiles are off by 3.1 % at most.\n"
	"\n"
	"examples:\n"
	"  evspace view rates                              # of the whole program\n"
	"  evspace view rates --level thread --top 5       # of the 5 busiest threads\n"
	"  evspace view sizes --backlog --until-end --sum  # of all messages of a run\n"
	"  evspace view matrix --sum --count 10 --json\n"
	"  evspace view --define 'thread filter bytes>=10k; all slowest 5'\n"
	"  evspace view --define 'select /**/element:residual; read latest;\n"
	"                         all reduce max of field residual'\n"
	"\n"
	"JSON: \"type\" is wave, then rate, bin, median, cell, meeting, total, figure,\n"
	"foreign, tuple or element; times are in ns.\n";

#define BUFFER_BYTES (1u << 16)

/* ---- tuples and totals, as evspace events writes them ---- */

static size_t n_tuples, n_totals, n_typed, n_figures;

static size_t records_take(const struct viewer *v)
{
	struct evspace_event ev;
	struct evspace_total total;
	struct evspace_typed typed;
	struct evspace_figure figure;

	for (n_tuples = 0; evspace_event(v->follow.client, &ev); n_tuples++)
		;
	evspace_rewind(v->follow.client);
	for (n_totals = 0; evspace_total(v->follow.client, &total); n_totals++)
		;
	evspace_rewind(v->follow.client);
	for (n_typed = 0; evspace_typed(v->follow.client, &typed); n_typed++)
		;
	evspace_rewind(v->follow.client);
	for (n_figures = 0; evspace_figure(v->follow.client, &figure); n_figures++)
		;
	return n_tuples + n_totals + n_typed + n_figures;
}

static void records_json(const struct viewer *v, FILE *out)
{
	struct evspace_event ev;
	struct evspace_total total;
	struct evspace_typed typed;
	struct evspace_figure figure;

	evspace_rewind(v->follow.client);
	while (evspace_event(v->follow.client, &ev))
		events_json.event(v->follow.client, &ev, 0, out);
	evspace_rewind(v->follow.client);
	while (evspace_total(v->follow.client, &total))
		events_json.total(v->follow.client, &total, 0, out);
	evspace_rewind(v->follow.client);
	while (evspace_typed(v->follow.client, &typed))
		events_json.typed(&typed, 0, out);
	evspace_rewind(v->follow.client);
	while (evspace_figure(v->follow.client, &figure))
		events_json.figure(&figure, 0, out);
}

static void typed_records_text(const struct viewer *v, FILE *out, size_t width)
{
	struct evspace_typed typed;
	struct evspace_figure figure;

	evspace_rewind(v->follow.client);
	for (size_t i = 0; viewer_shows(v, i, n_typed) && evspace_typed(v->follow.client, &typed);
	     i++)
		events_text.typed(&typed, width, out);
	viewer_more(v, n_typed, out);
	evspace_rewind(v->follow.client);
	for (size_t i = 0;
	     viewer_shows(v, i, n_figures) && evspace_figure(v->follow.client, &figure); i++)
		events_text.figure(&figure, width, out);
	viewer_more(v, n_figures, out);
}

static void records_text(const struct viewer *v, FILE *out)
{
	struct evspace_event ev;
	struct evspace_total total;
	size_t width = table_width(out);

	evspace_rewind(v->follow.client);
	for (size_t i = 0; viewer_shows(v, i, n_tuples) && evspace_event(v->follow.client, &ev);
	     i++)
		events_text.event(v->follow.client, &ev, width, out);
	viewer_more(v, n_tuples, out);
	evspace_rewind(v->follow.client);
	for (size_t i = 0; viewer_shows(v, i, n_totals) && evspace_total(v->follow.client, &total);
	     i++)
		events_text.total(v->follow.client, &total, width, out);
	viewer_more(v, n_totals, out);
	typed_records_text(v, out, width);
}

static const struct figure figure_tuples = {records_take, false, records_text, records_json, NULL};

/* ---- which views there are ---- */

static const struct figure *const figures[] = {
	&figure_classes,  &figure_bins,	   &figure_medians, &figure_cells,
	&figure_meetings, &figure_foreign, &figure_tuples,
};

#define FIGURES (sizeof(figures) / sizeof(figures[0]))

static int top_take(void *into, const char *value, struct error *e)
{
	struct viewer *v = into;
	char *end;

	if (strcmp(value, "all") == 0) {
		v->top = 0;
		return 0;
	}
	v->top = strtoull(value, &end, 10);
	if (*value < '1' || *value > '9' || *end)
		return errorf(e, "'%s' is not a number of lines; write 5, or all", value);
	return 0;
}

/* Levels that a view can be cut at. */
static int level_take(void *into, const char *value, struct error *e)
{
	struct viewer *v = into;

	v->level = value;
	for (enum level level = LEVEL_THREAD; level <= LEVEL_CLUSTER; level++)
		if (strcmp(value, level_name(level)) == 0)
			return 0;
	return errorf(e, "'%.60s' is not one of thread, node, cluster", value);
}

static const struct option_row view_rows[] = {
	{"define", "TEXT", OPTION_ONCE, .at = offsetof(struct viewer, follow.common.look.define),
	 .help = "a view of your own, as a map has it in `view NAME { ... }` (pathmap(5)): select, "
		 "read, use, and stages; the entry's map says who may"},
	{"level", "LEVEL", .take = level_take,
	 .help = "only the view's stages up to thread, node, cluster: one answer each"},
	{"sum", .at = offsetof(struct viewer, sum), .help = "add up bins and cells over all waves"},
	{"bars", .at = offsetof(struct viewer, bars), .help = "draw histograms, too"},
	{"top", "N|all", .take = top_take,
	 .help = "lines of a table, the largest first (default 20; JSON has all)"},
	{"backlog", NULL, OPTION_ONE, .at = offsetof(struct viewer, follow.common.look.backlog),
	 .help = "begin with what the elements still hold (default: from now on)"},
	{"until-end", .at = offsetof(struct viewer, follow.until_end),
	 .help = "end when all processes have ended and everything is read; a run that had "
		 "ended before ends it without this, unless --count or --duration say when"},
	{0},
};

static const struct usage view_usage = {
	.help = view_help,
	.own = view_rows,
	.takes = OPTIONS_LOOK | OPTIONS_JSON | OPTIONS_VIEW | OPTIONS_WAVES,
	.words_max = 1,
};

bool viewer_shows(const struct viewer *v, size_t shown, size_t n)
{
	return shown < n && (!v->top || shown < v->top);
}

void viewer_more(const struct viewer *v, size_t n, FILE *out)
{
	if (v->top && n > v->top)
		table_say(out, "and %zu more (--top all shows them)", n - v->top);
}

/* ---- one wave ---- */

/* Prints what stands above the answer. */
struct head {
	struct viewer *v;
	const struct evspace_wave *wave;
};

static void head_write(FILE *line, const void *arg)
{
	const struct head *head = arg;
	struct follower *f = &head->v->follow;
	const struct evspace_wave *w = head->wave;
	const char *run = standing_run(&f->standing, &f->common, f->client);
	char clock[32], lost[FOLLOW_LOSS], waited[WORDS_TEXT] = "";

	words_clock(clock, sizeof(clock), w->taken_ns, 1);
	fprintf(line, "%s of %s, wave %llu%s at %s, %u of %u host%s", head->v->view,
		*run ? run : "no run yet", (unsigned long long)w->number,
		w->again ? " (what was late)" : "", clock, w->answered, w->leaves,
		plural(w->leaves, "s"));
	for (size_t i = 0; i < w->n_missing; i++) {
		char text[WORDS_TEXT] = "";

		words_add_missing(text, &w->missing[i]);
		fprintf(line, "%s %s %s", i ? "," : ";", w->missing[i].leaf, text);
	}
	words_add_waited(waited, w);
	fputs(waited, line);
	if (w->unreadable)
		fprintf(line,
			"; not seen: %u process%s: " STANDING_UNREADABLE
			"; evspace status says why",
			w->unreadable, plural(w->unreadable, "es"));
	if (f->loss.lost)
		fprintf(line, "; %s", follow_loss_words(f, lost));
}

static void head_text(struct viewer *v, const struct evspace_wave *w)
{
	if (v->redraw)
		fputs("\033[H\033[2J", stdout);
	table_say_of(stdout, head_write, &(struct head){v, w});
}

static void head_json(const struct viewer *v, const struct evspace_wave *w)
{
	json_print(json_pack("{s:s,s:o,s:I,s:b,s:I,s:I,s:I,s:o,s:I,s:I,s:I,s:o,s:I}", "type",
			     "wave", "view", json_text(v->view), "wave", (json_int_t)w->number,
			     "again", w->again, "taken_ns", (json_int_t)w->taken_ns, "hosts",
			     (json_int_t)w->leaves, "answered", (json_int_t)w->answered, "missing",
			     json_missing(w), "unreadable", (json_int_t)w->unreadable, "read",
			     (json_int_t)w->read, "lost", (json_int_t)w->lost, "rate_hz",
			     json_figure(w->rate_hz), "waited_us", (json_int_t)w->waited_us),
		   stdout);
}

static void show_wave(struct viewer *v)
{
	const struct evspace_wave *w = evspace_wave(v->follow.client);

	if (v->follow.common.json)
		head_json(v, w);
	else
		head_text(v, w);
	for (size_t i = 0; i < FIGURES; i++) {
		if (v->follow.common.json)
			figures[i]->json(v, stdout);
		else
			figures[i]->text(v, stdout);
	}
	if (!v->follow.common.json && !v->redraw)
		putchar('\n');
	v->fresh = !v->sum;
	v->waits = false;
	v->shown += !w->again;
	v->shown_ns = clock_mono_ns();
	v->drawn++;
	v->follow.loss.lost = v->follow.loss.read = v->follow.loss.before = 0;
}

/* A stream with --hurry looks more often than people can read: waves that can be added are shown
 * together. */
static bool is_time(const struct viewer *v, bool alone)
{
	if (v->follow.common.json || !v->follow.common.look.hurry || alone)
		return true;
	return (double)(clock_mono_ns() - v->shown_ns) * 1e-9 * v->follow.common.look.rate_hz > 0.9;
}

/* Is there nothing to show, or nothing more? A table with content stays. */
static bool is_empty(const struct viewer *v, bool any)
{
	const struct evspace_wave *w = evspace_wave(v->follow.client);

	if (v->follow.common.json || v->waits)
		return false;
	if (standing_is_empty(v->follow.client))
		return true;
	/* a view that is not a stream brings the same for ever */
	if (any && (evspace_is_stream(v->follow.client) || !v->follow.quiet))
		return false;
	return v->shown && !v->follow.loss.lost && w->processes == 0 && w->n_missing == 0;
}

static bool take_wave(void *arg, uint64_t *seen)
{
	struct viewer *v = arg;
	bool any = false, alone = false;

	for (size_t i = 0; i < FIGURES; i++) {
		size_t n;

		evspace_rewind(v->follow.client);
		n = figures[i]->take(v);
		any |= n > 0;
		alone |= n > 0 && !figures[i]->adds;
	}
	if (is_empty(v, any)) {
		v->shown += !evspace_wave(v->follow.client)->again;
	} else {
		v->fresh = false;
		v->waits = true;
		if (is_time(v, alone))
			show_wave(v);
	}
	*seen = v->shown;
	/* a view that is not a stream brings the same for ever */
	return any && evspace_is_stream(v->follow.client);
}

static void summary_write(FILE *line, const void *arg)
{
	char read[UNIT_TEXT], delivered[UNIT_TEXT], filtered[UNIT_TEXT], reduced[UNIT_TEXT];
	const struct viewer *v = arg;
	uint64_t sampled = evspace_sampled(v->follow.client);
	char lost[UNIT_TEXT], out[UNIT_TEXT + 16] = "";
	struct evspace_counts n;

	evspace_counts(v->follow.client, &n);
	fprintf(line, "%llu wave%s", (unsigned long long)n.waves, plural(n.waves, "s"));
	/* waves without news, or too close for people, are not shown */
	if (v->drawn != n.waves)
		fprintf(line, " (%llu shown)", (unsigned long long)v->drawn);
	if (sampled)
		snprintf(out, sizeof(out), ", %s sampled out", unit_count(lost, sampled));
	if (n.read || n.lost)
		fprintf(line,
			", %s tuple%s read: %s delivered, %s filtered, %s reduced%s; "
			"%s lost (overwritten before they were read)",
			unit_count(read, n.read), plural(n.read, "s"),
			unit_count(delivered, n.delivered),
			unit_count(filtered, n.filtered - sampled), unit_count(reduced, n.reduced),
			out, unit_count(lost, n.lost));
	if (n.unaccounted)
		fprintf(line, ", %llu UNACCOUNTED FOR (please report this)",
			(unsigned long long)n.unaccounted);
}

static int view_open(struct viewer *v, const char *command)
{
	const char *name =
		v->follow.common.n_words ? v->follow.common.words[0] : v->follow.common.look.view;
	const char *text = v->follow.common.look.define;
	int code = EXIT_FINE;

	if (name && text) {
		fprintf(stderr, "%s: a view's name and --define exclude each other\n", command);
		return EXIT_USAGE;
	}
	if (text && !options_definition(command, text, NULL))
		return EXIT_USAGE;
	if (text)
		name = "defined";
	if (!name) {
		fprintf(stderr, "%s: which view? such as `%s rates`; try '%s --help'\n", command,
			command, command);
		return EXIT_USAGE;
	}
	v->view = memory_format("%s%s%s", name, v->level ? "@" : "", v->level ? v->level : "");
	v->follow.common.look.view = v->view;
	v->follow.client = options_open(command, &v->follow.common, &code);
	return code;
}

int view_main(int argc, char **argv)
{
	struct viewer v = {
		.follow = {.command = "view", .common.look.rate_hz = 1},
		.top = 20,
	};
	int code = options_parse(argc, argv, &view_usage, &v, &v.follow.common);

	if (code < 0)
		code = view_open(&v, argv[0]);
	if (v.follow.client) {
		v.redraw = isatty(STDOUT_FILENO) && !v.follow.common.json;
		setvbuf(stdout, NULL, _IOFBF, BUFFER_BYTES);
		code = follow_run(&v.follow, take_wave, &v);
		if (v.waits)
			show_wave(&v);
		table_say_of(stderr, summary_write, &v);
		follow_tell_cost(&v.follow);
		options_close(&v.follow.common, v.follow.client);
	}
	for (size_t i = 0; i < FIGURES; i++)
		if (figures[i]->fini)
			figures[i]->fini();
	free(v.view);
	return code;
}
