/* SPDX-License-Identifier: BSD-3-Clause */
/* What a valid document says, as data. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/mir/request-read.h"
#include "pathmap/base/memory.h"

/* Longest time in ms, and most frames of a stack: what does not fit has no meaning. */
#define NUMBER_MAX 4000000000u

/* Longest destination. */
#define DESTINATION_MAX 4096u

struct mir_taking {
	struct mir_request *request;
	const struct mir_places *places;
	size_t *entities; /* of elements: their number among these, from 1; 0: none */
};

static const char *const actions[] = {[MIR_VALUE] = "VALUE",
				      [MIR_ACTIVATE] = "ACTIVATE",
				      [MIR_DEACTIVATE] = "DEACTIVATE",
				      [MIR_RESET] = "RESET",
				      [MIR_REMOVE] = "REMOVE"};
#define COUNT(words) (sizeof(words) / sizeof((words)[0]))

/* The attribute's value, for the caller to free; NULL: it is not there. */
static char *text_of(xmlNodePtr node, const char *name)
{
	xmlChar *value = xmlGetNoNsProp(node, BAD_CAST name);
	char *copy = memory_copy((const char *)value);

	xmlFree(value);
	return copy;
}

/* Its number among @words; their count: it is not there, or none of them. */
static size_t word_of(xmlNodePtr node, const char *name, const char *const *words, size_t n)
{
	char *text = text_of(node, name);
	size_t i = 0;

	while (i < n && (!text || strcmp(text, words[i]) != 0))
		i++;
	free(text);
	return i;
}

static bool truth_of(xmlNodePtr node, const char *name)
{
	static const char *const words[] = {"true"};

	return word_of(node, name, words, 1) == 0;
}

/* A number that the schema has found to be one. Returns whether it is there. */
static bool number_of(struct mir_taking *t, xmlNodePtr node, const char *name, int64_t *value)
{
	char *text = text_of(node, name);
	struct mir_place place;

	if (!text)
		return false;
	errno = 0;
	*value = strtoll(text, NULL, 10);
	free(text);
	if (errno == 0 && *value <= NUMBER_MAX)
		return true;
	place = places_of(t->places, node);
	request_complain(t->request, &place, "%s is too large: %u at most", name, NUMBER_MAX);
	*value = 0;
	return true;
}

static void word_take(struct mir_taking *t, xmlNodePtr node, const char *name,
		      struct mir_word **words, size_t *n)
{
	*words = memory_room(*words, *n, sizeof(**words));
	(*words)[(*n)++] = (struct mir_word){text_of(node, name), places_of(t->places, node)};
}

static void measuring_take(struct mir_taking *t, xmlNodePtr node)
{
	struct mir_measuring *m = &t->request->measuring;
	int64_t interval = 0, duration = 0;

	m->said = true;
	m->place = places_of(t->places, node);
	m->has_interval = number_of(t, node, "interval", &interval);
	m->has_duration = number_of(t, node, "duration", &duration);
	m->has_delivery = number_of(t, node, "delivery", &m->delivery);
	m->interval = (uint64_t)interval;
	m->duration = (uint64_t)duration;
	m->destination = text_of(node, "destination");
	if (m->destination && strlen(m->destination) > DESTINATION_MAX)
		request_complain(t->request, &m->place,
				 "the destination has more than %u bytes; write a shorter one",
				 DESTINATION_MAX);
	for (xmlNodePtr a = xmlFirstElementChild(node); a; a = xmlNextElementSibling(a)) {
		size_t i = word_of(a, "function", request_functions, MIR_FUNCTIONS);

		m->aggregates = true;
		if (m->n_functions == MIR_FUNCTIONS) {
			request_complain(t->request, &m->place,
					 "it has more aggregates than there are functions; say "
					 "each once");
			break;
		}
		if (i == MIR_FUNCTIONS)
			continue;
		m->functions = memory_room(m->functions, m->n_functions, sizeof(*m->functions));
		m->functions[m->n_functions++] = (enum mir_function)i;
	}
	if (!m->has_interval && !m->has_duration && !m->has_delivery && !m->destination &&
	    !m->aggregates)
		request_complain(t->request, &m->place,
				 "it has neither attributes nor aggregates; say one, or leave it "
				 "out");
}

static void entity_take(struct mir_taking *t, xmlNodePtr node, size_t level)
{
	struct mir_request *r = t->request;
	size_t above = t->entities[(uintptr_t)node->parent->_private];

	if (r->n_entities == REQUEST_ENTITIES) {
		struct mir_place place = places_of(t->places, node);

		request_complain(r, &place,
				 "it has more than %u sites, nodes, communicators, processes and "
				 "threads; write * or ?",
				 REQUEST_ENTITIES);
		return;
	}
	r->entities = memory_room(r->entities, r->n_entities, sizeof(*r->entities));
	r->entities[r->n_entities++] =
		(struct mir_entity){.level = (enum mir_level)level,
				    .within = above,
				    .id = {text_of(node, "id"), places_of(t->places, node)}};
	if (above > 0)
		r->entities[above - 1].nests = true;
	t->entities[(uintptr_t)node->_private] = r->n_entities;
}

static void element_take(struct mir_taking *t, xmlNodePtr node)
{
	struct mir_request *r = t->request;
	const char *name = (const char *)node->name;

	if (strcmp(name, "resource") == 0) {
		if (r->n_resources == REQUEST_RESOURCES) {
			struct mir_place place = places_of(t->places, node);

			request_complain(
				r, &place,
				"it has more than %u resources; say it in several requests",
				REQUEST_RESOURCES);
			return;
		}
		r->outs = memory_room(r->outs, r->n_resources, sizeof(*r->outs));
		r->outs[r->n_resources] = text_of(node, "out");
		r->writes |= r->outs[r->n_resources] != NULL;
		word_take(t, node, "in", &r->resources, &r->n_resources);
	} else if (strcmp(name, "metric") == 0) {
		word_take(t, node, "name", &r->metrics, &r->n_metrics);
	} else if (strcmp(name, "probe") == 0) {
		word_take(t, node, "id", &r->probes, &r->n_probes);
	} else if (strcmp(name, "measuring") == 0) {
		measuring_take(t, node);
	} else if (strcmp(name, "event") == 0) {
		r->events = true;
	} else if (strcmp(name, "codeRegion") == 0) {
		r->from = (struct mir_word){text_of(node, "from"), places_of(t->places, node)};
		r->to = (struct mir_word){text_of(node, "to"), r->from.place};
	} else {
		for (size_t i = 0; i < MIR_LEVELS; i++)
			if (strcmp(name, request_levels[i]) == 0)
				entity_take(t, node, i);
	}
}

static bool is_same(const struct mir_request *r, size_t i, size_t k)
{
	const struct mir_entity *a = &r->entities[i], *b = &r->entities[k];

	return a->level == b->level && strcmp(a->id.text, b->id.text) == 0 &&
	       (a->within == b->within ||
		(a->within > 0 && b->within > 0 && is_same(r, a->within - 1, b->within - 1)));
}

/* Is one meant twice? What others are nested in is none that is meant. */
static void repeated_check(struct mir_request *r)
{
	for (size_t i = 0; i < r->n_entities; i++) {
		size_t k = 0;

		while (k < i && (r->entities[i].nests || !is_same(r, i, k)))
			k++;
		if (k < i)
			request_complain(r, &r->entities[i].id.place,
					 "\"%.80s\" is there twice; leave one out",
					 r->entities[i].id.text);
	}
}

void request_take(struct mir_request *request, const struct mir_places *places, xmlDocPtr document)
{
	struct mir_taking t = {request, places, memory_new(places->n + 1, sizeof(size_t))};
	xmlNodePtr root = xmlDocGetRootElement(document);
	size_t action = word_of(root, "action", actions, COUNT(actions));
	int64_t stack = 0;

	request->named = truth_of(root, "named");
	request->activated = truth_of(root, "activated");
	request->flush = truth_of(root, "flush");
	request->action = action < COUNT(actions) ? (enum mir_action)action : MIR_VALUE;
	if (number_of(&t, root, "stack", &stack))
		request->stack = (uint64_t)stack;
	for (xmlNodePtr node = places_next(root); node; node = places_next(node))
		element_take(&t, node);
	repeated_check(request);
	free(t.entities);
}
