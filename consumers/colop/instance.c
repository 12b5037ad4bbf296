/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps one meeting, and shows who came and left when. */
#include "consumers/colop/instance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/analysis/wait.h"
#include "consumers/cli/json.h"
#include "consumers/cli/words.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/op.h"
#include "tree/data/process.h"

/* Characters of the bar. */
#define BAR 32

int instance_parse(struct instance *instance, const char *text, struct error *e)
{
	const char *mark = strrchr(text, '#');
	size_t length = mark ? (size_t)(mark - text) : 0;
	unsigned number;

	if (length == 0 || length >= sizeof(instance->comm) ||
	    quantity_count(mark + 1, 0, UINT32_MAX, &number, e) < 0) {
		errno = EINVAL;
		return errorf(e,
			      "\"%s\" is no operation; say the communicator and the number as "
			      "they are shown, such as world#1200",
			      text);
	}
	if ((length != strlen("world") || memcmp(text, "world", length) != 0) &&
	    strspn(text, "0123456789abcdef") != length) {
		errno = EINVAL;
		return errorf(e,
			      "\"%.*s\" is no communicator; that is \"world\", or a number as it "
			      "is shown, such as 5db6e2d0",
			      (int)length, text);
	}
	memcpy(instance->comm, text, length);
	instance->comm[length] = '\0';
	instance->meeting.key.number = number;
	return 0;
}

void instance_take(struct instance *i, const struct evspace_client *client,
		   const struct meeting *meeting)
{
	char name[INSTANCE_COMM + 2], number[9];
	struct arrival *copy;

	if (i->found || !i->comm[0])
		return;
	words_class(name, sizeof(name), client, "", meeting->key.comm);
	snprintf(number, sizeof(number), "%08x", meeting->key.comm);
	if (strcmp(name + 1, i->comm) != 0 && strcmp(number, i->comm) != 0)
		return;
	i->passed |= meeting->gap == MEETING_WHOLE && meeting->key.number > i->meeting.key.number;
	if (meeting->key.number != i->meeting.key.number)
		return;
	copy = memory_new(meeting->n, sizeof(*copy));
	memcpy(copy, meeting->arrivals, meeting->n * sizeof(*copy));
	i->meeting = *meeting;
	i->meeting.arrivals = copy;
	i->found = true;
}

void instance_fini(struct instance *i)
{
	free(i->meeting.arrivals);
	*i = (struct instance){0};
}

/* ---- text ---- */

static int64_t last_end(const struct meeting *m)
{
	int64_t last = m->arrivals[0].end_ns;

	for (size_t i = 1; i < m->n; i++)
		last = m->arrivals[i].end_ns > last ? m->arrivals[i].end_ns : last;
	return last;
}

/* "     =====  ": where in the operation's time it was inside. */
static void bar_write(char bar[BAR + 1], const struct meeting *m, const struct arrival *a)
{
	double from = (double)m->arrivals[0].start_ns;
	double all = (double)last_end(m) - from, scale = all > 0 ? BAR / all : 0;
	int begin = (int)(((double)a->start_ns - from) * scale);
	int end = (int)(((double)a->end_ns - from) * scale + 0.5);

	begin = begin < BAR ? begin : BAR - 1;
	end = end > BAR ? BAR : end > begin ? end : begin + 1;
	memset(bar, ' ', BAR);
	memset(bar + begin, '=', (size_t)(end - begin));
	bar[BAR] = '\0';
}

static void show_arrival(const struct meeting *m, const struct wait *wait, size_t i,
			 const struct attendance *attendance, struct table *t)
{
	const struct arrival *a = &m->arrivals[i];
	int32_t rank = attendance_rank(attendance, a->process);
	int64_t from = m->arrivals[0].start_ns;
	char who[PROCESS_NAME], text[UNIT_TEXT], bar[BAR + 1];

	bar_write(bar, m, a);
	table_cell(t, "%s",
		   rank >= 0 ? process_words(who, rank)
			     : attendance_process(attendance, a->process));
	table_cell(t, "+%s", unit_duration(text, (uint64_t)(a->start_ns - from)));
	table_cell(t, "+%s", unit_duration(text, (uint64_t)(a->end_ns - from)));
	table_cell(t, "%s", wait->untold ? "?" : unit_duration(text, (uint64_t)(wait->ns + 0.5)));
	table_cell(t, "|%s|", bar);
	table_cell(t, "%s", a->site ? attendance_site(attendance, a->site) : "-");
}

static void show_head(const struct meeting *m, const struct meeting_waits *all,
		      const struct evspace_client *client)
{
	char name[96], clock[32], spread[UNIT_TEXT], error[UNIT_TEXT];

	words_class(name, sizeof(name), client, op_name(m->op), m->key.comm);
	words_clock(clock, sizeof(clock), m->arrivals[0].start_ns, 6);
	table_say(stdout, "%s #%u at %s: %zu of %u ranks%s, which came %s (± %s) apart", name,
		  m->key.number, clock, m->n, m->key.size > m->n ? m->key.size : (unsigned)m->n,
		  m->mixed ? ", that CALL DIFFERENT ONES" : "",
		  unit_duration(spread, (uint64_t)(all->spread_ns + 0.5)),
		  unit_duration(error, (uint64_t)(all->error_ns + 0.5)));
}

void instance_show(const struct instance *instance, const struct evspace_client *client,
		   const struct attendance *attendance)
{
	static const char *const heads[] = {"RANK", "CAME", "LEFT", "WAITED", "HERE", "CALLED AT"};
	const struct meeting *m = &instance->meeting;
	struct wait *waits = memory_new(m->n, sizeof(*waits));
	struct meeting_waits all = wait_find(m, waits);
	struct table t;

	show_head(m, &all, client);
	table_heads(&t, NULL, heads, sizeof(heads) / sizeof(heads[0]));
	for (size_t i = 0; i < m->n; i++)
		show_arrival(m, &waits[i], i, attendance, &t);
	table_print(&t, stdout);
	table_fini(&t);
	free(waits);
}

/* ---- JSON ---- */

static void json_arrival(const struct meeting *m, const struct wait *wait, size_t i,
			 const struct attendance *attendance)
{
	const struct arrival *a = &m->arrivals[i];

	json_print(json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "arrival", "rank",
			     json_process(attendance_rank(attendance, a->process)), "process",
			     json_text(attendance_process(attendance, a->process)), "start_ns",
			     json_time(a->start_ns), "end_ns", json_time(a->end_ns), "error_ns",
			     json_figure(a->error_ns), "waited_ns",
			     wait->untold ? json_null() : json_figure(wait->ns), "caused_ns",
			     json_figure(wait->caused_ns), "bytes", json_count(a->bytes), "site",
			     json_text(attendance_site(attendance, a->site))),
		   stdout);
}

void instance_json(const struct instance *instance, const struct attendance *attendance)
{
	static const char *const gaps[MEETING_GAPS] = {
		[MEETING_WHOLE] = "whole",     [MEETING_BEFORE] = "before",
		[MEETING_LOST] = "lost",       [MEETING_ABSENT] = "absent",
		[MEETING_CROWDED] = "crowded", [MEETING_UNSIZED] = "unsized",
	};
	const struct meeting *m = &instance->meeting;
	struct wait *waits = memory_new(m->n, sizeof(*waits));
	struct meeting_waits all = wait_find(m, waits);

	json_print(json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:b,s:s,s:s,s:o,s:o,s:o}", "type",
			     "instance", "op", json_text(op_name(m->op)), "comm",
			     json_comm(m->key.comm), "number", json_count(m->key.number), "arrived",
			     json_count(m->n), "members", json_count(m->key.size), "mixed",
			     m->mixed, "gap", gaps[m->gap], "pattern", wait_name(all.kind),
			     "spread_ns", json_figure(all.spread_ns), "error_ns",
			     json_figure(all.error_ns), "inside_ns", json_figure(all.inside_ns)),
		   stdout);
	for (size_t i = 0; i < m->n; i++)
		json_arrival(m, &waits[i], i, attendance);
	free(waits);
}
