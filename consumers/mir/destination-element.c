/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of the run as destinations: a tuple for each value. */
#include "consumers/mir/destination-private.h"

#include <stdio.h>
#include <string.h>

#include "consumers/cli/element-into.h"
#include "consumers/mir/measurement.h"
#include "consumers/mir/probe.h"
#include "pathmap/base/memory.h"

#define PREFIX "element:"

/* Most of them at once, and what each holds. */
#define ELEMENTS_MOST 16u
#define CAPACITY      1000u

#define FIELDS                                                                                  \
	"value f64, probe text[16], entity text[128], communicator text[16], metric text[32], " \
	"function text[16]"

/* As these say. */
struct destination_value {
	double value;
	char probe[16], entity[128], communicator[16], metric[32], function[16];
};

bool destination_is_element(const char *uri)
{
	return strncmp(uri, PREFIX, strlen(PREFIX)) == 0;
}

/* Those that are open. */
static struct destination_share open_of(const struct destination *of)
{
	struct destination_share share = {0, 0};
	const struct destination *d;

	LIST_FOREACH (d, &of->all->list, link) {
		share.n += d->element != NULL;
		share.own += d->element && d->owner == of->owner;
	}
	return share;
}

/* Who has no name, and is another one when he comes again, has no share of his own. */
static struct destination_share made_of(const struct destination *of)
{
	struct destination_share share = {of->all->n_elements, 0};
	const char *name = of->owner->name;

	for (unsigned i = 0; i < share.n && name; i++)
		share.own += strcmp(of->all->elements[i].owner, name) == 0;
	return share;
}

static bool was_made(const struct destinations *all, const char *uri)
{
	for (unsigned i = 0; i < all->n_elements; i++)
		if (strcmp(all->elements[i].uri, uri) == 0)
			return true;
	return false;
}

bool destination_element_find(struct destination *d, const struct mir_place *place,
			      struct mir_request *r)
{
	const struct evspace_element_plan plan = {.name = d->uri + strlen(PREFIX),
						  .run = d->all->run,
						  .fields = FIELDS,
						  .bytes = sizeof(struct destination_value),
						  .capacity = CAPACITY};
	const struct destination_share open = open_of(d), made = made_of(d);
	struct destinations *all = d->all;
	bool known = was_made(all, d->uri);
	char why[256];

	if (!d->all->run)
		request_complain(r, place,
				 "elements are of a run that is said; who started evspace mir says "
				 "--run NAME");
	else if (destination_share_is_full(&open, ELEMENTS_MOST))
		request_complain(r, place,
				 "%u elements are destinations, and %u of them yours: no tool has "
				 "more than what it leaves for others; take one of these",
				 open.n, open.own);
	else if (!known && destination_share_is_full(&made, DESTINATION_ELEMENTS))
		request_complain(r, place,
				 "%u elements were made already, which stay, and %u of them for "
				 "you: no tool has more than what it leaves for others; take one "
				 "of these",
				 made.n, made.own);
	else if (!(d->element = element_into(&plan, why, sizeof(why))))
		request_complain(r, place, "%.200s: %.200s", d->uri, why);
	if (d->element && !known) {
		all->elements[all->n_elements].uri = memory_copy(d->uri);
		all->elements[all->n_elements++].owner =
			memory_copy(d->owner->name ? d->owner->name : "");
	}
	return d->element != NULL;
}

bool destination_takes_values(const struct destination *d)
{
	return d->element != NULL;
}

static const char *text_of(const char *text)
{
	return text ? text : "";
}

void destination_value(struct destination *d, const struct mir_tuple *t)
{
	struct destination_value v = {.value = t->value};
	const char *entity = "";

	if (!t->known)
		return;
	for (unsigned i = 0; i < MIR_LEVELS; i++)
		if (i != MIR_COMMUNICATOR && t->id[i])
			entity = t->id[i];
	snprintf(v.probe, sizeof(v.probe), "%s", t->probe);
	snprintf(v.entity, sizeof(v.entity), "%s", entity);
	snprintf(v.communicator, sizeof(v.communicator), "%s", text_of(t->id[MIR_COMMUNICATOR]));
	snprintf(v.metric, sizeof(v.metric), "%s", t->metric);
	snprintf(v.function, sizeof(v.function), "%s", text_of(t->function));
	/* it never waits: the oldest is overwritten */
	(void)element_into_put(d->element, &v);
}
