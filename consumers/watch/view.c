/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace view: any view's answer, as a table for each wave. */
#include "consumers/watch/view.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/cli/words.h"
#include "pathmap/base/memory.h"
#include "pathmap/plan/plan.h"
#include "pathmap/base/plural.h"
#include "pathmap/base/table.h"
#include "tree/data/clock.h"

static const char view_help[] =
	"usage: evspace view NAME [options]\n"
	"\n"
	"Show the answer of a view, wave by wave, until Ctrl-C. Views are defined by the "
	"pathmap's\n"
	"application map; these are shipped:\n"
	"\n"
	"  rates        calls and bytes per second by class (operation group and communicator)\n"
	"  histogram    how long operations take, by operation: quantiles\n"
	"  sizes        the same of how many bytes they have\n"
	"  slowest      the 10 operations that took longest since the last wave: who, where\n"
	"  largest      the 10 with the most bytes\n"
	"  matrix       messages and bytes from each process to each other\n"
	"  traffic      the same from node to node\n"
	"  latest       the newest event of every element\n"
	"  heartbeat    the last of every thread\n"
	"  events       all events (see also: evspace events, evspace heartbeat)\n"
	"\n"
	"Figures are those of what came since the wave before (rates: of what was counted between\n"
	"the two); quantiles are off by 3.1 % at most.\n"
	"\n"
	"examples:\n"
	"  evspace view rates                              # of the whole program\n"
	"  evspace view rates --level thread --top 5       # of each thread, the 5 busiest\n"
	"  evspace view sizes --backlog --until-end --sum  # of all messages of a run\n"
	"  evspace view matrix --sum --count 10 --json\n"
	"\n"
	"JSON: \"type\" is wave, then rate, bin, median, cell, total or tuple; times are in ns.\n";

#define BUFFER_BYTES (1u << 16)

static const struct figure *const figures[] = {
	&figure_classes, &figure_bins, &figure_medians, &figure_cells, &figure_tuples,
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

/* Those that a view can be cut at. */
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
	{"level", "LEVEL", .take = level_take,
	 .help = "only the view's stages up to thread, node, cluster: one answer each"},
	{"sum", .at = offsetof(struct viewer, sum), .help = "add up bins and cells over all waves"},
	{"bars", .at = offsetof(struct viewer, bars), .help = "draw histograms, too"},
	{"top", "N|all", .take = top_take,
	 .help = "lines of a table, the largest first (default 20; JSON has all)"},
	{"backlog", NULL, OPTION_ONE, .at = offsetof(struct viewer, common.look.backlog),
	 .help = "begin with what the elements still hold (default: from now on)"},
	{"until-end", .at = offsetof(struct viewer, until_end),
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

/* What stands above the answer. */
struct head {
	struct viewer *v;
	const struct evspace_wave *wave;
};

static void head_write(FILE *line, const void *arg)
{
	const struct head *head = arg;
	struct viewer *v = head->v;
	const struct evspace_wave *w = head->wave;
	const char *run = standing_run(&v->standing, &v->common, v->client);
	char clock[32], lost[LOSS_TEXT];

	words_clock(clock, sizeof(clock), w->taken_ns, 1);
	fprintf(line, "%s of %s, wave %llu%s at %s, %u of %u host%s", v->view,
		*run ? run : "no run yet", (unsigned long long)w->number,
		w->again ? " (what was late)" : "", clock, w->answered, w->leaves,
		plural(w->leaves, "s"));
	for (size_t i = 0; i < w->n_missing; i++) {
		char text[WORDS_TEXT] = "";

		words_add_missing(text, &w->missing[i]);
		fprintf(line, "%s %s %s", i ? "," : ";", w->missing[i].leaf, text);
	}
	if (w->unreadable)
		fprintf(line,
			"; not seen: %u process%s: " STANDING_UNREADABLE
			"; evspace status says why",
			w->unreadable, plural(w->unreadable, "es"));
	if (v->loss.lost)
		fprintf(line, "; %s", loss_words(&v->loss, &v->common, w, lost));
}

static void head_text(struct viewer *v, const struct evspace_wave *w)
{
	if (v->redraw)
		fputs("\033[H\033[2J", stdout);
	table_say_of(stdout, head_write, &(struct head){v, w});
}

static void head_json(const struct viewer *v, const struct evspace_wave *w)
{
	json_print(json_pack("{s:s,s:o,s:I,s:b,s:I,s:I,s:I,s:o,s:I,s:I,s:I,s:o}", "type", "wave",
			     "view", json_text(v->view), "wave", (json_int_t)w->number, "again",
			     w->again, "taken_ns", (json_int_t)w->taken_ns, "hosts",
			     (json_int_t)w->leaves, "answered", (json_int_t)w->answered, "missing",
			     json_missing(w), "unreadable", (json_int_t)w->unreadable, "read",
			     (json_int_t)w->read, "lost", (json_int_t)w->lost, "rate_hz",
			     json_figure(w->rate_hz)),
		   stdout);
}

static void show_wave(struct viewer *v)
{
	const struct evspace_wave *w = evspace_wave(v->client);

	if (v->common.json)
		head_json(v, w);
	else
		head_text(v, w);
	for (size_t i = 0; i < FIGURES; i++) {
		if (v->common.json)
			figures[i]->json(v, stdout);
		else
			figures[i]->text(v, stdout);
	}
	if (!v->common.json && !v->redraw)
		putchar('\n');
	v->fresh = !v->sum;
	v->waits = false;
	v->shown += !w->again;
	v->shown_ns = clock_mono_ns();
	v->drawn++;
	v->loss = (struct loss){0};
}

/* A stream that hurries looks more often than people can read: waves that add up wait for others.
 */
static bool is_time(const struct viewer *v, bool alone)
{
	if (v->common.json || !v->common.look.hurry || alone)
		return true;
	return (double)(clock_mono_ns() - v->shown_ns) * 1e-9 * v->common.look.rate_hz > 0.9;
}

/* Is there nothing to show yet, or nothing any more? A table that says something stays. */
static bool is_empty(const struct viewer *v, bool any)
{
	const struct evspace_wave *w = evspace_wave(v->client);

	if (v->common.json || v->waits)
		return false;
	if (standing_is_empty(v->client))
		return true;
	/* What is no stream brings the same for ever. */
	if (any && (evspace_is_stream(v->client) || !v->ending.quiet))
		return false;
	return v->shown && !v->loss.lost && w->processes == 0 && w->n_missing == 0;
}

/* Returns whether there was anything in the wave. */
static bool take_wave(struct viewer *v)
{
	bool any = false, alone = false;

	loss_add(&v->loss, evspace_wave(v->client));
	for (size_t i = 0; i < FIGURES; i++) {
		size_t n;

		evspace_rewind(v->client);
		n = figures[i]->take(v);
		any |= n > 0;
		alone |= n > 0 && !figures[i]->adds;
	}
	if (is_empty(v, any)) {
		v->shown += !evspace_wave(v->client)->again;
		return any;
	}
	v->fresh = false;
	v->waits = true;
	if (is_time(v, alone))
		show_wave(v);
	return any;
}

/* ---- the waves ---- */

static int milliseconds(uint64_t ns)
{
	return ns / 1000000u < INT_MAX ? (int)(ns / 1000000u) + 1 : INT_MAX;
}

static int follow(struct viewer *v)
{
	for (;;) {
		uint64_t now = clock_mono_ns();
		bool any, last;
		int rc;

		if (v->end_ns && now >= v->end_ns)
			return standing_end(&v->standing, "evspace view", &v->common, v->client);
		rc = evspace_next(v->client, v->end_ns ? milliseconds(v->end_ns - now) : -1);
		if (rc < 0) {
			fprintf(stderr, "evspace view: the connection is lost: %s\n",
				evspace_why(v->client));
			return EXIT_NO_CONNECTION;
		}
		if (rc == 0 && v->end_ns && clock_mono_ns() >= v->end_ns)
			continue;
		if (rc == 0)
			return EXIT_FINE;
		options_note_remapped("view", &v->common, v->client);
		any = take_wave(v);
		errno = 0;
		if (fflush(stdout) != 0 || ferror(stdout))
			return errno == 0 || errno == EPIPE ? EXIT_FINE : EXIT_BAD_NEWS;
		/* What is no stream brings the same for ever. */
		any = any && evspace_is_stream(v->client);
		last = v->common.count && v->shown >= v->common.count;
		rc = standing_take(&v->standing, "evspace view", &v->common, v->client, last);
		if (rc >= 0)
			return rc;
		if (last ||
		    (ending_reached(&v->ending, v->client, any) &&
		     ending_is_meant(&v->ending, v->until_end, v->common.count || v->end_ns)))
			return EXIT_FINE;
	}
}

static void summary_write(FILE *line, const void *arg)
{
	const struct viewer *v = arg;
	struct evspace_counts n;

	evspace_counts(v->client, &n);
	fprintf(line, "%llu wave%s", (unsigned long long)n.waves, plural(n.waves, "s"));
	/* those that bring nothing new, or come too fast for people, are not */
	if (v->drawn != n.waves)
		fprintf(line, " (%llu shown)", (unsigned long long)v->drawn);
	if (n.read || n.lost)
		fprintf(line,
			", %llu tuple%s read: %llu delivered, %llu filtered, %llu reduced; "
			"%llu lost (overwritten before they were read)",
			(unsigned long long)n.read, plural(n.read, "s"),
			(unsigned long long)n.delivered, (unsigned long long)n.filtered,
			(unsigned long long)n.reduced, (unsigned long long)n.lost);
	if (n.unaccounted)
		fprintf(line, ", %llu UNACCOUNTED FOR (please report this)",
			(unsigned long long)n.unaccounted);
}

static int view_open(struct viewer *v, const char *command)
{
	const char *name = v->common.n_words ? v->common.words[0] : v->common.look.view;
	int code = EXIT_FINE;

	if (!name) {
		fprintf(stderr, "%s: which view? such as `%s rates`; try '%s --help'\n", command,
			command, command);
		return EXIT_USAGE;
	}
	v->view = memory_format("%s%s%s", name, v->level ? "@" : "", v->level ? v->level : "");
	v->common.look.view = v->view;
	v->client = options_open(command, &v->common, &code);
	return code;
}

int view_main(int argc, char **argv)
{
	struct viewer v = {
		.common.look.rate_hz = 1,
		.top = 20,
	};
	int code = options_parse(argc, argv, &view_usage, &v, &v.common);

	if (code < 0)
		code = view_open(&v, argv[0]);
	if (v.client) {
		options_catch_signals(v.client);
		if (v.common.duration_ns)
			v.end_ns = clock_mono_ns() + v.common.duration_ns;
		v.redraw = isatty(STDOUT_FILENO) && !v.common.json;
		setvbuf(stdout, NULL, _IOFBF, BUFFER_BYTES);
		code = follow(&v);
		if (v.waits)
			show_wave(&v);
		table_say_of(stderr, summary_write, &v);
		options_close(&v.common, v.client);
	}
	for (size_t i = 0; i < FIGURES; i++)
		if (figures[i]->fini)
			figures[i]->fini();
	free(v.view);
	return code;
}
