/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds classes up, names them, and parses their names. */
#include "tree/scope/classes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "tree/data/op.h"

/* All worlds count as one, since each program of a run has its own. */
struct classes_key {
	uint32_t comm; /* 0: none, or a world */
	uint16_t channel;
	uint8_t mode, world;
};

struct classes_entry {
	struct classes_key key;
	struct class_sum sum;
	UT_hash_handle hh;
};

struct classes {
	struct classes_entry *entries;
	const struct class_sum **sorted; /* NULL: not sorted yet */
};

struct classes *classes_new(void)
{
	return memory_new(1, sizeof(struct classes));
}

void classes_free(struct classes *classes)
{
	struct classes_entry *en, *next;

	if (!classes)
		return;
	for (en = classes->entries; en; en = next) {
		next = en->hh.next;
		HASH_DEL(classes->entries, en);
		free(en);
	}
	free(classes->sorted);
	free(classes);
}

void classes_add(struct classes *classes, const struct class_sum *sum)
{
	struct classes_key key = {sum->world ? 0 : sum->comm, sum->channel, sum->mode, sum->world};
	struct classes_entry *en;

	HASH_FIND(hh, classes->entries, &key, sizeof(key), en);
	if (!en && HASH_COUNT(classes->entries) >= CLASSES_MAX) {
		key.comm = 0;
		HASH_FIND(hh, classes->entries, &key, sizeof(key), en);
	}
	if (!en) {
		en = memory_new(1, sizeof(*en));
		en->key = key;
		en->sum.comm = key.world ? sum->comm : key.comm;
		en->sum.channel = key.channel;
		en->sum.mode = sum->mode;
		en->sum.world = sum->world;
		HASH_ADD(hh, classes->entries, key, sizeof(en->key), en);
		free(classes->sorted);
		classes->sorted = NULL;
	}
	en->sum.processes += sum->processes;
	en->sum.calls += sum->calls;
	en->sum.bytes += sum->bytes;
	en->sum.time_ns += sum->time_ns;
	en->sum.skipped += sum->skipped;
}

void classes_add_wire(struct classes *classes, const Evspace__Class *m)
{
	struct class_sum sum = {
		.comm = m->comm,
		.channel = (uint16_t)m->channel,
		.mode = (uint8_t)m->mode,
		.world = m->world,
		.processes = m->processes,
		.calls = m->calls,
		.bytes = m->bytes,
		.time_ns = m->time_ns,
		.skipped = m->skipped,
	};

	if (m->channel < CHANNEL_MAX && m->mode <= UINT8_MAX)
		classes_add(classes, &sum);
}

size_t classes_count(const struct classes *classes)
{
	return HASH_COUNT(classes->entries);
}

static int sum_compare(const void *a, const void *b)
{
	const struct class_sum *x = *(const struct class_sum *const *)a;
	const struct class_sum *y = *(const struct class_sum *const *)b;

	if (x->channel != y->channel)
		return x->channel < y->channel ? -1 : 1;
	if (x->world != y->world)
		return x->world ? -1 : 1;
	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	return (x->mode > y->mode) - (x->mode < y->mode);
}

const struct class_sum *classes_at(struct classes *classes, size_t i)
{
	size_t n = classes_count(classes), at = 0;

	if (i >= n)
		return NULL;
	if (!classes->sorted) {
		classes->sorted = memory_new(n, sizeof(*classes->sorted));
		for (const struct classes_entry *en = classes->entries; en; en = en->hh.next)
			classes->sorted[at++] = &en->sum;
		qsort(classes->sorted, n, sizeof(*classes->sorted), sum_compare);
	}
	return classes->sorted[i];
}

Evspace__Class **classes_wire(struct classes *classes, const char *run)
{
	size_t n = classes_count(classes);
	Evspace__Class **list = memory_new(n + 1, sizeof(*list) + sizeof(**list));
	Evspace__Class *messages = (Evspace__Class *)(void *)(list + n + 1);

	for (size_t i = 0; i < n; i++) {
		const struct class_sum *sum = classes_at(classes, i);
		Evspace__Class *m = &messages[i];

		evspace__class__init(m);
		m->channel = sum->channel;
		m->comm = sum->comm;
		m->world = sum->world;
		m->mode = sum->mode;
		m->processes = sum->processes;
		m->calls = sum->calls;
		m->bytes = sum->bytes;
		m->time_ns = sum->time_ns;
		m->skipped = sum->skipped;
		if (run)
			m->run = (char *)(uintptr_t)run;
		list[i] = m;
	}
	return list;
}

/* ---- names ---- */

const char *class_name(const struct class_sum *sum, char buf[CLASS_TEXT])
{
	const char *channel = channel_name(sum->channel);

	if (sum->world)
		snprintf(buf, CLASS_TEXT, "%s@world", channel);
	else if (sum->comm)
		snprintf(buf, CLASS_TEXT, "%s@%08x", channel, sum->comm);
	else
		snprintf(buf, CLASS_TEXT, "%s", channel);
	return buf;
}

static int complain(const char *text, struct error *e)
{
	char all[160] = "";

	for (unsigned i = 0; i < CHANNEL_COUNT; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s, ", channel_name(i));
	errno = EINVAL;
	return errorf(
		e,
		"'%.60s' is not a class; write one of %sor all, with @world or @COMM behind it "
		"for one communicator, such as p2p@world or p2p@1a2b3c4d",
		text, all);
}

int class_choice(const char *text, Evspace__Choice *choice, struct error *e)
{
	Evspace__Choice chosen = EVSPACE__CHOICE__INIT;
	size_t length = strcspn(text, "@");
	const char *comm = text + length + (text[length] == '@');
	char group[16], *end;

	if (length >= sizeof(group))
		return complain(text, e);
	memcpy(group, text, length);
	group[length] = '\0';
	chosen.channel = strcmp(group, "all") == 0 ? -1 : channel_find(group);
	if (strcmp(group, "all") != 0 && (chosen.channel < 0 || chosen.channel >= CHANNEL_COUNT))
		return complain(text, e);
	if (text[length] == '@' && strcmp(comm, "world") == 0) {
		chosen.world = true;
	} else if (text[length] == '@') {
		chosen.comm = (uint32_t)strtoul(comm, &end, 16);
		if (strspn(comm, "0123456789abcdefABCDEF") != strlen(comm) || strlen(comm) > 8 ||
		    *end || chosen.comm == 0)
			return complain(text, e);
	}
	*choice = chosen;
	return 0;
}
