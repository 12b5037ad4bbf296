/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the agents of a map what elements of programs hold, again and again where tuples are waited
 * for. */
#include "consumers/cli/element-elsewhere.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "consumers/cli/command.h"
#include "consumers/cli/element-show.h"
#include "consumers/cli/options.h"
#include "consumers/client/connection.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

#define DEADLINE_MS 2000u
#define TUPLES_MOST 1000u

/* How often it asks for the newest, while it is overwritten meanwhile. */
#define NEWEST_TRIES 100

/* How often it looks for tuples that are yet to come, and how long for an agent to come back. */
#define LOOK_NS	    50000000
#define PATIENCE_NS UINT64_C(120000000000)

/* Most elements of a host that are listed, a thousand at a time. */
#define PAGES_MOST 1000u

struct element_elsewhere {
	const struct element_asked *asked;
	struct evspace_connection *connection;
	Evspace__Frame *reply;
	/* the element, once it is found: */
	char *run, *node;
	int64_t born_ns; /* another one of its name was born at another time */
	struct fields fields;
	uint64_t away_ns;   /* since when its agent does not answer; 0: it does */
	uint64_t next, end; /* numbers of the tuple to come, and of that behind the last */
	bool first;	    /* nothing has come yet */
	int code;
};

static int elsewhere_fail(struct element_elsewhere *w, int code, const char *text)
{
	fprintf(stderr, "evspace element: %s\n", text);
	w->code = code;
	return -1;
}

/* ---- asking ---- */

/* Only the agent that has the element, once it is found. */
static const char *elsewhere_node(const struct element_elsewhere *w)
{
	return w->node ? w->node : w->asked->node;
}

static char *text_or_none(const char *text)
{
	return (char *)(uintptr_t)(text ? text : "");
}

/* Ask for the tuples from @from on, or the elements behind the one with the serial @after. Returns
 * 0, or -1 with @failure and @e. */
static int elsewhere_try(struct element_elsewhere *w, Evspace__ElementAsk *element,
			 enum evspace_failure *failure, struct error *e)
{
	Evspace__StatusAsk ask = EVSPACE__STATUS_ASK__INIT;

	if (w->reply)
		evspace__frame__free_unpacked(w->reply, NULL);
	ask.all = true;
	ask.deadline_ms = DEADLINE_MS;
	ask.element = element;
	element->name = text_or_none(w->asked->name);
	element->run = text_or_none(w->run ? w->run : w->asked->run);
	element->node = text_or_none(elsewhere_node(w));
	w->reply = question_ask(w->connection, &WIRE_FRAME(STATUS_ASK, status_ask, &ask),
				EVSPACE__FRAME__KIND_STATUS, 2 * DEADLINE_MS, NULL, failure, e);
	return w->reply ? 0 : -1;
}

/* The same, for a list that goes on behind @after. */
static int elsewhere_ask(struct element_elsewhere *w, uint64_t after)
{
	Evspace__ElementAsk element = EVSPACE__ELEMENT_ASK__INIT;
	enum evspace_failure failure;
	struct error e;

	element.after = after;
	if (elsewhere_try(w, &element, &failure, &e) == 0)
		return 0;
	return elsewhere_fail(w, options_failure(failure), e.text);
}

/* Of the answer the entry's status, and those below it; NULL behind the last one. */
static const Evspace__Status *host_at(const struct element_elsewhere *w, size_t i)
{
	const Evspace__Status *entry = w->reply->status;

	return i == 0 ? entry : i <= entry->n_below ? entry->below[i - 1] : NULL;
}

static bool host_wanted(const struct element_elsewhere *w, const Evspace__Status *host)
{
	const char *node = elsewhere_node(w);

	return !node || strcmp(node, host->node) == 0;
}

/* One that was met. */
struct element_met {
	UT_hash_handle hh;
	char key[];
};

/* Has it been met, as agents that share a folder all say what is in it? */
static bool element_meet(struct element_met **met, const Evspace__ElementTuples *m)
{
	char *key = memory_format("%s/%s/%s/%lld", m->run, m->name, m->host, (long long)m->born_ns);
	const size_t length = strlen(key);
	struct element_met *one;

	HASH_FIND(hh, *met, key, length, one);
	if (!one) {
		struct element_met *first = memory_new(1, sizeof(*first) + length + 1);

		memcpy(first->key, key, length + 1);
		HASH_ADD(hh, *met, key, length, first);
	}
	free(key);
	return one != NULL;
}

static void elements_met_free(struct element_met *met)
{
	struct element_met *one, *next;

	HASH_ITER(hh, met, one, next)
	{
		HASH_DEL(met, one);
		free(one);
	}
}

static bool element_wanted(const struct element_elsewhere *w, const Evspace__ElementTuples *m)
{
	return !w->asked->name || strcmp(w->asked->name, m->name) == 0;
}

/* Say which hosts have not answered. */
static void hosts_missing_say(const struct element_elsewhere *w)
{
	const Evspace__Status *host;

	for (size_t i = 0; (host = host_at(w, i)); i++) {
		if (host->why && host_wanted(w, host))
			fprintf(stderr, "evspace element: %s has not answered: %s\n", host->node,
				host->text);
	}
}

/* ---- lists ---- */

/* A list on its way. */
struct element_listing {
	struct element_list list;
	struct element_met *met;
	/* hosts that have more than came at once, and behind which serial */
	struct element_rest {
		char *node;
		uint64_t after;
	} * rest;
	size_t n_rest;
};

static void listing_add(struct element_listing *l, const Evspace__Status *host,
			const Evspace__ElementTuples *m)
{
	const struct evspace_element_state state = {.name = m->name,
						    .run = m->run,
						    .fields = m->fields,
						    .program = m->program,
						    .capacity = m->capacity,
						    .wait_ms = m->wait_ms,
						    .written = m->written,
						    .oldest = m->oldest < m->written ? m->oldest
										     : m->written};

	if (!element_meet(&l->met, m))
		element_list_add(&l->list, &state, host->node);
}

/* Returns the serial behind which the host has more, 0: that is all. */
static uint64_t listing_take(struct element_listing *l, const Evspace__Status *host)
{
	const size_t n = host->n_elements_of_programs;

	for (size_t k = 0; k < n; k++)
		listing_add(l, host, host->elements_of_programs[k]);
	return n > 0 && host->elements_of_programs[n - 1]->more
		       ? host->elements_of_programs[n - 1]->serial
		       : 0;
}

/* What is left of a host's. */
static int listing_go_on(struct element_elsewhere *w, struct element_listing *l,
			 const struct element_rest *rest)
{
	const Evspace__Status *host;
	uint64_t after = rest->after, last = 0;

	w->node = rest->node;
	for (unsigned pages = 0; after > last && pages < PAGES_MOST; pages++) {
		last = after;
		after = 0;
		if (elsewhere_ask(w, last) < 0)
			return -1;
		for (size_t i = 0; (host = host_at(w, i)); i++)
			after = host_wanted(w, host) ? listing_take(l, host) : after;
		hosts_missing_say(w);
	}
	if (after)
		fprintf(stderr, "evspace element: %s has more\n", rest->node);
	return 0;
}

static int elsewhere_list(struct element_elsewhere *w)
{
	struct element_listing l = {.met = NULL};
	const Evspace__Status *host;
	int rc = 0;

	if (elsewhere_ask(w, 0))
		return -1;
	element_list_begin(&l.list, w->asked->json, true);
	for (size_t i = 0; (host = host_at(w, i)); i++) {
		uint64_t after = host_wanted(w, host) ? listing_take(&l, host) : 0;

		if (!after)
			continue;
		l.rest = memory_room(l.rest, l.n_rest, sizeof(*l.rest));
		l.rest[l.n_rest++] = (struct element_rest){memory_copy(host->node), after};
	}
	hosts_missing_say(w);
	for (size_t i = 0; i < l.n_rest; i++) {
		rc = rc < 0 ? rc : listing_go_on(w, &l, &l.rest[i]);
		free(l.rest[i].node);
	}
	w->node = NULL;
	free(l.rest);
	element_list_end(&l.list);
	elements_met_free(l.met);
	return rc;
}

/* ---- one element ---- */

static void element_found(struct element_elsewhere *w, const Evspace__Status *host,
			  const Evspace__ElementTuples *m)
{
	const struct element_asked *asked = w->asked;

	w->run = memory_copy(m->run);
	w->node = memory_copy(host->node);
	w->born_ns = m->born_ns;
	w->end = m->written;
	w->next = asked->waits	  ? m->written
		  : asked->newest ? m->written - (m->written > 0)
				  : m->oldest;
}

/* Which run and host has it. */
static int element_find(struct element_elsewhere *w)
{
	const Evspace__ElementTuples *m = NULL;
	const Evspace__Status *host, *at = NULL;
	struct element_met *met = NULL;
	char text[256];
	size_t n = 0;

	if (elsewhere_ask(w, 0))
		return -1;
	for (size_t i = 0; (host = host_at(w, i)); i++) {
		for (size_t k = 0; host_wanted(w, host) && k < host->n_elements_of_programs; k++) {
			if (!element_wanted(w, host->elements_of_programs[k]) ||
			    element_meet(&met, host->elements_of_programs[k]))
				continue;
			m = host->elements_of_programs[k];
			at = host;
			n++;
		}
	}
	elements_met_free(met);
	if (n == 1 && fields_parse(&w->fields, m->fields, NULL) == 0) {
		element_found(w, at, m);
		return 0;
	}
	if (n > 1) {
		snprintf(text, sizeof(text),
			 "%zu hosts or runs have an element %s; say which with --run and --node "
			 "(evspace element list --connect %s)",
			 n, w->asked->name, w->asked->look->connect);
		return elsewhere_fail(w, EXIT_USAGE, text);
	}
	hosts_missing_say(w);
	snprintf(text, sizeof(text),
		 n ? "%s has fields that are none" : "no host that has answered has an element %s",
		 w->asked->name);
	return elsewhere_fail(w, EXIT_BAD_NEWS, text);
}

/* Its agent, or the entry, does not answer: who follows waits until it does. Returns 1, or -1. */
static int elsewhere_away(struct element_elsewhere *w, enum exit_code code, const char *text)
{
	const uint64_t now = clock_mono_ns();

	if (!(w->asked->follow || w->asked->waits) ||
	    (w->away_ns && now - w->away_ns > PATIENCE_NS))
		return elsewhere_fail(w, code, text);
	if (!w->away_ns)
		fprintf(stderr, "evspace element: %s; goes on when it does\n", text);
	w->away_ns = w->away_ns ? w->away_ns : now;
	return 1;
}

static int elsewhere_back(struct element_elsewhere *w)
{
	if (w->away_ns)
		fprintf(stderr, "evspace element: %s answers again\n", w->node);
	w->away_ns = 0;
	return 0;
}

static bool tuples_are_sound(const struct element_elsewhere *w, const Evspace__ElementTuples *m)
{
	return m->n_times_ns <= TUPLES_MOST && m->tuples.len == m->n_times_ns * w->fields.bytes &&
	       (m->n_times_ns == 0 ||
		(m->first >= w->next && m->first <= UINT64_MAX - TUPLES_MOST));
}

/* The element in the last answer, if what is said of its tuples can be. Returns 0, 1: its agent has
 * not answered, or -1. */
static int element_again(struct element_elsewhere *w, const Evspace__ElementTuples **found)
{
	const Evspace__Status *host = NULL;
	char text[512];

	for (size_t i = 0; (host = host_at(w, i)) && !host_wanted(w, host);)
		i++;
	if (!host || host->why) {
		snprintf(text, sizeof(text), "%s has not answered: %.200s", w->node,
			 host ? host->text : "it is not in the map");
		return elsewhere_away(w, EXIT_NO_CONNECTION, text);
	}
	for (size_t k = 0; k < host->n_elements_of_programs; k++) {
		const Evspace__ElementTuples *m = host->elements_of_programs[k];

		if (!element_wanted(w, m) || strcmp(m->run, w->run) != 0 ||
		    m->born_ns != w->born_ns)
			continue;
		if (!tuples_are_sound(w, m))
			return elsewhere_fail(w, EXIT_NO_CONNECTION,
					      "the host says what cannot be");
		*found = m;
		return elsewhere_back(w);
	}
	return elsewhere_fail(w, EXIT_BAD_NEWS, "it was removed");
}

/* Ask for the element's tuples. Returns likewise. */
static int element_look(struct element_elsewhere *w, uint32_t most,
			const Evspace__ElementTuples **found)
{
	Evspace__ElementAsk element = EVSPACE__ELEMENT_ASK__INIT;
	enum evspace_failure failure;
	struct error e;
	int rc;

	element.from = w->next;
	element.most = most;
	if (elsewhere_try(w, &element, &failure, &e) == 0)
		return element_again(w, found);
	if (failure != EVSPACE_NO_CONNECTION)
		return elsewhere_fail(w, options_failure(failure), e.text);
	rc = elsewhere_away(w, EXIT_NO_CONNECTION, e.text);
	if (rc > 0) {
		evspace_disconnect(w->connection);
		w->connection = evspace_connect(w->asked->look);
	}
	return rc;
}

static void tuples_show(struct element_elsewhere *w, const Evspace__ElementTuples *m)
{
	for (size_t i = 0; i < m->n_times_ns; i++) {
		char tuple[FIELDS_BYTES];
		const struct element_tuple shown = {.node = w->node,
						    .run = w->run,
						    .element = w->asked->name,
						    .fields = &w->fields,
						    .tuple = tuple,
						    .number = m->first + i,
						    .lost = i == 0 && !w->first ? m->first - w->next
										: 0,
						    .time_ns = m->times_ns[i]};

		memcpy(tuple, m->tuples.data + i * w->fields.bytes, w->fields.bytes);
		if (m->big_endian != (htobe16(1) == 1))
			fields_swap(&w->fields, tuple);
		element_tuple_show(&shown, w->asked->json);
	}
	if (m->n_times_ns > 0) {
		w->next = m->first + m->n_times_ns;
		w->first = false;
	}
}

/* Is there nothing more to be waited for? */
static bool tuples_end(struct element_elsewhere *w, uint64_t waited_since)
{
	const struct element_asked *asked = w->asked;
	const struct timespec pause = {.tv_nsec = LOOK_NS};

	if (!asked->follow && !asked->waits)
		return true;
	if (asked->timeout_ns && clock_mono_ns() - waited_since >= asked->timeout_ns) {
		w->code = EXIT_BAD_NEWS;
		return true;
	}
	nanosleep(&pause, NULL);
	return false;
}

/* Print what there is, and if that is asked for, what comes. */
static int tuples_take(struct element_elsewhere *w)
{
	const struct element_asked *asked = w->asked;
	uint64_t waited_since = clock_mono_ns();
	const Evspace__ElementTuples *m = NULL;
	bool once = asked->waits || asked->newest;
	unsigned tries = 0;
	int rc;

	for (;;) {
		rc = element_look(w, once ? 1 : TUPLES_MOST, &m);
		if (rc < 0 || (rc > 0 && tuples_end(w, waited_since)))
			return rc;
		if (rc > 0)
			continue;
		tuples_show(w, m);
		if (m->n_times_ns > 0) {
			waited_since = clock_mono_ns();
			if (once || (!asked->follow && w->next >= w->end))
				return 0;
			continue;
		}
		/* it was overwritten before it was read */
		if (asked->newest && m->written > 0 && ++tries < NEWEST_TRIES) {
			w->next = m->written - 1;
			continue;
		}
		if (asked->newest)
			w->code = EXIT_BAD_NEWS;
		if (tuples_end(w, waited_since))
			return 0;
	}
}

int element_elsewhere(const struct element_asked *asked)
{
	struct element_elsewhere w = {.asked = asked, .first = true, .code = EXIT_FINE};

	w.connection = evspace_connect(asked->look);
	if (!asked->name)
		(void)elsewhere_list(&w);
	else if (element_find(&w) == 0)
		(void)tuples_take(&w);
	if (w.reply)
		evspace__frame__free_unpacked(w.reply, NULL);
	evspace_disconnect(w.connection);
	free(w.run);
	free(w.node);
	return w.code;
}
