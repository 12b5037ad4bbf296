/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads `steer OPERATIONS { ... }` of mapping.map. */
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/model/hostlist.h"
#include "pathmap/model/mapping-read.h"

static const char *const kinds[STEER_KINDS] = STEER_NAMES;

static unsigned kind_find(const char *name)
{
	unsigned kind = 0;

	while (kind < STEER_KINDS && strcmp(kinds[kind], name) != 0)
		kind++;
	return kind;
}

void steer_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct mapping *mapping = ((struct mapping_reading *)reader->map)->mapping;
	struct steering s = {.offset = statement->words[0].offset,
			     .most_bytes = STEER_BYTES,
			     .collected = STEER_COLLECTED};

	(void)target;
	if (mapping->n_steerings == STEER_RULES_MAX)
		reader_complain(reader, &statement->words[0], "more than %u `steer`",
				STEER_RULES_MAX);
	for (size_t i = 1; i < statement->n_words; i++) {
		unsigned kind = kind_find(statement->words[i].text);

		if (strcmp(statement->words[i].text, "all") == 0)
			s.kinds |= (1u << STEER_KINDS) - 1;
		else if (kind < STEER_KINDS)
			s.kinds |= 1u << kind;
		else
			reader_complain_unknown(reader, &statement->words[i], "operation to steer",
						kinds, STEER_KINDS);
	}
	directives_apply(reader, IN_STEER, statement->body, statement->n_body, &s);
	mapping->steerings =
		memory_room(mapping->steerings, mapping->n_steerings, sizeof(*mapping->steerings));
	mapping->steerings[mapping->n_steerings++] = s;
}

void steer_along_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct mapping_reading *reading = reader->map;
	const struct application *application = reading->application;
	struct steering *s = target;
	const char **names;

	if (application_view(application, statement->words[1].text) == NULL &&
	    !application->incomplete) {
		names = application_view_names(application);
		reader_complain_unknown(reader, &statement->words[1], "view", names,
					application->n_views);
		free(names);
		return;
	}
	s->view = memory_copy(statement->words[1].text);
}

void steer_communicator_apply(struct reader *reader, void *target,
			      const struct statement *statement)
{
	static const char *const which[] = {"world", "any"};
	struct steering *s = target;

	s->world = strcmp(statement->words[1].text, which[0]) == 0;
	if (!s->world && strcmp(statement->words[1].text, which[1]) != 0)
		reader_complain_unknown(reader, &statement->words[1], "communicator", which, 2);
}

void steer_bytes_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct word *words = statement->words;
	struct steering *s = target;
	struct error e;

	if (statement->n_words == 2 && strcmp(words[1].text, "any") == 0)
		s->most_bytes = 0;
	else if (statement->n_words != 4 || strcmp(words[1].text, "at") != 0 ||
		 strcmp(words[2].text, "most") != 0)
		reader_complain(reader, &words[1],
				"sizes that are none; write `bytes at most 4KiB;` or `bytes any;`");
	else if (quantity_bytes(words[3].text, &s->most_bytes, &e) < 0)
		reader_complain(reader, &words[3], "%s", e.text);
	else if (s->most_bytes == 0 || s->most_bytes > UINT32_MAX)
		reader_complain(reader, &words[3], "a size from 1 byte to 4 GiB");
}

void steer_order_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct steering *s = target;

	if (strcmp(statement->words[1].text, "order") == 0)
		s->in_order = true;
	else
		reader_complain(reader, &statement->words[1], "`in %.60s` instead of `in order`",
				statement->words[1].text);
}

void steer_collect_apply(struct reader *reader, void *target, const struct statement *statement)
{
	static const char *const stages[STEER_STAGES + 1] = {
		[STEER_ARRIVAL] = "arrival", "reduce", "send", "nothing"};
	struct steering *s = target;

	s->collected = 0;
	for (size_t i = 1; i < statement->n_words; i++) {
		const struct word *word = &statement->words[i];
		unsigned stage = 0;

		while (stage <= STEER_STAGES && strcmp(stages[stage], word->text) != 0)
			stage++;
		if (stage > STEER_STAGES)
			reader_complain_unknown(reader, word, "stage", stages, STEER_STAGES + 1);
		else if (stage == STEER_STAGES && statement->n_words > 2)
			reader_complain(reader, word, "`nothing` beside others");
		else if (stage < STEER_STAGES)
			s->collected |= 1u << stage;
	}
}

void steer_lead_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct mapping_reading *reading = reader->map;
	struct rank_list ranks = {0};
	struct steering *s = target;
	struct error e;
	size_t at;

	for (size_t i = 1; i < statement->n_words; i++) {
		if (rank_list_add(&ranks, statement->words[i].text, &at, &e) < 0) {
			reader_complain_at(reader, &statement->words[i], at, "%s", e.text);
			break;
		}
	}
	for (size_t i = 0; i < ranks.n; i++) {
		if (reading->application->ranks == 0 ||
		    ranks.ranks[i] < reading->application->ranks)
			continue;
		reader_complain(reader, &statement->words[1],
				"rank%u is not in the application map, which has rank0 to rank%u",
				ranks.ranks[i], reading->application->ranks - 1);
		break;
	}
	s->leads = ranks.ranks;
	s->n_leads = ranks.n;
}
