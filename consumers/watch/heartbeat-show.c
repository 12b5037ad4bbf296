/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows heartbeats: a table, redrawn in place on a terminal, else in blocks; or JSON: an object for
 * the wave, then one for each thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "consumers/watch/heartbeat.h"
#include "consumers/cli/json.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/clock.h"
#include "tree/data/op-table.h"

/* Least time between two blocks, unless something happens: each wave that comes once a second is
 * shown. */
#define BLOCK_EVERY_NS 900000000u

/* A rate over a shorter time means nothing. */
#define RATE_AFTER_S 0.5

/* Intervals between the first look and the last: one less than looks. */
static double looks_per_second(const struct evspace_counts *n)
{
	return n->waves > 1 && n->seconds > RATE_AFTER_S ? (double)(n->waves - 1) / n->seconds : 0;
}

static void heartbeat_rates(struct heartbeat *h)
{
	const struct evspace_wave *w = evspace_wave(h->client);
	double s = (double)(w->taken_ns - h->last_ns) * 1e-9;
	struct evspace_counts counts;

	/* two waves may arrive together, without any time between them */
	if (h->last_ns && s < 0.02)
		return;
	evspace_counts(h->client, &counts);
	if (h->last_ns && w->written >= h->last_written) {
		h->written_rate = (double)(w->written - h->last_written) / s;
		h->cpu_share = (double)(counts.cpu_us - h->last_cpu_us) * 1e-6 / s;
		if (w->processes && w->cost_ns)
			h->cost_share = h->written_rate * (double)w->cost_ns / (double)w->written *
					1e-9 / w->processes;
	}
	h->last_ns = w->taken_ns;
	h->last_written = w->written;
	h->last_cpu_us = counts.cpu_us;
}

/* ---- the table ---- */

struct screen {
	const struct heartbeat *h;
	int lines, rows;
	size_t width; /* of a line; 0: no limit */
};

static void screen_part(struct screen *s, const char *colour, const char *line, size_t length)
{
	if (s->h->redraw)
		printf("\r\033[K%s%.*s%s\n", s->h->colour ? colour : "", (int)length, line,
		       s->h->colour && *colour ? "\033[0m" : "");
	else
		printf("%.*s\n", (int)length, line);
	s->lines++;
}

/* Cuts lines at the terminal's width, so that redrawing works. */
static void screen_line(struct screen *s, const char *colour, const char *line)
{
	do {
		size_t length = table_break(line, s->width);

		screen_part(s, colour, line, length);
		line += length;
		line += *line == ' ';
	} while (*line != '\0');
}

static void screen_program(struct screen *s, const struct evspace_wave *w)
{
	const struct heartbeat *h = s->h;
	char line[WORDS_TEXT], rate[UNIT_TEXT] = "", total[UNIT_TEXT], awaiting[48] = "";
	int n;

	if (heartbeat_awaited(h))
		snprintf(awaiting, sizeof(awaiting), ", waiting for %zu other%s",
			 heartbeat_awaited(h), plural(heartbeat_awaited(h), "s"));
	if (h->ended)
		snprintf(line, sizeof(line),
			 "run %s has ended; this is how its %zu thread%s %s left", h->run,
			 h->thread_states.n, plural(h->thread_states.n, "s"),
			 h->thread_states.n == 1 ? "was" : "were");
	else
		snprintf(line, sizeof(line),
			 "run %s: %zu thread%s in %u process%s on %u of %u host%s; %zu stuck%s",
			 h->run, h->thread_states.n, plural(h->thread_states.n, "s"), w->processes,
			 plural(w->processes, "es"), w->answered, w->leaves, plural(w->leaves, "s"),
			 h->stuck - heartbeat_awaited(h), awaiting);
	screen_line(s, "\033[1m", line);
	if (h->written_rate >= 0)
		unit_count(rate, (uint64_t)h->written_rate);
	n = snprintf(line, sizeof(line), "program: %s%s%s events so far", rate,
		     *rate ? " events/s, " : "", unit_count(total, w->written));
	if (w->cost_ns)
		n += snprintf(line + n, sizeof(line) - (size_t)n,
			      "; collecting costs %.1f ns an event",
			      (double)w->cost_ns / (double)w->written);
	if (h->cost_share >= 0)
		snprintf(line + n, sizeof(line) - (size_t)n, ", %s of its time",
			 unit_share(rate, h->cost_share));
	screen_line(s, "", line);
}

static void screen_looking(struct screen *s, const struct evspace_wave *w)
{
	const struct heartbeat *h = s->h;
	char line[WORDS_TEXT], share[UNIT_TEXT];
	struct evspace_counts n;
	int used;

	evspace_counts(h->client, &n);
	used = snprintf(line, sizeof(line), "looking: ");
	if (looks_per_second(&n) > 0)
		used += snprintf(line + used, sizeof(line) - (size_t)used,
				 "%.1f looks/s, %.0f tuples/s, ", looks_per_second(&n),
				 looks_per_second(&n) * (double)n.delivered / (double)n.waves);
	used += snprintf(line + used, sizeof(line) - (size_t)used, "%llu lost",
			 (unsigned long long)n.lost);
	if (h->cpu_share >= 0)
		snprintf(line + used, sizeof(line) - (size_t)used,
			 "; all agents together use %s of a core", unit_share(share, h->cpu_share));
	words_add_waited(line, w);
	screen_line(s, "", line);
	for (size_t i = 0; i < w->n_missing; i++) {
		snprintf(line, sizeof(line), "missing: %s, ", w->missing[i].leaf);
		words_add_missing(line, &w->missing[i]);
		screen_line(s, "\033[33m", line);
	}
	if (w->unreadable) {
		snprintf(line, sizeof(line),
			 "not seen: %u process%s: " STANDING_UNREADABLE "; evspace status says why",
			 w->unreadable, plural(w->unreadable, "es"));
		screen_line(s, "\033[33m", line);
	}
}

static const char *thread_state_word(const struct heartbeat *h, const struct thread_state *p)
{
	if (p->wave != h->thread_states.items[0].wave)
		return "missing";
	if (p->gone)
		return "DEAD";
	if (p->culprit && p->stuck)
		return "AWAITED";
	return p->stuck ? "STUCK" : p->running ? "inside" : "";
}

/* the thread and whom it waits for are always shown */
static const struct table_column thread_columns[] = {
	{.parts = 2},
	{.pad = -8, .gap = 1},
	{.pad = 9, .gap = 1, .drop = 1},
	{.least = 20, .drop = 2},
	{.least = 18, .wraps = true},
};

static void thread_add(const struct screen *s, struct table *t, const struct thread_state *p)
{
	char doing[WORDS_TEXT], waits[WORDS_TEXT], region[WORDS_TEXT];
	const struct heartbeat *h = s->h;
	char ago[UNIT_TEXT];

	heartbeat_waits(h, p, waits);
	table_cell(t, "%s", p->name);
	table_cell(t, "%s", thread_state_word(h, p));
	table_cell(t, "%s", unit_duration(ago, (uint64_t)p->still_ns));
	/* lines without a limit say it in one sentence */
	table_cell(t, "%s%s%s%s%s", heartbeat_doing(h, p, doing), p->region_op ? "; in " : "",
		   heartbeat_region(h, p, region), !s->width && waits[0] ? "; " : "",
		   s->width ? "" : waits);
	table_cell(t, "%s", s->width ? waits : "");
}

/* Sorts what is shown first if there is no room for all: who is awaited, then who is stuck. */
static int thread_state_place(const struct thread_state *p)
{
	return p->stuck ? p->culprit || p->odd ? 0 : 1 : 2;
}

/* The threads in order of display, @all in that of their names, or at least as many as fit on a
 * screen. */
static size_t screen_order(const struct screen *s, const struct thread_state **order, bool all)
{
	const struct thread_states *p = &s->h->thread_states;
	size_t n = 0;

	for (int place = 0; place <= 2; place++)
		for (size_t i = 0; i < p->n; i++)
			if (all ? place == 0 : thread_state_place(&p->items[i]) == place)
				order[n++] = &p->items[i];
	return all || n < (size_t)s->rows ? n : (size_t)s->rows;
}

/* How many lines the table's next row takes: a continued line begins with a blank. */
static int row_lines(char *const *lines, size_t n)
{
	size_t taken = 1;

	while (taken < n && *lines[taken] == ' ')
		taken++;
	return (int)taken;
}

/* Print the heads, then as many threads as there is room for. Returns how many. */
static size_t screen_table(struct screen *s, const struct table *t,
			   const struct thread_state **order)
{
	char *text = table_text(t, s->width), *rest = text, *line, **lines = NULL;
	size_t n = 0, at = 0, shown = 0, threads = t->n_cells / t->n_columns - 1;

	screen_line(s, "\033[4m", strsep(&rest, "\n"));
	while ((line = strsep(&rest, "\n")) && rest) {
		lines = memory_room(lines, n, sizeof(*lines));
		lines[n++] = line;
	}
	/* names may have newlines, so count threads, too */
	for (int taken; at < n && shown < threads; shown++) {
		taken = row_lines(&lines[at], n - at);
		/* the last two lines are for what is left out, and the cursor */
		if (s->h->redraw && s->lines + taken > s->rows - 2 &&
		    (at + (size_t)taken < n || s->lines + taken > s->rows - 1))
			break;
		for (; taken > 0; taken--)
			screen_line(s, order[shown]->stuck ? "\033[31m" : "", lines[at++]);
	}
	free(lines);
	free(text);
	return shown;
}

/* How many threads, and how many of the stuck ones, had no room. */
static void screen_hidden(struct screen *s, const struct thread_state **order, size_t shown)
{
	const struct thread_state *items = s->h->thread_states.items;
	size_t n = s->h->thread_states.n, stuck = 0;
	char line[WORDS_TEXT], text[48] = "";

	for (size_t i = 0; i < n; i++)
		stuck += items[i].stuck && !items[i].culprit;
	for (size_t i = 0; i < shown; i++)
		stuck -= order[i]->stuck && !order[i]->culprit;
	if (stuck > 0)
		snprintf(text, sizeof(text), ", %zu of them stuck", stuck);
	snprintf(line, sizeof(line), "... and %zu more thread%s%s", n - shown,
		 plural(n - shown, "s"), text);
	if (shown < n)
		screen_line(s, "", line);
}

/* Is there room for @lines more, and the cursor? */
static bool screen_holds(const struct screen *s, size_t lines)
{
	return !s->h->redraw || (size_t)s->lines + lines < (size_t)s->rows;
}

/* Does it fit as it is? */
static bool table_fits(const struct screen *s, const struct table *t)
{
	char *text = table_text(t, s->width);
	size_t lines = 0;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	free(text);
	return screen_holds(s, lines);
}

static void threads_table(const struct screen *s, struct table *t,
			  const struct thread_state **order, bool all)
{
	static const char *const heads[] = {"thread", "", "for",
					    "the operation that it is in, or the last one", ""};
	size_t n = screen_order(s, order, all);

	table_heads(t, thread_columns, heads, sizeof(heads) / sizeof(heads[0]));
	for (size_t i = 0; i < n; i++)
		thread_add(s, t, order[i]);
}

static void screen_threads(struct screen *s)
{
	const struct thread_state **order =
		memory_new(s->h->thread_states.n + 1, sizeof(const struct thread_state *));
	bool all = screen_holds(s, 1 + s->h->thread_states.n);
	struct table t;

	threads_table(s, &t, order, all);
	if (all && !table_fits(s, &t)) {
		table_fini(&t);
		threads_table(s, &t, order, false);
	}
	screen_hidden(s, order, screen_table(s, &t, order));
	table_fini(&t);
	free(order);
}

static void show_screen(struct heartbeat *h)
{
	struct winsize size = {.ws_row = 0, .ws_col = 0};
	struct screen s = {.h = h, .width = table_width(stdout)};
	char text[WORDS_TEXT];

	if (h->redraw) {
		ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
		s.width--; /* a full line would wrap on some terminals */
	}
	s.rows = size.ws_row > 10 ? size.ws_row : 24;
	if (h->redraw && h->lines)
		printf("\033[%dA", h->lines);
	screen_program(&s, evspace_wave(h->client));
	screen_looking(&s, evspace_wave(h->client));
	for (size_t i = 0; i < h->n_found; i++)
		screen_line(&s, "\033[31m",
			    disagreement_words(text, h->client, &h->found[i],
					       evspace_wave(h->client)->taken_ns));
	screen_threads(&s);
	if (h->redraw)
		fputs("\033[J", stdout);
	else
		putchar('\n');
	h->lines = s.lines;
}

/* ---- JSON ---- */

static const char *const why_words[] = {
	[STALL_NOT] = "not",	     [STALL_PEER] = "peer", [STALL_ANY] = "any",
	[STALL_MEMBERS] = "members", [STALL_SOME] = "some", [STALL_UNKNOWN] = "unknown",
};

static const char *const order_words[] = {
	[STALL_CANNOT_TELL] = "cannot tell",
	[STALL_SILENT_BEFORE] = "before",
	[STALL_SILENT_AFTER] = "after",
};

static void wave_json(const struct heartbeat *h, const struct evspace_wave *w, FILE *out)
{
	struct evspace_counts n;
	json_t *o;

	evspace_counts(h->client, &n);
	o = json_pack("{s:s,s:I,s:I,s:o,s:i,s:i,s:o,s:i,s:i,s:i,s:i,s:b,s:i,s:I,s:I}", "type",
		      "wave", "wave", (json_int_t)w->number, "time_ns", (json_int_t)w->taken_ns,
		      "run", json_text(h->run), "hosts", (int)w->leaves, "answered",
		      (int)w->answered, "missing", json_missing(w), "processes", (int)w->processes,
		      "threads", (int)h->thread_states.n, "stuck",
		      (int)(h->stuck - heartbeat_awaited(h)), "awaited", (int)heartbeat_awaited(h),
		      "ended", (int)h->ended, "unreadable", (int)w->unreadable, "waited_us",
		      (json_int_t)w->waited_us, "disagreements", (json_int_t)h->n_found);
	if (!o)
		abort();
	json_object_update_new(
		o, json_pack("{s:I,s:o,s:o,s:o,s:o,s:I,s:I}", "written", (json_int_t)w->written,
			     "events_per_s", json_figure(h->written_rate), "ns_per_event",
			     json_figure(w->cost_ns ? (double)w->cost_ns / (double)w->written : -1),
			     "collecting_share", json_figure(h->cost_share), "agents_cpu_share",
			     json_figure(h->cpu_share), "lost", (json_int_t)n.lost, "latency_us",
			     (json_int_t)(w->latency_s * 1e6)));
	json_print(o, out);
}

static json_t *ranks_json(const struct thread_state *p)
{
	json_t *ranks = p->why == STALL_UNKNOWN ? json_null() : json_array();

	for (size_t i = 0; i < p->n_awaits; i++)
		json_array_append_new(ranks, json_integer(p->awaits[i]));
	return ranks;
}

/* The innermost region that it is in. */
static json_t *region_json(const struct heartbeat *h, const struct thread_state *p)
{
	const char *label = p->region_op ? evspace_label(h->client, p->region) : NULL;

	if (!p->region_op)
		return json_null();
	return label ? json_text(label) : json_sprintf("%08x", p->region);
}

static json_t *cause_json(const struct heartbeat *h, const struct thread_state *p)
{
	bool has = p->cause != STALL_NOBODY;

	return json_pack("{s:o,s:o}", "cause",
			 json_text(has ? h->thread_states.items[p->cause].name : NULL),
			 "cause_is_silent_since", json_text(has ? order_words[p->order] : NULL));
}

static void thread_json(const struct heartbeat *h, const struct thread_state *p, uint64_t wave,
			FILE *out)
{
	const char *kind = p->region_op == OP_EVSPACE_PHASE ? "phase" : "region";
	json_t *o = json_pack("{s:s,s:I,s:o,s:o,s:b,s:s,s:b,s:o,s:o,s:I,s:I}", "type", "thread",
			      "wave", (json_int_t)wave, "thread", json_text(p->name), "rank",
			      json_process(p->rank), "missing", p->wave != wave, "op", p->op,
			      "running", p->running, "start_ns", json_time(p->start_ns), "end_ns",
			      json_time(p->end_ns), "still_ns", (json_int_t)p->still_ns, "error_ns",
			      (json_int_t)fmin(p->error_ns, (double)INT64_MAX / 2));

	if (!o)
		abort();
	json_object_update_new(o, json_pack("{s:o,s:I,s:o,s:I,s:b,s:b,s:b,s:b,s:b,s:b,s:s,s:o}",
					    "peer", json_process(p->peer), "seq_or_tag",
					    (json_int_t)p->seq, "comm", json_comm(p->comm), "bytes",
					    (json_int_t)p->bytes, "stuck", p->stuck && !p->culprit,
					    "culprit", p->culprit, "deadlock", p->deadlock,
					    "circle", p->circle, "meets", p->meets, "mismatch",
					    heartbeat_is_mismatch(h, p), "why", why_words[p->why],
					    "waits_for", ranks_json(p)));
	json_object_update_new(o, cause_json(h, p));
	json_object_update_new(
		o, json_pack("{s:b,s:b,s:o,s:o,s:o,s:o,s:I,s:b,s:o}", "dead", (int)p->gone,
			     "died_inside", p->gone && p->died_inside, "region_kind",
			     json_text(p->region_op ? kind : NULL), "region", region_json(h, p),
			     "region_since_ns", json_time(p->region_op ? p->region_ns : 0), "world",
			     json_comm(p->world), "holds_up", (json_int_t)p->holds_up, "odd",
			     (int)p->odd, "site",
			     json_text(p->site ? evspace_label(h->client, p->site) : NULL)));
	json_print(o, out);
}

void heartbeat_json(const struct heartbeat *h, FILE *out)
{
	const struct evspace_wave *w = evspace_wave(h->client);

	if (!w)
		return;
	wave_json(h, w, out);
	for (size_t i = 0; i < h->n_found; i++)
		json_print(disagreement_json(h->client, &h->found[i], w->number), out);
	for (size_t i = 0; i < h->thread_states.n; i++)
		thread_json(h, &h->thread_states.items[i], w->number, out);
}

/* ---- */

int heartbeat_show(struct heartbeat *h)
{
	uint64_t now = clock_mono_ns();

	heartbeat_rates(h);
	if (h->common.json) {
		heartbeat_json(h, stdout);
	} else if (h->redraw || !h->shown_ns || h->shown_stuck != h->stuck || h->ended ||
		   now - h->shown_ns >= BLOCK_EVERY_NS) {
		show_screen(h);
		h->shown_ns = now;
		h->shown_stuck = h->stuck;
	}
	return fflush(stdout) == EOF ? -1 : 0;
}

static void summary_write(FILE *line, const void *arg)
{
	const struct heartbeat *h = arg;
	char bytes[UNIT_TEXT], waves[UNIT_TEXT];
	struct evspace_counts n;
	uint64_t each;

	evspace_counts(h->client, &n);
	each = n.waves ? n.waves : 1;
	fprintf(line, "%s look%s", unit_count(waves, n.waves), plural(n.waves, "s"));
	if (looks_per_second(&n) > 0)
		fprintf(line, " (%.1f/s)", looks_per_second(&n));
	fprintf(line, " at %u host%s, each %s on the wire", n.leaves, plural(n.leaves, "s"),
		unit_bytes(bytes, n.received_bytes / each));
	if (n.cpu_us >= each)
		fprintf(line, " and %llu us of CPU time of all agents",
			(unsigned long long)(n.cpu_us / each));
	fprintf(line, "; %llu tuple%s lost", (unsigned long long)n.lost, plural(n.lost, "s"));
	if (n.reconnections)
		fprintf(line, "; the connection was made again %u time%s", n.reconnections,
			plural(n.reconnections, "s"));
}

void heartbeat_summary(const struct heartbeat *h)
{
	table_say_of(stderr, summary_write, h);
}
