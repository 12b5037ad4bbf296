/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows heartbeats: a table that is drawn over on a terminal, blocks elsewhere, JSON for programs.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "consumers/heartbeat.h"
#include "tree/op.h"

/* How long after one block the next one is due, a little under a second for the wave that comes
 * early. */
#define BLOCK_NS 950000000

/* ---- words ---- */

/* "in MPI_Recv from rank 3", "MPI_Barrier #17" */
static void pulse_doing(const struct pulse *p, char *buf, size_t n)
{
	const char *in = p->running ? "in " : "";

	if (p->peer >= 0)
		snprintf(buf, n, "%s%s with rank %d", in, p->op, p->peer);
	else if (p->peer == -2)
		snprintf(buf, n, "%s%s from any rank", in, p->op);
	else if (op_channel(p->op_number) == CHANNEL_COLLECTIVE)
		snprintf(buf, n, "%s%s #%u", in, p->op, p->seq);
	else
		snprintf(buf, n, "%s%s", in, p->op);
}

/* "waits for rank 3 and 2 more, which computes (last: …)" */
static void pulse_waits(const struct heartbeat *h, const struct pulse *p, char *buf, size_t n)
{
	const struct pulse *first;
	char doing[128], more[32] = "", ago[UNIT_TEXT];

	if (p->culprit) {
		snprintf(buf, n, "waited for: outside any operation");
		return;
	}
	if (!p->stuck) {
		buf[0] = '\0';
		return;
	}
	if (p->awaits == 0) {
		snprintf(buf, n, "cannot tell for whom it waits");
		return;
	}
	first = &h->pulses[p->first];
	pulse_doing(first, doing, sizeof(doing));
	if (p->awaits > 1)
		snprintf(more, sizeof(more), " and %zu more", p->awaits - 1);
	snprintf(buf, n, "waits for rank %d%s (%s%s, %s)%s", first->rank, more,
		 first->running ? "" : "after ", doing,
		 unit_duration(ago, (uint64_t)first->still_ns),
		 p->cycle ? "; a circle: deadlock" : "");
}

static const char *pulse_word(const struct pulse *p)
{
	return p->culprit ? "LATE" : p->stuck ? "STUCK" : p->running ? "inside" : "";
}

/* ---- rates ---- */

static void heartbeat_rates(struct heartbeat *h)
{
	const struct evspace_wave *w = evspace_wave(h->client);
	double s = (double)(w->taken_ns - h->last_ns) * 1e-9;
	struct evspace_counts counts;

	evspace_counts(h->client, &counts);
	if (h->last_ns && s > 0 && w->written >= h->last_written) {
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
	FILE *out;
	const struct heartbeat *h;
	int lines, columns;
};

/* A line no wider than the terminal, so that drawing over it works; STUCK in colour. */
static void table_line(struct table *t, const char *colour, const char *line)
{
	if (t->h->redraw)
		fprintf(t->out, "\r\033[K%s%.*s%s\n", t->h->colour ? colour : "", t->columns - 1,
			line, t->h->colour && *colour ? "\033[0m" : "");
	else
		fprintf(t->out, "%s\n", line);
	t->lines++;
}

static void table_head(struct table *t)
{
	const struct heartbeat *h = t->h;
	const struct evspace_wave *w = evspace_wave(h->client);
	struct evspace_counts n;
	char line[512], written[UNIT_TEXT], held[UNIT_TEXT];
	double per_event;

	if (w->elements == 0) {
		table_line(t, "", "no element of a run yet; waiting for a program to start");
		return;
	}
	evspace_counts(h->client, &n);
	per_event = w->written ? (double)w->cost_ns / (double)w->written : 0;
	snprintf(line, sizeof(line),
		 "run %s: %zu threads in %u live processes on %u of %u hosts; %zu stuck",
		 evspace_run(h->client), h->n, w->processes, w->answered, w->leaves, h->stuck);
	table_line(t, "\033[1m", line);
	snprintf(line, sizeof(line),
		 "program: %s events/s, %s so far; collecting costs %.1f ns an event, %.4f %% of "
		 "its time",
		 unit_count(written, (uint64_t)h->written_rate), unit_count(held, w->written),
		 per_event, 100 * h->cost_share);
	table_line(t, "", line);
	snprintf(line, sizeof(line),
		 "looking: %.1f waves/s, %.0f tuples/s read, %llu lost; agents use %.2f %% of a "
		 "core",
		 n.seconds > 0.5 ? (double)n.waves / n.seconds : 0,
		 n.seconds > 0.5 ? (double)n.read / n.seconds : 0, (unsigned long long)n.lost,
		 100 * h->cpu_share);
	table_line(t, "", line);
	for (size_t i = 0; i < w->n_missing; i++) {
		snprintf(line, sizeof(line), "missing: %s, %s for %.1f s", w->missing[i].leaf,
			 w->missing[i].why, w->missing[i].since_s);
		table_line(t, "\033[33m", line);
	}
}

static void table_threads(struct table *t, int room)
{
	const struct heartbeat *h = t->h;
	char line[1024], doing[128], waits[512], ago[UNIT_TEXT];
	size_t hidden = 0;

	snprintf(line, sizeof(line), "%-22s %-8s %10s  %s", "thread", "", "for",
		 "last operation, or the one it is in");
	table_line(t, "\033[4m", line);
	for (size_t i = 0; i < h->n; i++) {
		const struct pulse *p = &h->pulses[i];

		/* On a terminal that is too small, those that make progress give way. */
		if (h->redraw && t->lines >= room && !p->stuck) {
			hidden++;
			continue;
		}
		pulse_doing(p, doing, sizeof(doing));
		pulse_waits(h, p, waits, sizeof(waits));
		snprintf(line, sizeof(line), "%-22s %-8s %10s  %s%s%s", p->name, pulse_word(p),
			 unit_duration(ago, (uint64_t)p->still_ns), doing, waits[0] ? "; " : "",
			 waits);
		table_line(t, p->stuck ? "\033[31m" : "", line);
	}
	if (hidden) {
		snprintf(line, sizeof(line), "… and %zu more threads that make progress", hidden);
		table_line(t, "", line);
	}
}

static void show_table(struct heartbeat *h)
{
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	struct table t = {.out = stdout, .h = h};

	if (h->redraw)
		ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	t.columns = size.ws_col > 20 ? size.ws_col : 80;
	if (h->redraw && h->lines)
		printf("\033[%dA", h->lines);
	table_head(&t);
	table_threads(&t, (size.ws_row > 10 ? size.ws_row : 24) - 2);
	if (h->redraw)
		fputs("\033[J", stdout);
	else
		putchar('\n');
	h->lines = t.lines;
}

/* ---- JSON ---- */

static json_t *pulse_json(const struct heartbeat *h, const struct pulse *p)
{
	json_t *o = json_pack("{s:i,s:s,s:i,s:s,s:b,s:I,s:I,s:I,s:i,s:I,s:I,s:I,s:b,s:b,s:b}",
			      "schema", 1, "thread", p->name, "rank", p->rank, "op", p->op,
			      "running", p->running, "start_ns", (json_int_t)p->start_ns, "end_ns",
			      (json_int_t)p->end_ns, "still_ns", (json_int_t)p->still_ns, "peer",
			      p->peer, "seq_or_tag", (json_int_t)p->seq, "comm",
			      (json_int_t)p->comm, "bytes", (json_int_t)p->bytes, "stuck", p->stuck,
			      "culprit", p->culprit, "deadlock", p->cycle);
	json_t *ranks = json_array();
	int32_t last = -1;

	if (!o || !ranks)
		abort();
	for (size_t i = 0; p->awaits && i < h->n; i++) {
		if (h->pulses[i].rank == last ||
		    !stall_awaits(p, &h->pulses[i], heartbeat_members, (void *)(uintptr_t)h))
			continue;
		last = h->pulses[i].rank;
		json_array_append_new(ranks, json_integer(last));
	}
	json_object_set_new(o, "waits_for", ranks);
	json_object_set_new(o, "wave", json_integer((json_int_t)evspace_wave(h->client)->number));
	return o;
}

static void show_json(const struct heartbeat *h)
{
	for (size_t i = 0; i < h->n; i++) {
		json_t *o = pulse_json(h, &h->pulses[i]);

		json_dumpf(o, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(o);
	}
}

/* ---- */

int heartbeat_show(struct heartbeat *h)
{
	const struct evspace_wave *w = evspace_wave(h->client);

	/* Into a file or pipe, one block a second is what a person can read later. */
	if (!h->common.json && !h->redraw && h->last_ns && w->taken_ns - h->last_ns < BLOCK_NS)
		return 0;
	heartbeat_rates(h);
	if (h->common.json)
		show_json(h);
	else
		show_table(h);
	return fflush(stdout) == EOF ? -1 : 0;
}

void heartbeat_verdict(const struct heartbeat *h)
{
	char doing[128], waits[512], ago[UNIT_TEXT];

	if (h->common.json) {
		show_json(h);
		return;
	}
	if (!h->stuck)
		printf("all %zu threads make progress\n", h->n);
	for (size_t i = 0; i < h->n; i++) {
		const struct pulse *p = &h->pulses[i];

		if (!p->stuck)
			continue;
		pulse_doing(p, doing, sizeof(doing));
		pulse_waits(h, p, waits, sizeof(waits));
		printf("%s %s: %s%s for %s; %s\n", p->name, p->culprit ? "is late" : "is stuck",
		       p->culprit ? "after " : "", doing, unit_duration(ago, (uint64_t)p->still_ns),
		       waits);
	}
}

void heartbeat_summary(struct heartbeat *h)
{
	struct evspace_counts n;
	double waves;

	evspace_counts(h->client, &n);
	waves = n.waves ? (double)n.waves : 1;
	fprintf(stderr,
		"%llu waves (%.1f/s) over %u hosts, %.0f bytes and %.0f us of the agents' CPU time "
		"each; "
		"%llu tuples lost\n",
		(unsigned long long)n.waves, n.seconds > 0.5 ? (double)n.waves / n.seconds : 0,
		n.leaves, (double)n.received_bytes / waves, (double)n.cpu_us / waves,
		(unsigned long long)n.lost);
}
