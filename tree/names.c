/* SPDX-License-Identifier: BSD-3-Clause */
/* Names: found by id in a small table, by text when a level is folded, announced in order of
 * coming. */
#include "tree/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "pathmap/memory.h"
#include "tree/process.h"

struct entry {
	struct name name;
	UT_hash_handle by_text; /* only the entry that was first to say its key */
	int said_first;
	char key[]; /* '0' + level, then the text: a node outside clusters makes "/" a cluster, too
		     */
};

/* What every run of every wave asks for, side by side. */
struct slot {
	uint32_t id;
	unsigned generation;	     /* of names, when group was filled in */
	uint32_t group[LEVEL_COUNT]; /* what names_group() says, 0 until asked for */
	struct entry *entry;	     /* NULL: free */
};

struct comm {
	struct name_comm comm;
	UT_hash_handle by_id;
};

struct names {
	uint32_t place;
	uint32_t next_local; /* the number that names_group() gives out next */
	struct slot *slots;  /* open addressing by id */
	unsigned bits;	     /* 1 << bits slots */
	size_t n;
	struct entry *texts;
	unsigned generation; /* counts replacements: conclusions from before are void */
	uint32_t *log;	     /* ids in order of coming */
	size_t n_log;
	struct comm *comms;
	struct comm **comm_log;
	size_t n_comm_log;
	size_t n_members; /* of all communicators */
};

/* ---- by id ---- */

static size_t slot_of(const struct names *names, uint32_t id)
{
	/* Fibonacci hashing: ids of one place count up, this spreads them evenly. */
	return (id * UINT32_C(2654435769)) >> (32 - names->bits);
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

struct names *names_new(uint32_t place)
{
	struct names *names = memory_new(1, sizeof(*names));

	names->place = place;
	names->next_local = NAME_LOCAL_MAX;
	names->bits = 6;
	names->slots = memory_new((size_t)1 << names->bits, sizeof(*names->slots));
	return names;
}

void names_free(struct names *names)
{
	struct comm *comm, *next;

	if (!names)
		return;
	HASH_CLEAR(by_text, names->texts);
	for (size_t i = 0; i < (size_t)1 << names->bits; i++)
		free(names->slots[i].entry);
	HASH_ITER(by_id, names->comms, comm, next)
	{
		HASH_DELETE(by_id, names->comms, comm);
		free(comm->comm.members);
		free(comm->comm.label);
		free(comm);
	}
	free(names->slots);
	free(names->log);
	free(names->comm_log);
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

const struct name *names_find(const struct names *names, uint32_t id)
{
	const struct entry *entry = find_slot(names, id)->entry;

	return entry ? &entry->name : NULL;
}

/* ---- learning ---- */

/* The number of parts that a name of this level has. */
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
		/* Only a cluster may be without a name. */
		if (text[i] == '/' && ++parts > 1 && (text[i + 1] == '/' || text[i + 1] == '\0'))
			return 0;
	}
	return parts == level_parts[level];
}

static struct entry *entry_new(uint32_t id, enum level level, int32_t rank, uint16_t channel,
			       const char *text, size_t length)
{
	struct entry *entry = memory_new(1, sizeof(*entry) + length + 2);

	entry->key[0] = (char)('0' + level);
	memcpy(entry->key + 1, text, length);
	entry->name = (struct name){
		.id = id,
		.rank = rank,
		.level = (uint16_t)level,
		.channel = channel,
		.text = entry->key + 1,
	};
	return entry;
}

static void index_text(struct names *names, struct entry *entry)
{
	size_t length = strlen(entry->key);
	struct entry *first;

	HASH_FIND(by_text, names->texts, entry->key, length, first);
	if (first)
		return;
	HASH_ADD_KEYPTR(by_text, names->texts, entry->key, length, entry);
	entry->said_first = 1;
}

static int same(const struct name *name, enum level level, int32_t rank, uint16_t channel,
		const char *text)
{
	return name->level == level && name->rank == rank && name->channel == channel &&
	       strcmp(name->text, text) == 0;
}

static void insert(struct names *names, struct entry *entry)
{
	struct slot *slot = find_slot(names, entry->name.id);

	if (slot->entry) {
		if (slot->entry->said_first)
			HASH_DELETE(by_text, names->texts, slot->entry);
		free(slot->entry);
		names->generation++;
		names->n--;
	}
	*slot = (struct slot){.id = entry->name.id, .entry = entry};
	if (++names->n > ((size_t)1 << names->bits) / 2)
		grow(names);
	index_text(names, entry);
	names->log = memory_room(names->log, names->n_log, sizeof(*names->log));
	names->log[names->n_log++] = entry->name.id;
}

int names_learn(struct names *names, uint32_t id, enum level level, int32_t rank, uint16_t channel,
		const char *text)
{
	const struct name *known = names_find(names, id);

	if (known && same(known, level, rank, channel, text))
		return 0;
	if (level >= LEVEL_COUNT || !text_sound(text, level) || names->n_log >= NAMES_CHANGES_MAX ||
	    (!known && names->n >= NAMES_MAX)) {
		errno = EPROTO;
		return -1;
	}
	insert(names, entry_new(id, level, rank, channel, text, strlen(text)));
	return 0;
}

/* ---- levels ---- */

/* The id of the name that is @name's prefix at @level, by text. */
static uint32_t group_find(struct names *names, const struct name *name, enum level level)
{
	int bytes = prefix_bytes(name->text, level_parts[level]);
	char key[1 + NAME_BYTES];
	struct entry *first;
	uint32_t id;

	if (bytes < 0)
		return name->id;
	key[0] = (char)('0' + level);
	memcpy(key + 1, name->text, (size_t)bytes);
	if (bytes == 0)
		key[1 + bytes++] = '/';
	HASH_FIND(by_text, names->texts, key, (size_t)bytes + 1, first);
	if (first)
		return first->name.id;
	while (names->next_local > 0 && names_find(names, name_id(names->place, names->next_local)))
		names->next_local--;
	if (names->n >= NAMES_MAX || names->next_local == 0)
		return name->id;
	id = name_id(names->place, names->next_local);
	insert(names, entry_new(id, level, level == LEVEL_THREAD ? name->rank : -1, 0, key + 1,
				(size_t)bytes));
	return id;
}

uint32_t names_group(struct names *names, uint32_t id, enum level level)
{
	struct slot *slot = find_slot(names, id);
	const struct entry *entry = slot->entry;
	uint32_t group = id;

	if (!entry)
		return 0;
	if (slot->generation == names->generation && slot->group[level])
		return slot->group[level];
	if (entry->name.level < level)
		group = group_find(names, &entry->name, level);
	else if (!entry->said_first)
		group = group_find(names, &entry->name, entry->name.level);
	/* What was found may have been made, and have moved the slots. */
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

/* ---- communicators ---- */

static int compare_members(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool is_group(const struct name_comm *comm)
{
	return comm->members && comm->size && process_is_task(comm->members[0]);
}

/* Make the members of @comm, a copy, all that are in one of the two. */
static void comm_join(struct name_comm *comm, const struct name_comm *other)
{
	size_t all = (size_t)comm->size + other->size, kept = 0;
	int32_t *members = memory_new(all, sizeof(*members));

	memcpy(members, other->members, other->size * sizeof(*members));
	memcpy(members + other->size, comm->members, comm->size * sizeof(*members));
	qsort(members, all, sizeof(*members), compare_members);
	for (size_t i = 0; i < all; i++)
		if (kept == 0 || members[i] != members[kept - 1])
			members[kept++] = members[i];
	free(comm->members);
	comm->members = members;
	comm->size = (uint32_t)kept;
}

/* One that was joined is sorted. */
static bool group_has_all(const struct name_comm *group, const struct name_comm *other)
{
	for (uint32_t i = 0; i < other->size; i++) {
		if (!bsearch(&other->members[i], group->members, group->size,
			     sizeof(*group->members), compare_members))
			return false;
	}
	return true;
}

enum news { NEWS_NONE, NEWS_MORE, NEWS_ELSE };

/* What @comm adds to what is @known. */
static enum news comm_news(const struct name_comm *known, const struct name_comm *comm)
{
	size_t bytes = comm->size * sizeof(*comm->members);

	if (known->label || known->parent != comm->parent || known->world != comm->world)
		return NEWS_ELSE;
	if (is_group(known) && is_group(comm)) {
		if (group_has_all(known, comm))
			return NEWS_NONE;
		return known->size + comm->size <= NAMES_MEMBER_MAX ? NEWS_MORE : NEWS_ELSE;
	}
	if (known->size != comm->size)
		return NEWS_ELSE;
	if (!known->members && comm->members && !known->world)
		return NEWS_MORE;
	return !comm->members ||
			       (known->members && memcmp(known->members, comm->members, bytes) == 0)
		       ? NEWS_NONE
		       : NEWS_ELSE;
}

/* Put in @comm, whose members are ours from now on. */
static void comm_put(struct names *names, struct comm *known, const struct name_comm *comm)
{
	if (known) {
		names->n_members -= known->comm.members ? known->comm.size : 0;
		free(known->comm.members);
	} else {
		known = memory_new(1, sizeof(*known));
		known->comm.id = comm->id;
		HASH_ADD(by_id, names->comms, comm.id, sizeof(comm->id), known);
	}
	known->comm = *comm;
	names->n_members += comm->members ? comm->size : 0;
	names->comm_log = memory_room(names->comm_log, names->n_comm_log, sizeof(struct comm *));
	names->comm_log[names->n_comm_log++] = known;
}

int names_comm_learn(struct names *names, uint32_t id, uint32_t parent, uint32_t size, int world,
		     const int32_t *members)
{
	struct name_comm comm = {id, parent, size, (int32_t *)(uintptr_t)members, world, NULL};
	struct comm *known;
	enum news news = NEWS_MORE;

	HASH_FIND(by_id, names->comms, &id, sizeof(id), known);
	if (members && size > NAMES_MEMBER_MAX)
		news = NEWS_ELSE;
	else if (known)
		news = comm_news(&known->comm, &comm);
	if (news == NEWS_NONE)
		return 0;
	if (id == 0 || news == NEWS_ELSE || names->n_comm_log >= NAMES_COMM_MAX ||
	    (members && size > NAMES_MEMBERS_MAX - names->n_members)) {
		errno = EPROTO;
		return -1;
	}
	if (members)
		comm.members = (void *)memory_copy_bytes(members, size * sizeof(*members));
	if (known && is_group(&comm))
		comm_join(&comm, &known->comm);
	comm_put(names, known, &comm);
	return 0;
}

int names_label_learn(struct names *names, uint32_t id, const char *text)
{
	size_t length = strnlen(text, NAME_BYTES);
	bool sound = length < NAME_BYTES;
	struct comm *known;

	HASH_FIND(by_id, names->comms, &id, sizeof(id), known);
	if (known)
		return 0;
	for (size_t i = 0; i < length; i++)
		sound = sound && text[i] >= ' ' && text[i] <= '~';
	if (id == 0 || !sound || names->n_comm_log >= NAMES_COMM_MAX) {
		errno = EPROTO;
		return -1;
	}
	known = memory_new(1, sizeof(*known));
	known->comm.id = id;
	known->comm.label = memory_new(length + 1, 1);
	memcpy(known->comm.label, text, length);
	HASH_ADD(by_id, names->comms, comm.id, sizeof(id), known);
	names->comm_log = memory_room(names->comm_log, names->n_comm_log, sizeof(struct comm *));
	names->comm_log[names->n_comm_log++] = known;
	return 0;
}

const char *names_label_find(const struct names *names, uint32_t id)
{
	const struct name_comm *comm = names_comm_find(names, id);

	return comm ? comm->label : NULL;
}

const struct name_comm *names_comm_find(const struct names *names, uint32_t id)
{
	struct comm *known;

	HASH_FIND(by_id, names->comms, &id, sizeof(id), known);
	return known ? &known->comm : NULL;
}

size_t names_comm_count(const struct names *names)
{
	return names->n_comm_log;
}

const struct name_comm *names_comm_at(const struct names *names, size_t i)
{
	return &names->comm_log[i]->comm;
}
