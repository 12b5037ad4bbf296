/* SPDX-License-Identifier: BSD-3-Clause */
/* Says what there is where patterns select nothing. */
#include "consumers/watch/unmatched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client/client-ask.h"
#include "pathmap/model/hostlist.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/table.h"
#include "pathmap/base/utf8.h"
#include "tree/data/op.h"

/* Hosts that a message names. */
#define NAMED_MOST 4

static Evspace__Frame *processes_ask(const struct evspace_options *look)
{
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	Evspace__StatusAsk ask = EVSPACE__STATUS_ASK__INIT;
	struct evspace_options once = *look;
	char why[sizeof(((struct error *)0)->text)];
	enum evspace_failure failure;

	once.patience_ms = 1;
	ask.all = true;
	ask.process_tables = true;
	ask.run = (char *)(uintptr_t)(look->run ? look->run : "");
	frame.kind_case = EVSPACE__FRAME__KIND_STATUS_ASK;
	frame.status_ask = &ask;
	return client_ask(&once, &frame, EVSPACE__FRAME__KIND_STATUS, &failure, why, sizeof(why));
}

/* rank2 before rank10. */
static int name_order(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* "/A/a0/rank[0-1]". The caller's to free(). */
static char *host_text(const Evspace__Status *s)
{
	const char **names = memory_new(s->n_processes, sizeof(*names));
	char *list, *text;

	for (size_t i = 0; i < s->n_processes; i++)
		names[i] = s->processes[i]->name;
	qsort(names, s->n_processes, sizeof(*names), name_order);
	list = hostlist_text(names, s->n_processes);
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
		char *text;

		if (s->n_processes == 0 || n++ >= NAMED_MOST)
			continue;
		text = host_text(s);
		fprintf(line, "%s%s", n > 1 ? ", " : "; there is ", text);
		free(text);
	}
	if (n > NAMED_MOST)
		fprintf(line, ", and %zu more", n - NAMED_MOST);
	return n;
}

struct unmatched {
	const char *command;
	const Evspace__Frame *reply; /* NULL: there is none */
};

static void unmatched_write(FILE *line, const void *arg)
{
	const struct unmatched *u = arg;

	fprintf(line, "%s: nothing is there so far that --select says", u->command);
	if (!u->reply || hosts_write(line, u->reply->status) == 0)
		return;
	fputs(", with threads such as /t0, which have", line);
	for (int i = 0; i < CHANNEL_PROGRAMS; i++)
		fprintf(line, "%s %s", i ? "," : "", channel_name(i));
}

void unmatched_tell(const char *command, const struct evspace_options *look)
{
	Evspace__Frame *reply = processes_ask(look);
	const struct unmatched u = {command, reply};

	table_say_of(stderr, unmatched_write, &u);
	if (reply)
		evspace__frame__free_unpacked(reply, NULL);
}
