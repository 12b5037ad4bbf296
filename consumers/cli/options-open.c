/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens views for commands, and says what they should know of one that is open. */
#include "consumers/cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/client/client.h"
#include "consumers/client/connection.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/grammar/mapfile.h"
#include "pathmap/model/definition.h"
#include "tree/stage/stage.h"
#include "tree/wire/wire.h"

/* A host may be late at any wave, and then not, and an agent be started anew: what is no longer so
 * is not said. */
#define LATE_S	    10
#define UNREACHED_S 2

bool options_definition(const char *command, const char *text, const struct pathmap *map)
{
	const struct definition definition = {text, strlen(text)};
	char *faults = NULL, *line;
	size_t size = 0;
	FILE *out = open_memstream(&faults, &size);
	struct view *view;

	if (!out)
		abort();
	view = definition_read(&definition, map, stage_check, out, NULL);
	if (fclose(out) == EOF)
		abort();
	for (char *rest = faults; (line = strsep(&rest, "\n")) && rest;)
		fprintf(stderr, "%s%s%s\n", strncmp(line, "--", 2) == 0 ? command : "",
			strncmp(line, "--", 2) == 0 ? ": " : "", line);
	free(faults);
	view_free(view);
	return view != NULL;
}

/* Show the place in a definition that the entry finds wrong: "--define:1:6: ...", as here. */
static void definition_mark(const char *text, const char *why)
{
	size_t line, column;

	if (text && sscanf(why, "--define:%zu:%zu: ", &line, &column) == 2 && line && column &&
	    strlen(text) <= DEFINITION_BYTES)
		excerpt_print(text, strlen(text), line, column, stderr);
}

/* It may be less than what was asked for. */
static void note_window(const char *command, const struct common *common,
			const struct evspace_client *client)
{
	if (client->window < common->look.window)
		fprintf(stderr, "%s: %u wave%s under way at most, %s, instead of %u\n", command,
			client->window, plural(client->window, "s"),
			client->window == client->window_map ? "as the map says of such a view"
							     : "as it is a stream",
			common->look.window);
}

struct evspace_client *options_open(const char *command, const struct common *common, int *code)
{
	enum evspace_failure failure;
	char why[sizeof(((struct error *)0)->text)];
	struct evspace_client *client = evspace_open(&common->look, &failure, why, sizeof(why));

	if (client) {
		note_window(command, common, client);
		return client;
	}
	fprintf(stderr, "%s: %s\n", command, why);
	definition_mark(common->look.define, why);
	*code = options_failure(failure);
	return NULL;
}

int options_ended(const char *command, const struct evspace_client *client)
{
	/* a refusal comes over a connection that is there */
	bool lost = evspace_failed(client) == EVSPACE_NO_CONNECTION && client->connection->failed;

	fprintf(stderr, "%s: %s%s\n", command, lost ? "the connection is lost: " : "",
		evspace_why(client));
	return options_failure(evspace_failed(client));
}

void options_close(struct common *common, struct evspace_client *client)
{
	evspace_close(client);
	free(common->missing_said);
	common->missing_said = NULL;
}

/* NULL: that may be over soon. */
static const char *why_missing(const struct evspace_missing *m)
{
	if (strcmp(m->why, wire_missing(MISSING_LATE)) == 0)
		return m->since_s < LATE_S ? NULL : "it does not answer";
	if (m->reason[0])
		return m->reason;
	return m->since_s < UNREACHED_S ? NULL : "it cannot be reached";
}

void options_note_missing(const char *command, struct common *common,
			  const struct evspace_client *client)
{
	const struct evspace_wave *w = evspace_wave(client);
	char *text = memory_copy("");

	for (size_t i = 0; i < w->n_missing; i++) {
		const char *why = why_missing(&w->missing[i]);
		char *before = text;

		if (!why)
			continue;
		text = memory_format("%sevspace %s: %s is missing: %s\n", before, command,
				     w->missing[i].leaf, why);
		free(before);
	}
	if (!common->missing_said || strcmp(text, common->missing_said) != 0)
		fputs(text, stderr);
	free(common->missing_said);
	common->missing_said = text;
}

void options_note_remapped(const char *command, const struct common *common,
			   const struct evspace_client *client)
{
	const struct evspace_wave *w = evspace_wave(client);
	char name[64];

	if (!w->remapped)
		return;
	snprintf(name, sizeof(name), "evspace %s", command);
	fprintf(stderr, "%s: from wave %llu on by map generation %llu\n", name,
		(unsigned long long)w->number, (unsigned long long)w->remapped);
	note_window(name, common, client);
	if (common->json)
		json_print(json_pack("{s:s,s:o,s:o}", "type", "remapped", "generation",
				     json_count(w->remapped), "wave", json_count(w->number)),
			   stdout);
}
