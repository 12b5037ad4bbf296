/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of the run as destinations: a tuple for each value. */
#include "consumers/mir/destination-private.h"

#include <stdio.h>
#include <string.h>

#include "consumers/mir/measurement.h"
#include "node-agent/pastset/evspace-element.h"
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

static unsigned elements(const struct destinations *all)
{
	const struct destination *d;
	unsigned n = 0;

	LIST_FOREACH (d, &all->list, link)
		n += d->element != NULL;
	return n;
}

static bool was_made(const struct destinations *all, const char *uri)
{
	for (unsigned i = 0; i < all->n_elements; i++)
		if (strcmp(all->elements[i], uri) == 0)
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
	struct destinations *all = d->all;
	bool known = was_made(all, d->uri);
	char why[256];

	if (!d->all->run)
		request_complain(r, place,
				 "elements are of a run that is said; who started evspace mir says "
				 "--run NAME");
	else if (elements(d->all) >= ELEMENTS_MOST)
		request_complain(r, place, "there are %u elements already; take one of these",
				 ELEMENTS_MOST);
	else if (!known && all->n_elements == DESTINATION_ELEMENTS)
		request_complain(r, place,
				 "%u elements were made already, which stay; take one of these",
				 DESTINATION_ELEMENTS);
	else if (!(d->element = evspace_element_make(&plan, why, sizeof(why))))
		request_complain(r, place, "%.200s: %.200s", d->uri, why);
	if (d->element && !known)
		all->elements[all->n_elements++] = memory_copy(d->uri);
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
	(void)evspace_element_write(d->element, &v);
}
