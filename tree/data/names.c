/* SPDX-License-Identifier: BSD-3-Clause */
/* Names: found by id in a small table, by text when a level is folded, announced in order of
 * coming. */
#include "tree/data/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/data/names-private.h"

struct names_entry {
	struct name name;
	UT_hash_handle by_text; /* only the first entry of its key */
	bool said_first;
	bool own;      /* this host's programs have recorded it, or it is a group of such a name */
	uint16_t room; /* for a key; a longer one needs a new entry */
	char key[];    /* '0' + level, then the text: "/" is a name at level cluster and at level
			* all */
};

/* All that each run of each wave needs, in one place. */
struct slot {
	uint32_t id;
	unsigned generation;	     /* of names, when group was set */
	uint32_t group[LEVEL_COUNT]; /* the result of names_group(), 0: not asked yet */
	struct names_entry *entry;   /* NULL: free */
};

/* Most bytes of a name in the slots, of which a quarter is in use, and bytes of an entry in the
 * log. */
#define SLOT_BYTES (4 * sizeof(struct slot))
#define LOG_BYTES  (2 * sizeof(uint32_t))

/* ---- by id ---- */

static size_t slot_of(const struct names *names, uint32_t id)
{
	return hash_number(id) >> (32 - names->bits);
}

static struct slot *find_slot(const struct names *names, uint32_t id)
{
	size_t mask = ((size_t)1 << names->bits) - 1, i = slot_of(names, id);

	while (names->slots[i].entry && names->slots[i].id != id)
		i = (i + 1) & mask;
	return &names->slots[i];
}

static void grow(struct names *names)
{
	struct slot *old = names->slots;
	size_t n = (size_t)1 << names->bits;

	names->bits++;
	names->slots = memory_new(2 * n, sizeof(*names->slots));
	for (size_t i = 0; i < n; i++)
		if (old[i].entry)
			*find_slot(names, old[i].id) = old[i];
	free(old);
}

/* For names without a granter, as in a client. */
static bool grant_most(void *arg, size_t bytes)
{
	const struct names *names = arg;

	return bytes <= NAMES_BYTES_MAX - names->memory.granted;
}

struct names *names_new(uint32_t place)
{
	struct names *names = memory_new(1, sizeof(*names));

	names->place = place;
	names->next_local = NAME_LOCAL_MAX;
	names->bits = 6;
	names->slots = memory_new((size_t)1 << names->bits, sizeof(*names->slots));
	arena_init(&names->memory, SIZE_MAX);
	names_grant_set(names, grant_most, names);
	names->tellers = tellers_new(&names->memory);
	return names;
}

void names_free(struct names *names)
{
	if (!names)
		return;
	HASH_CLEAR(by_text, names->texts);
	names_comms_free(names);
	tellers_free(names->tellers);
	arena_fini(&names->memory);
	free(names->slots);
	free(names->log);
	free(names);
}

uint32_t names_place(const struct names *names)
{
	return names->place;
}

void names_place_set(struct names *names, uint32_t place)
{
	names->place = place;
}

struct names_use names_use(const struct names *names)
{
	return (struct names_use){names->n, names->n_log, names->n_comm_log, names->n_members};
}

void names_grant_set(struct names *names, names_granter *grant, void *arg)
{
	names->memory.grant = grant;
	names->memory.grant_arg = arg;
}

size_t names_granted(const struct names *names)
{
	return names->memory.granted;
}

struct tellers *names_tellers(const struct names *names)
{
	return names->tellers;
}

const struct name *names_find(const struct names *names, uint32_t id)
{
	const struct names_entry *entry = find_slot(names, id)->entry;

	return entry ? &entry->name : NULL;
}

/* ---- learning ---- */

/* How many parts a name of each level has. */
static const uint8_t level_parts[LEVEL_COUNT] = {
	[LEVEL_ELEMENT] = 5, [LEVEL_THREAD] = 4, [LEVEL_NODE] = 2,
	[LEVEL_CLUSTER] = 1, [LEVEL_ALL] = 0,
};

/* Bytes of the first @parts parts of @text ("/a/b": 2 parts, 4 bytes), or -1 if it has fewer. */
static int prefix_bytes(const char *text, unsigned parts)
{
	const char *p = text;

	while (parts-- > 0) {
		if (*p != '/')
			return -1;
		p += 1 + strcspn(p + 1, "/");
	}
	return (int)(p - text);
}

static int text_sound(const char *text, enum level level)
{
	size_t length = strnlen(text, NAME_BYTES);
	unsigned parts = 0;

	if (length == NAME_BYTES || text[0] != '/')
		return 0;
	if (level == LEVEL_ALL)
		return length == 1;
	for (size_t i = 0; i < length; i++) {
		if (text[i] <= ' ' || text[i] > '~')
			return 0;
		/* only a cluster may have no name */
		if (text[i] == '/' && ++parts > 1 && (text[i + 1] == '/' || text[i + 1] == '\0'))
			return 0;
	}
	return parts == level_parts[level];
}

static void index_text(struct names *names, struct names_entry *entry)
{
	size_t length = strlen(entry->key);
	struct names_entry *first;

	HASH_FIND(by_text, names->texts, entry->key, length, first);
	if (first)
		return;
	HASH_ADD_KEYPTR(by_text, names->texts, entry->key, length, entry);
	entry->said_first = true;
}

static bool same(const struct name *a, const struct name *b)
{
	return a->level == b->level && a->rank == b->rank && a->channel == b->channel &&
	       a->born == b->born && strcmp(a->text, b->text) == 0;
}

/* An entry for a key of @room bytes: @known, if that is large enough. */
static struct names_entry *entry_room(struct names *names, struct names_entry *known, size_t room)
{
	struct names_entry *entry = known;

	if (known && known->said_first)
		HASH_DELETE(by_text, names->texts, known);
	if (!known || known->room < room) {
		entry = arena_take(&names->memory, sizeof(*entry) + room);
		entry->room = (uint16_t)room;
	}
	entry->said_first = false;
	return entry;
}

/* Returns false if the memory is not granted; it always is for this host's own names. */
static bool insert(struct names *names, const struct name *name, bool own)
{
	struct slot *slot = find_slot(names, name->id);
	struct names_entry *known = slot->entry, *entry;
	size_t length = strlen(name->text), room = length + 2, bytes = LOG_BYTES;

	bytes += known && known->room >= room ? 0 : sizeof(*entry) + room;
	bytes += known ? 0 : SLOT_BYTES;
	if (!own && !arena_grant(&names->memory, bytes))
		return false;
	entry = entry_room(names, known, room);
	entry->own = own;
	entry->name = *name;
	entry->name.text = entry->key + 1;
	entry->key[0] = (char)('0' + name->level);
	memcpy(entry->key + 1, name->text, length + 1);
	*slot = (struct slot){.id = name->id, .entry = entry};
	if (known)
		names->generation++;
	else if (++names->n > ((size_t)1 << names->bits) / 2)
		grow(names);
	index_text(names, entry);
	names->log = memory_room(names->log, names->n_log, sizeof(*names->log));
	names->log[names->n_log++] = name->id;
	return true;
}

static int learn(struct names *names, const struct name *name, bool own)
{
	const struct name *known = names_find(names, name->id);

	if (known && same(known, name))
		return 0;
	errno = EPROTO;
	if (name->level >= LEVEL_COUNT || !text_sound(name->text, name->level) ||
	    names->n_log >= NAMES_CHANGES_MAX || (!known && names->n >= NAMES_MAX))
		return -1;
	errno = ENOBUFS;
	if (!insert(names, name, own))
		return -1;
	if (name->level == LEVEL_ELEMENT && name_place(name->id) == names->place)
		tellers_own(names->tellers, TELLER_SELF, name->rank);
	return 0;
}

int names_learn_born(struct names *names, const struct name *name)
{
	return learn(names, name, true);
}

int names_learn(struct names *names, uint32_t id, enum level level, int32_t rank, uint16_t channel,
		const char *text)
{
	return names_learn_born(
		names, &(struct name){id, rank, level, channel, (char *)(uintptr_t)text, 0});
}

int names_hear(struct names *names, const struct name *name)
{
	return learn(names, name, false);
}

/* ---- levels ---- */

/* The id of the name that is @entry's prefix at @level, by text, in @group, or @entry's own id.
 * Returns false if the memory is not granted; it may be next time. */
static bool group_find(struct names *names, const struct names_entry *entry, enum level level,
		       uint32_t *group)
{
	const struct name *name = &entry->name;
	int bytes = prefix_bytes(name->text, level_parts[level]);
	char key[1 + NAME_BYTES];
	struct names_entry *first;
	struct name made;
	uint32_t id;

	*group = name->id;
	if (bytes < 0)
		return true;
	key[0] = (char)('0' + level);
	memcpy(key + 1, name->text, (size_t)bytes);
	if (bytes == 0)
		key[1 + bytes++] = '/';
	key[1 + bytes] = '\0';
	HASH_FIND(by_text, names->texts, key, (size_t)bytes + 1, first);
	if (first) {
		*group = first->name.id;
		return true;
	}
	while (names->next_local > 0 && names_find(names, name_id(names->place, names->next_local)))
		names->next_local--;
	if (names->n >= NAMES_MAX || names->next_local == 0)
		return true;
	id = name_id(names->place, names->next_local);
	made = (struct name){id, level == LEVEL_THREAD ? name->rank : -1, level, 0, key + 1, 0};
	if (!insert(names, &made, entry->own))
		return false;
	*group = id;
	return true;
}

uint32_t names_group(struct names *names, uint32_t id, enum level level)
{
	struct slot *slot = find_slot(names, id);
	const struct names_entry *entry = slot->entry;
	uint32_t group = id;
	bool granted = true;

	if (!entry)
		return 0;
	if (slot->generation == names->generation && slot->group[level])
		return slot->group[level];
	if (entry->name.level < level)
		granted = group_find(names, entry, level, &group);
	else if (!entry->said_first)
		granted = group_find(names, entry, entry->name.level, &group);
	if (!granted)
		return group;
	/* group_find() may have added a name, and moved the slots */
	slot = find_slot(names, id);
	if (slot->generation != names->generation)
		memset(slot->group, 0, sizeof(slot->group));
	slot->generation = names->generation;
	slot->group[level] = group;
	return group;
}

/* ---- announcing ---- */

size_t names_count(const struct names *names)
{
	return names->n_log;
}

const struct name *names_at(const struct names *names, size_t i)
{
	return names_find(names, names->log[i]);
}
