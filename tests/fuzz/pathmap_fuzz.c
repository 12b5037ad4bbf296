/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: the three maps from one buffer, cut at lines "%%", and behind them a view that a
 * consumer defines; what is accepted makes good plans. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/model/pattern.h"
#include "tests/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *nowhere;

/* Any stage with arguments of an even length is one. */
static int stage_of_a_kind(const char *kind, const char *args, const struct stage_traits *below,
			   struct stage_traits *traits, struct error *e)
{
	if (args == NULL)
		return strlen(kind) % 2 == 0 ? 0 : errorf(e, "no `%s`", kind);
	if (traits)
		traits->counts = strcmp(kind, "counts") == 0;
	if (below && below->counts != (strcmp(kind, "counts") == 0))
		return errorf(e, "`%s` does nothing here", kind);
	if (strlen(args) % 2 == 0)
		return 0;
	return errorf(e, "`%s` does not take `%s`", kind, args);
}

static void views_try(const struct pathmap *map)
{
	const char *const *views;
	size_t n = pathmap_views(map, &views);

	for (size_t i = 0; i < n; i++) {
		struct plan *plan;
		struct error e;

		if (plan_make(map, views[i], &plan, &e) < 0 || plan_verify(plan, map, &e) < 0) {
			fprintf(stderr, "view %s: %s\n", views[i], e.text);
			abort();
		}
		plan_print(plan, map, nowhere);
		plan_dot(plan, map, nowhere);
		plan_free(plan);
	}
}

static void definition_try(const struct pathmap *map, const struct map_text *text)
{
	const struct definable *definable = pathmap_definable(map);
	struct plan_wish wish = {.view = "", .definition = {text->text, text->length}};
	struct plan *plan;
	struct error e;

	if (plan_make_wish(map, &wish, &plan, &e) < 0)
		return;
	if (plan->of->n_stages > definable->stages || definable->by == DEFINER_NONE ||
	    plan_verify(plan, map, &e) < 0) {
		fprintf(stderr, "a definition beyond what the map allows, or without a plan\n");
		abort();
	}
	plan_print(plan, map, nowhere);
	plan_free(plan);
}

/* Patterns besides: what does not match everything below a name cannot match the name. */
static void pattern_try(const char *text)
{
	char pattern[NAME_BYTES];

	snprintf(pattern, sizeof(pattern), "%s", text);
	if (pattern_match(pattern, "/4W/w0/rank3/t0/p2p") &&
	    (!pattern_reaches(pattern, "/4W/w0") ||
	     !pattern_match(pattern, "/4W/w0/rank3/t0/p2p:main.c:12")))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char cut[] = "%%\n";
	struct map_text texts[4] = {{"", 0}, {"", 0}, {"", 0}, {"", 0}};
	const char *text = (const char *)data;
	struct pathmap *map;

	if (nowhere == NULL)
		nowhere = fopen("/dev/null", "w");
	for (size_t i = 0; i < 4 && size > 0; i++) {
		const char *end = i < 3 ? memmem(text, size, cut, strlen(cut)) : NULL;
		size_t length = end != NULL ? (size_t)(end - text) : size;
		size_t used = end != NULL ? length + strlen(cut) : size;

		texts[i] = (struct map_text){text, length};
		text += used;
		size -= used;
	}
	map = maps_make(texts, stage_of_a_kind, nowhere);
	if (map != NULL) {
		pathmap_print_recordings(map, nowhere);
		views_try(map);
		definition_try(map, &texts[3]);
	}
	pathmap_free(map);
	if (texts[2].length > 0) {
		char *copy = strndup(texts[2].text, texts[2].length);

		pattern_try(copy);
		free(copy);
	}
	return 0;
}
