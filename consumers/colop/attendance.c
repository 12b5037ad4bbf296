/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps names, and the members of communicators. */
#include "consumers/colop/attendance.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

/* A text with a number. */
struct numbered {
	uint32_t number;
	int32_t rank;
	UT_hash_handle hh;
	char text[];
};

/* Texts with numbers from 0 in the order of coming. */
struct numbering {
	struct numbered *all, **by_number;
};

struct attendance_element {
	struct attendance_entry entry;
	UT_hash_handle hh;
	char name[];
};

/* A member of a communicator, and its place there. */
struct muster_place {
	int32_t rank, place;
};

struct muster {
	uint32_t comm, size;
	struct muster_place *places; /* by rank */
	UT_hash_handle hh;
};

struct attendance {
	struct attendance_element *elements;
	const char *last; /* the name that was looked up last, and its element */
	struct attendance_element *last_element;
	struct numbering processes, hosts, sites, threads;
	struct muster *musters;
	struct muster *last_muster;
};

/* ---- texts ---- */

static struct numbered *number_of(struct numbering *of, const char *text, size_t length)
{
	struct numbered *n;
	size_t count = HASH_COUNT(of->all);

	HASH_FIND(hh, of->all, text, length, n);
	if (n)
		return n;
	n = memory_new(1, sizeof(*n) + length + 1);
	n->number = (uint32_t)count;
	memcpy(n->text, text, length);
	HASH_ADD_KEYPTR(hh, of->all, n->text, length, n);
	of->by_number = memory_room(of->by_number, count, sizeof(*of->by_number));
	of->by_number[count] = n;
	return n;
}

static void numbering_free(struct numbering *of)
{
	struct numbered *n, *next;

	HASH_ITER(hh, of->all, n, next)
	{
		HASH_DEL(of->all, n);
		free(n);
	}
	free(of->by_number);
}

struct attendance *attendance_new(void)
{
	struct attendance *r = memory_new(1, sizeof(*r));

	number_of(&r->sites, "", 0);
	return r;
}

void attendance_free(struct attendance *r)
{
	struct attendance_element *e, *next_element;
	struct muster *t, *next_muster;

	if (!r)
		return;
	HASH_ITER(hh, r->elements, e, next_element)
	{
		HASH_DEL(r->elements, e);
		free(e);
	}
	HASH_ITER(hh, r->musters, t, next_muster)
	{
		HASH_DEL(r->musters, t);
		free(t->places);
		free(t);
	}
	numbering_free(&r->processes);
	numbering_free(&r->hosts);
	numbering_free(&r->sites);
	numbering_free(&r->threads);
	free(r);
}

/* ---- elements ---- */

/* The length of the first @parts parts of @name. */
static size_t parts_length(const char *name, unsigned parts)
{
	const char *at = name;

	for (; *at; at++) {
		if (*at == '/' && parts-- == 0)
			break;
	}
	return (size_t)(at - name);
}

/* Behind the channel, which is the last part: "collective:file.c:12". */
static const char *site_of(const char *name)
{
	const char *channel = strrchr(name, '/');
	const char *colon = channel ? strchr(channel, ':') : NULL;

	return colon ? colon + 1 : "";
}

static struct attendance_element *element_new(struct attendance *r, const char *name, size_t length,
					      int32_t rank)
{
	struct attendance_element *e = memory_new(1, sizeof(*e) + length + 1);
	struct numbered *process = number_of(&r->processes, name, parts_length(name, 3));
	const char *site = site_of(name), *thread = name + parts_length(name, 3);

	process->rank = rank;
	memcpy(e->name, name, length);
	e->entry = (struct attendance_entry){
		process->number,
		number_of(&r->hosts, name, parts_length(name, 2))->number,
		number_of(&r->sites, site, strlen(site))->number,
		number_of(&r->threads, name, parts_length(name, 4))->number,
		HASH_COUNT(r->elements),
		strpbrk(thread, ".:@") != NULL,
		strncmp(thread, "/overflow", strlen("/overflow")) == 0,
	};
	HASH_ADD_KEYPTR(hh, r->elements, e->name, length, e);
	return e;
}

const struct attendance_entry *attendance_find(struct attendance *r, const char *name, int32_t rank)
{
	size_t length;

	if (name == r->last)
		return &r->last_element->entry;
	length = strlen(name);
	r->last = name;
	HASH_FIND(hh, r->elements, name, length, r->last_element);
	if (!r->last_element)
		r->last_element = element_new(r, name, length, rank);
	return &r->last_element->entry;
}

void attendance_turn(struct attendance *r)
{
	r->last = NULL;
}

uint32_t attendance_processes(const struct attendance *r)
{
	return HASH_COUNT(r->processes.all);
}

int32_t attendance_rank(const struct attendance *r, uint32_t process)
{
	return r->processes.by_number[process]->rank;
}

const char *attendance_process(const struct attendance *r, uint32_t process)
{
	return r->processes.by_number[process]->text;
}

const char *attendance_host(const struct attendance *r, uint32_t host)
{
	return r->hosts.by_number[host]->text;
}

const char *attendance_site(const struct attendance *r, uint32_t site)
{
	return r->sites.by_number[site]->text;
}

/* ---- communicators ---- */

static int compare_ranks(const void *a, const void *b)
{
	const struct muster_place *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* NULL: its members are not known. What is kept is bounded by what the client knows. */
static struct muster *muster_learn(struct attendance *r, uint32_t comm, attendance_members *members,
				   void *arg)
{
	size_t n = members(arg, comm, NULL, 0);
	int32_t *ranks = memory_new(n + 1, sizeof(*ranks));
	struct muster *t = NULL;

	if (n > 0 && n <= INT32_MAX && members(arg, comm, ranks, n) == n) {
		t = memory_new(1, sizeof(*t));
		t->comm = comm;
		t->size = (uint32_t)n;
		t->places = memory_new(n, sizeof(*t->places));
		for (size_t i = 0; i < n; i++)
			t->places[i] = (struct muster_place){ranks[i], (int32_t)i};
		qsort(t->places, n, sizeof(*t->places), compare_ranks);
		HASH_ADD(hh, r->musters, comm, sizeof(comm), t);
	}
	free(ranks);
	return t;
}

static struct muster *muster_find(struct attendance *r, uint32_t comm)
{
	struct muster *t = r->last_muster;

	if (!t || t->comm != comm)
		HASH_FIND(hh, r->musters, &comm, sizeof(comm), t);
	return t;
}

int32_t attendance_place(struct attendance *r, uint32_t comm, int32_t rank,
			 attendance_members *members, void *arg)
{
	struct muster *t = muster_find(r, comm);
	const struct muster_place key = {rank, 0}, *seat = NULL;

	if (!t)
		t = muster_learn(r, comm, members, arg);
	if (t)
		r->last_muster = t;
	if (t && rank >= 0)
		seat = bsearch(&key, t->places, t->size, sizeof(*t->places), compare_ranks);
	return seat ? seat->place : -1;
}
