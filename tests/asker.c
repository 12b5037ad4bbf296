/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of others that controls: asks and orders all that it is told at once on one connection,
 * beside a view, and says what came of each:
 *
 *	asker ADDRESS IDENTITY RUN MAPS WORD...
 *
 * WORD: status, look, switch (p2p, to off), back (to trace), odd (to a mode that there is not),
 * stray (by a pattern that is none), late (by a deadline that is none), discard, map, apply (of
 * the folder MAPS), try (only prepare that), undo. "RUN:WORD" names a run for it alone. Exit code
 * 1: something was refused.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client/evspace-control.h"

static const char *const failures[] = {
	[EVSPACE_FINE] = "fine",
	[EVSPACE_NO_CONNECTION] = "no connection",
	[EVSPACE_NO_RUN] = "no run",
	[EVSPACE_WRONG] = "wrong",
};

static struct evspace_connection *connection;
static struct evspace_among among;
static struct evspace_texts texts;
static const char *run; /* "": the only live one */
static unsigned left;
static int refused;

/* ---- answers ---- */

static void answered(const struct evspace_reply *reply, void *word)
{
	unsigned processes = 0, changed = 0;

	left--;
	refused |= reply->failure != EVSPACE_FINE;
	printf("%s: %s", (const char *)word, failures[reply->failure]);
	for (size_t i = 0; reply->switched && i < reply->switched->n_hosts; i++) {
		processes += reply->switched->hosts[i].processes;
		changed += reply->switched->hosts[i].changed;
	}
	if (reply->switched)
		printf(", %u processes, %u changed", processes, changed);
	else if (reply->status)
		printf(", node %s, %zu processes", reply->status->node, reply->status->n_processes);
	else if (reply->map)
		printf(", generation %llu%s", (unsigned long long)reply->map->generation,
		       reply->map->hidden ? ", hidden" : "");
	else if (reply->applied)
		printf(", generation %llu", (unsigned long long)reply->applied->generation);
	else
		printf(": %s", reply->why);
	putchar('\n');
}

static void view_told(struct evspace_client *client, enum evspace_news news, void *waves)
{
	while (news == EVSPACE_WAVE && evspace_next(client, 0) == 1)
		++*(unsigned *)waves;
	if (news != EVSPACE_ENDED)
		return;
	printf("view: %s: %s\n", failures[evspace_failed(client)], evspace_why(client));
	*(unsigned *)waves = 2;
}

/* ---- questions ---- */

static void ask_switch(void *word, enum evspace_mode mode)
{
	static const char *const classes[] = {"p2p"};

	evspace_switch(connection, &among, classes, 1, mode, answered, word);
}

static int ask(const char *word)
{
	struct evspace_apply apply = {.texts = &texts, .dry_run = strcmp(word, "try") == 0};
	void *arg = (void *)(uintptr_t)word;
	static const char *const stray = "/**/p2q";
	char of[64] = "";

	left++;
	among.n_select = strcmp(word, "stray") == 0;
	among.select = &stray;
	among.deadline_ms = strcmp(word, "late") == 0 ? 999999 : 20000;
	among.run = run;
	if (sscanf(word, "%63[^:]:", of) == 1 && word[strlen(of)] == ':') {
		among.run = of;
		word += strlen(of) + 1;
	}
	if (strcmp(word, "status") == 0)
		evspace_status(connection, answered, arg);
	else if (strcmp(word, "look") == 0)
		ask_switch(arg, EVSPACE_AS_IT_IS);
	else if (strcmp(word, "switch") == 0 || among.n_select || among.deadline_ms > 20000)
		ask_switch(arg, EVSPACE_OFF);
	else if (strcmp(word, "back") == 0)
		ask_switch(arg, EVSPACE_TRACE);
	else if (strcmp(word, "odd") == 0)
		ask_switch(arg, (enum evspace_mode)7);
	else if (strcmp(word, "discard") == 0)
		evspace_discard(connection, &among, answered, arg);
	else if (strcmp(word, "map") == 0)
		evspace_map(connection, answered, arg);
	else if (strcmp(word, "apply") == 0 || apply.dry_run)
		evspace_apply(connection, &apply, answered, arg);
	else if (strcmp(word, "undo") == 0)
		evspace_apply(connection, &(struct evspace_apply){.texts = NULL}, answered, arg);
	else
		return -1;
	return 0;
}

/* The file of a map, as text. It stays. */
static const char *text_of(const char *folder, const char *name)
{
	char path[4096];
	char *text = calloc(1, 1 << 16);
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.map", folder, name);
	file = fopen(path, "re");
	if (!text || !file || fread(text, 1, (1 << 16) - 1, file) == 0)
		exit(2);
	fclose(file);
	return text;
}

int main(int argc, char **argv)
{
	struct evspace_options look = {.view = "heartbeat"};
	struct evspace_client *client;
	unsigned waves = 0;

	if (argc < 6)
		return 2;
	look.connect = argv[1];
	look.identity = argv[2];
	look.run = run = argv[3];
	texts.application = text_of(argv[4], "application");
	texts.cluster = text_of(argv[4], "cluster");
	texts.mapping = text_of(argv[4], "mapping");
	connection = evspace_connect(&look);
	client = evspace_open_on(connection, &look, view_told, &waves);
	for (int i = 5; i < argc; i++) {
		if (ask(argv[i]) < 0)
			return 2;
	}
	/* the view goes on beside, and after, whatever was refused */
	while ((left > 0 || waves < 2) && evspace_wait(connection, 60000) == 1)
		;
	if (evspace_failed(client) == EVSPACE_FINE)
		printf("view: %s\n", waves > 1 ? "fine" : "silent");
	evspace_disconnect(connection);
	return refused;
}
