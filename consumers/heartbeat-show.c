/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows heartbeats: a table that is drawn over on a terminal, blocks elsewhere.
 */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "consumers/heartbeat.h"
#include "consumers/unit.h"
#include "tree/clock.h"

/* Where the table is not drawn over, not more often than this unless something happens. */
#define BLOCK_EVERY_NS 1000000000u

/* Rates over less than this say nothing. */
#define RATE_AFTER_S 0.5

static double per_second(uint64_t n, double seconds)
{
	return seconds > RATE_AFTER_S ? (double)n / seconds : 0;
}

static void heartbeat_rates(struct heartbeat *h)
{
	const struct evspace_wave *w = evspace_wave(h->client);
	double s = (double)(w->taken_ns - h->last_ns) * 1e-9;
	struct evspace_counts counts;

	/* Between two waves that come in one gulp there is no time to speak of. */
	if (h->last_ns && s < 0.02)
		return;
	evspace_counts(h->client, &counts);
	if (h->last_ns && w->written >= h->last_written && w->cost_ns >= h->last_cost_ns) {
		h->written_rate = (double)(w->written - h->last_written) / s;
		h->cpu_share = (double)(counts.cpu_us - h->last_cpu_us) * 1e-6 / s;
		if (w->processes)
			h->cost_share =
				(double)(w->cost_ns - h->last_cost_ns) * 1e-9 / s / w->processes;
	}
	h->last_ns = w->taken_ns;
	h->last_written = w->written;
	h->last_cost_ns = w->cost_ns;
	h->last_cpu_us = counts.cpu_us;
}

/* ---- the table ---- */

struct table {
	const struct heartbeat *h;
	int lines, columns, rows;
};

/* A line no wider than the terminal, so that drawing over it works. */
static void table_line(struct table *t, const char *colour, const char *line)
{
	if (t->h->redraw)
		printf("\r\033[K%s%.*s%s\n", t->h->colour ? colour : "", t->columns - 1, line,
		       t->h->colour && *colour ? "\033[0m" : "");
	else
		puts(line);
	t->lines++;
}

/* Who is awaited does no communication, so it is not in an operation that does not end. */
static size_t awaited(const struct heartbeat *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->pulses.fresh; i++)
		n += h->pulses.items[i].culprit && h->pulses.items[i].stuck;
	return n;
}

static void table_program(struct table *t, const struct evspace_wave *w)
{
	const struct heartbeat *h = t->h;
	char line[WORDS_TEXT], rate[UNIT_TEXT] = "?", total[UNIT_TEXT], awaiting[48] = "";
	int n;

	if (awaited(h))
		snprintf(awaiting, sizeof(awaiting), ", waiting for %zu other%s", awaited(h),
			 awaited(h) == 1 ? "" : "s");
	if (h->ended)
		snprintf(line, sizeof(line),
			 "run %s has ended; this is how its %zu threads were left",
			 evspace_run(h->client), h->pulses.n);
	else
		snprintf(line, sizeof(line),
			 "run %s: %zu threads in %u processes on %u of %u hosts; %zu stuck%s",
			 evspace_run(h->client), h->pulses.n, w->processes, w->answered, w->leaves,
			 h->stuck - awaited(h), awaiting);
	table_line(t, "\033[1m", line);
	if (h->written_rate >= 0)
		unit_count(rate, (uint64_t)h->written_rate);
	n = snprintf(line, sizeof(line),
		     "program: %s events/s, %s so far; collecting costs %.1f ns an event", rate,
		     unit_count(total, w->written),
		     w->written ? (double)w->cost_ns / (double)w->written : 0);
	if (h->cost_share >= 0 && n > 0)
		snprintf(line + n, sizeof(line) - (size_t)n, ", %s of its time",
			 unit_share(rate, h->cost_share));
	table_line(t, "", line);
}

static void table_looking(struct table *t, const struct evspace_wave *w)
{
	const struct heartbeat *h = t->h;
	char line[WORDS_TEXT], share[UNIT_TEXT];
	struct evspace_counts n;
	int used;

	evspace_counts(h->client, &n);
	used = snprintf(line, sizeof(line), "looking: ");
	if (n.seconds > RATE_AFTER_S)
		used += snprintf(line + used, sizeof(line) - (size_t)used,
				 "%.1f looks/s, %.0f tuples/s, ", per_second(n.waves, n.seconds),
				 per_second(n.delivered, n.seconds));
	used += snprintf(line + used, sizeof(line) - (size_t)used, "%llu lost",
			 (unsigned long long)n.lost);
	if (h->cpu_share >= 0)
		snprintf(line + used, sizeof(line) - (size_t)used,
			 "; all agents together use %s of a core", unit_share(share, h->cpu_share));
	table_line(t, "", line);
	for (size_t i = 0; i < w->n_missing; i++) {
		snprintf(line, sizeof(line), "missing: %s, %s for %.1f s%s%s", w->missing[i].leaf,
			 w->missing[i].why, w->missing[i].since_s,
			 w->missing[i].reason[0] ? ": " : "", w->missing[i].reason);
		table_line(t, "\033[33m", line);
	}
}

static const char *pulse_word(const struct heartbeat *h, const struct pulse *p)
{
	if (p->wave != h->pulses.items[0].wave)
		return "missing";
	if (p->gone)
		return "DEAD";
	if (p->culprit && p->stuck)
		return "AWAITED";
	return p->stuck ? "STUCK" : p->running ? "inside" : "";
}

static void table_thread(struct table *t, const struct pulse *p, int width)
{
	char line[3 * WORDS_TEXT + 128], doing[WORDS_TEXT], waits[WORDS_TEXT], region[WORDS_TEXT];
	char ago[UNIT_TEXT], rate[UNIT_TEXT] = "";

	if (p->rate > 0)
		unit_count(rate, (uint64_t)p->rate);
	heartbeat_waits(t->h, p, waits);
	snprintf(line, sizeof(line), "%-*s %-8s %9s %9s  %s%s%s%s%s", width, p->name,
		 pulse_word(t->h, p), unit_duration(ago, (uint64_t)p->still_ns), rate,
		 heartbeat_doing(t->h, p, doing), p->region_op ? "; in " : "",
		 heartbeat_region(t->h, p, region), waits[0] ? "; " : "", waits);
	table_line(t, p->stuck ? "\033[31m" : "", line);
}

static void table_threads(struct table *t)
{
	const struct pulses *p = &t->h->pulses;
	char line[WORDS_TEXT];
	size_t hidden = 0;
	int width = 6;

	for (size_t i = 0; i < p->n; i++) {
		int length = (int)strlen(p->items[i].name);

		width = length > width ? length : width;
	}
	snprintf(line, sizeof(line), "%-*s %-8s %9s %9s  %s", width, "thread", "", "for",
		 "events/s", "the operation that it is in, or the last one");
	table_line(t, "\033[4m", line);
	for (size_t i = 0; i < p->n; i++) {
		/* On a terminal that is too small, those that make progress give way, then all. */
		if (t->h->redraw && t->lines >= t->rows - (p->items[i].stuck ? 2 : 4))
			hidden++;
		else
			table_thread(t, &p->items[i], width);
	}
	if (hidden) {
		snprintf(line, sizeof(line), "... and %zu more threads", hidden);
		table_line(t, "", line);
	}
}

static void show_table(struct heartbeat *h)
{
	struct winsize size = {.ws_row = 0, .ws_col = 0};
	struct table t = {.h = h};

	if (h->redraw)
		ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	t.columns = size.ws_col > 20 ? size.ws_col : 80;
	t.rows = size.ws_row > 10 ? size.ws_row : 24;
	if (h->redraw && h->lines)
		printf("\033[%dA", h->lines);
	table_program(&t, evspace_wave(h->client));
	table_looking(&t, evspace_wave(h->client));
	table_threads(&t);
	if (h->redraw)
		fputs("\033[J", stdout);
	else
		putchar('\n');
	h->lines = t.lines;
}

/* ---- */

int heartbeat_show(struct heartbeat *h)
{
	uint64_t now = clock_mono_ns();

	heartbeat_rates(h);
	if (h->common.json) {
		heartbeat_json(h);
	} else if (h->redraw || !h->shown_ns || h->shown_stuck != h->stuck || h->ended ||
		   now - h->shown_ns >= BLOCK_EVERY_NS) {
		show_table(h);
		h->shown_ns = now;
		h->shown_stuck = h->stuck;
	}
	return fflush(stdout) == EOF ? -1 : 0;
}

void heartbeat_summary(struct heartbeat *h)
{
	char bytes[UNIT_TEXT], waves[UNIT_TEXT];
	struct evspace_counts n;
	uint64_t each;

	evspace_counts(h->client, &n);
	each = n.waves ? n.waves : 1;
	fprintf(stderr, "%s look%s", unit_count(waves, n.waves), n.waves == 1 ? "" : "s");
	if (n.seconds > RATE_AFTER_S)
		fprintf(stderr, " (%.1f/s)", per_second(n.waves, n.seconds));
	fprintf(stderr,
		" at %u host%s, each %s on the wire and %llu us of CPU time of all agents; %llu "
		"tuples lost",
		n.leaves, n.leaves == 1 ? "" : "s", unit_bytes(bytes, n.received_bytes / each),
		(unsigned long long)(n.cpu_us / each), (unsigned long long)n.lost);
	if (n.reconnections)
		fprintf(stderr, "; the connection was made again %u time%s", n.reconnections,
			n.reconnections == 1 ? "" : "s");
	fputc('\n', stderr);
}
