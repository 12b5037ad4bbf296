/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives communicators their ids and members without any communication
 * (docs/decisions/0023-communicator-ids.md). */
#include "node-agent/collect/mpi/mpi-comm.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "node-agent/collect/core/collect.h"
#include "node-agent/collect/mpi/mpi-library.h"
#include "node-agent/collect/mpi/mpi-table.h"
#include "node-agent/segment/segment-table.h"

#define COMM_BITS 7
#define COMMS	  (MPI_TABLE_WAYS << COMM_BITS)
#define COMINGS	  64

/** Rounds are kept forever, so there is room for many; unused pages take no memory. */
#define ROUND_BITS 13

/** Ranks to translate at a time. */
#define CHUNK 256

_Atomic uint32_t mpi_comm_epoch = 1;

static struct mpi_table_bucket buckets[1 << COMM_BITS];
static _Atomic uint32_t seconds;
static const struct mpi_table table = {.buckets = buckets, .bits = COMM_BITS, .seconds = &seconds};
static struct mpi_comm comms[COMMS];
struct mpi_comm mpi_comm_none;

/** A communicator that MPI_Comm_idup is making. */
struct mpi_comm_coming {
	struct mpi_place where;
	struct mpi_comm record;
	_Atomic bool used;
};

static struct mpi_comm_coming comings[COMINGS];

/* Counts how often the same members made a communicator with the same tag, so that each gets
 * another id. Other threads may use other tags. */
static struct mpi_table_bucket round_buckets[1 << ROUND_BITS];
static _Atomic uint32_t round_seconds;
static const struct mpi_table rounds = {
	.buckets = round_buckets, .bits = ROUND_BITS, .seconds = &round_seconds};
static uint32_t rounds_made[MPI_TABLE_WAYS << ROUND_BITS];

/* One step of hashing words (the finaliser of MurmurHash3 after each). */
static uint32_t hash_add(uint32_t hash, uint32_t word)
{
	hash = (hash ^ word) * 0x9e3779b1u;
	hash = (hash ^ hash >> 16) * 0x85ebca6bu;
	hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
	return hash ^ hash >> 16;
}

static uint32_t hash_id(uint32_t parent, uint32_t n, uint32_t leader)
{
	uint32_t hash = hash_add(hash_add(hash_add(1, parent), n), leader);

	return hash ? hash : 1;
}

uint32_t mpi_comm_name_hash(const char *name)
{
	uint32_t hash = 1;

	while (*name)
		hash = hash_add(hash, (unsigned char)*name++);
	return hash ? hash : 1;
}

uint32_t mpi_comm_next_rarely(struct mpi_comm *at)
{
	collect_classes_check(&at->classes);
	return mpi_comm_next(at);
}

struct mpi_comm *mpi_comm_find(uintptr_t key)
{
	/* read before the search: after a change meanwhile, the result is of an old epoch */
	uint32_t epoch = atomic_load_explicit(&mpi_comm_epoch, memory_order_acquire);
	int slot = mpi_table_find(&table, key);

	if (slot < 0)
		return &mpi_comm_none;
	/* a signal handler may do the same in between: then this entry is of no valid epoch */
	mpi_comm_last.epoch = epoch - 1;
	atomic_signal_fence(memory_order_seq_cst);
	mpi_comm_last.key = key;
	mpi_comm_last.at = &comms[slot];
	atomic_signal_fence(memory_order_seq_cst);
	mpi_comm_last.epoch = mpi_comm_last.key == key ? epoch : epoch - 1;
	return &comms[slot];
}

/* Channels of collectives on communicators, and on windows and files. */
#define ON_COMMS (1u << CHANNEL_COLLECTIVE)
#define ON_THOSE (1u << CHANNEL_RMA | 1u << CHANNEL_IO)

static void note_full(void)
{
	atomic_fetch_or(&collect.segment->header->note, SEGMENT_NOTE_COMMS);
}

/* The next ordinal of @base, from 1; 0: no room. It is never freed, since no ordinal may repeat. */
static uint32_t round_next(uint32_t base)
{
	uintptr_t key = (uintptr_t)base << 3; /* tables expect addresses */
	int slot = mpi_table_claim(&rounds, key);
	uint32_t n;

	if (slot < 0) {
		note_full();
		return 0;
	}
	n = ++rounds_made[slot];
	mpi_table_release(&rounds, slot, key);
	return n;
}

/* Returns the record in the table, NULL: there is no room. */
static struct mpi_comm *record_put(uintptr_t key, const struct mpi_comm *record, uint32_t numbered)
{
	int slot = mpi_table_claim(&table, key);

	if (slot < 0) {
		note_full();
		return NULL;
	}
	comms[slot] = *record;
	collect_classes_init(&comms[slot].classes, record->id);
	collect_classes_number(&comms[slot].classes, numbered);
	mpi_table_release(&table, slot, key);
	atomic_fetch_add_explicit(&mpi_comm_epoch, 1, memory_order_release);
	return &comms[slot];
}

struct mpi_comm mpi_comm_forget(uintptr_t key)
{
	int slot = mpi_table_hold(&table, key);
	struct mpi_comm record = slot < 0 ? mpi_comm_none : comms[slot];

	if (slot >= 0) {
		/* requests still under way then complete on no communicator */
		collect_classes_init(&comms[slot].classes, 0);
		atomic_fetch_add_explicit(&mpi_comm_epoch, 1, memory_order_release);
		mpi_table_release(&table, slot, 0);
	}
	return record;
}

void mpi_comm_restore(uintptr_t key, const struct mpi_comm *record)
{
	struct mpi_comm *c = record->id ? record_put(key, record, record->classes.numbered) : NULL;

	if (c)
		c->classes = record->classes;
}

void mpi_comm_freed(const struct mpi_comm *record)
{
	segment_class_leave(collect.segment, record->id);
	segment_comm_leave(collect.segment, record->id);
}

/** The two sides of a communicator, the one with the lower leader first; an intracommunicator
 * has one. */
struct sides {
	MPI_Group groups[2], world;
	int sizes[2];
	int32_t leaders[2];
	int n;		 /* sides */
	int local;	 /* our own side */
	bool foreign;	 /* some members are of other worlds, with unknown ranks there */
	uint32_t hash;	 /* of the members */
	uint32_t leader; /* first member; hash and leader are the same on all members */
	int32_t *room;	 /* world ranks of all members in the segment; NULL: no room left */
};

static int32_t leader_find(MPI_Group group, MPI_Group world)
{
	int zero = 0, rank = MPI_UNDEFINED;

	mpi.Group_translate_ranks(group, 1, &zero, world, &rank);
	return rank;
}

/* Add the ranks of a side in @among to the hash, and if there is room to @out. */
static void side_translate(struct sides *s, int side, MPI_Group among, int32_t *out)
{
	int from[CHUNK], to[CHUNK];

	for (int done = 0; done < s->sizes[side]; done += CHUNK) {
		int k = s->sizes[side] - done < CHUNK ? s->sizes[side] - done : CHUNK;

		for (int i = 0; i < k; i++)
			from[i] = done + i;
		mpi.Group_translate_ranks(s->groups[side], k, from, among, to);
		for (int i = 0; i < k; i++) {
			int32_t rank = to[i] >= 0 ? to[i] : TUPLE_FOREIGN_PEER - (done + i);

			s->foreign |= to[i] < 0;
			s->hash = hash_add(s->hash, (uint32_t)rank);
			if (out)
				out[done + i] = rank;
		}
	}
}

static void sides_order(struct sides *s)
{
	MPI_Group group = s->groups[0];

	s->leaders[0] = leader_find(s->groups[0], s->world);
	s->leaders[1] = s->n > 1 ? leader_find(s->groups[1], s->world) : s->leaders[0];
	if (s->leaders[1] >= s->leaders[0])
		return;
	s->groups[0] = s->groups[1];
	s->groups[1] = group;
	s->leaders[0] = s->leaders[1];
	s->local = 1;
}

/* The sides of an intercommunicator with other worlds have no common order, so hash the ranks of
 * the two leaders in ascending order. */
static void sides_meet(struct sides *s, MPI_Comm parent)
{
	MPI_Group local, remote;
	uint32_t ours, theirs;

	s->leader = 0;
	if (s->n < 2 || mpi.Comm_group(parent, &local) != MPI_SUCCESS)
		return; /* merged: there is only one */
	if (mpi.Comm_remote_group(parent, &remote) == MPI_SUCCESS) {
		ours = (uint32_t)leader_find(s->groups[s->local], local);
		theirs = (uint32_t)leader_find(s->groups[!s->local], remote);
		s->leader = hash_add(hash_add(1, ours < theirs ? ours : theirs),
				     ours < theirs ? theirs : ours);
		mpi.Group_free(&remote);
	}
	mpi.Group_free(&local);
}

/* If there are other worlds, members agree only on the ranks in @parent. */
static void sides_within(struct sides *s, MPI_Comm parent)
{
	MPI_Group group;
	int inter = 0;

	if (mpi.Comm_test_inter(parent, &inter) != MPI_SUCCESS)
		return;
	if (inter) {
		sides_meet(s, parent);
	} else if (mpi.Comm_group(parent, &group) == MPI_SUCCESS) {
		s->hash = 1;
		side_translate(s, 0, group, NULL);
		s->leader = (uint32_t)leader_find(s->groups[0], group);
		mpi.Group_free(&group);
	}
}

/* Find the members of @comm, which was made from @parent (MPI_COMM_NULL: no other worlds). */
static bool sides_find(struct sides *s, MPI_Comm comm, MPI_Comm parent)
{
	int inter = 0;

	*s = (struct sides){.n = 1};
	if (mpi.Comm_test_inter(comm, &inter) != MPI_SUCCESS ||
	    mpi.Comm_group(comm, &s->groups[0]) != MPI_SUCCESS)
		return false;
	mpi.Comm_group(mpi.world, &s->world);
	if (inter)
		s->n += mpi.Comm_remote_group(comm, &s->groups[1]) == MPI_SUCCESS;
	sides_order(s);
	for (int i = 0; i < s->n; i++)
		mpi.Group_size(s->groups[i], &s->sizes[i]);
	s->room = segment_members_take(collect.segment, (uint32_t)(s->sizes[0] + s->sizes[1]));
	s->hash = hash_add(1, (uint32_t)s->sizes[1]);
	for (int i = 0; i < s->n; i++)
		side_translate(s, i, s->world, s->room && i ? s->room + s->sizes[0] : s->room);
	s->leader = (uint32_t)s->leaders[0];
	if (parent != mpi.comm_null)
		sides_within(s, parent);
	for (int i = 0; i < s->n; i++)
		mpi.Group_free(&s->groups[i]);
	mpi.Group_free(&s->world);
	return true;
}

/* The id, which all members compute alike: @n is the parent's count, or what members share if
 * counts differ. 0: no room to make it unique. */
static uint32_t id_make(const struct mpi_comm *parent, enum mpi_comm_how how, uint32_t n, int tag,
			const struct sides *sides)
{
	uint32_t base, nth;

	if (how == MPI_COMM_SAME || how == MPI_COMM_SUB)
		return hash_id(parent->id, n, sides->leader);
	/* the sides share no number, so each has its own id */
	if (how >= MPI_COMM_INTER && sides->foreign)
		return hash_id(parent->id, n, parent->leader);
	base = hash_id(how == MPI_COMM_GROUP ? parent->id : 0, (uint32_t)tag, sides->hash);
	nth = round_next(base);
	return nth ? hash_id(base, nth, sides->leader) : 0;
}

/* The number of destinations (MPI-3.1 7.6: Cartesian 2 per dimension, graph its degree). */
static uint32_t neighbors_count(MPI_Comm comm, int rank)
{
	int kind = MPI_UNDEFINED, n = 0, in, weighted;

	if (mpi.Topo_test(comm, &kind) != MPI_SUCCESS)
		return 0;
	if (kind == MPI_CART && mpi.Cartdim_get(comm, &n) == MPI_SUCCESS)
		n *= 2;
	else if (kind == MPI_GRAPH)
		mpi.Graph_neighbors_count(comm, rank, &n);
	else if (kind == MPI_DIST_GRAPH)
		mpi.Dist_graph_neighbors_count(comm, &in, &n, &weighted);
	return n > 0 ? (uint32_t)n : 0;
}

/* Record it in the segment, and use the list of members there. An intercommunicator, whose sides
 * were made of different ones, has itself for a parent: only a world has none. */
static void members_record(struct mpi_comm *c, const struct sides *s, uint32_t parent)
{
	int other = s->n > 1 ? !s->local : s->local;

	c->all = (uint32_t)(s->sizes[0] + s->sizes[1]);
	c->peers = (uint32_t)s->sizes[other];
	c->members = s->room ? segment_members_keep(collect.segment, s->room, c->all)
			     : SEGMENT_MEMBERS_UNKNOWN;
	segment_comm_add(collect.segment, c->id, parent, c->all, c->members);
	if (c->members == SEGMENT_MEMBERS_UNKNOWN)
		return;
	c->ranks.n = s->sizes[other];
	c->ranks.first = other ? s->sizes[0] : 0;
	if (c->members != SEGMENT_MEMBERS_WORLD)
		c->ranks.world = segment_members_at(collect.segment, c->members);
}

static struct mpi_comm copy_make(struct mpi_comm *parent, uint32_t n)
{
	struct mpi_comm c = *parent;

	c.id = hash_id(parent->id, n, parent->leader);
	c.made = 0;
	segment_comm_add(collect.segment, c.id, parent->id, parent->all, parent->members);
	return c;
}

/* Ask the library for all facts of a communicator but its id. */
static bool record_ask(struct mpi_comm *c, struct sides *sides, MPI_Comm made, MPI_Comm parent)
{
	int size = 0;

	*c = (struct mpi_comm){.id = 0};
	if (mpi.Comm_rank(made, &c->rank) != MPI_SUCCESS ||
	    mpi.Comm_size(made, &size) != MPI_SUCCESS || !sides_find(sides, made, parent))
		return false;
	c->size = (uint32_t)size;
	c->leader = sides->leader;
	c->foreign = sides->foreign;
	c->neighbors = neighbors_count(made, c->rank);
	return true;
}

void mpi_comm_add(MPI_Comm made, struct mpi_comm *parent, MPI_Comm from, enum mpi_comm_how how,
		  int tag)
{
	/* only the group's members make it, so the parent's count must not change */
	uint32_t n = how == MPI_COMM_GROUP ? 0 : atomic_fetch_add(&parent->made, 1);
	struct mpi_comm c;
	struct sides sides;

	if (made == mpi.comm_null || !parent->id)
		return;
	if (how == MPI_COMM_SAME) {
		c = copy_make(parent, n);
	} else {
		if (!record_ask(&c, &sides, made, parent->foreign ? from : mpi.comm_null))
			return;
		c.id = id_make(parent, how, n, tag, &sides);
		if (!c.id)
			return;
		members_record(&c, &sides, how >= MPI_COMM_INTER ? c.id : parent->id);
	}
	record_put(mpi_comm_key(made), &c, ON_COMMS);
}

uint32_t mpi_comm_id_next(struct mpi_comm *parent)
{
	uint32_t n = atomic_fetch_add(&parent->made, 1);

	return parent->id ? hash_id(parent->id, n, parent->leader) : 0;
}

void mpi_comm_add_as(MPI_Comm made, uint32_t id)
{
	struct mpi_comm c;
	struct sides sides;

	if (made == mpi.comm_null || !id || !record_ask(&c, &sides, made, mpi.comm_null))
		return;
	c.id = id;
	members_record(&c, &sides, id);
	record_put(mpi_comm_key(made), &c, ON_COMMS);
}

void mpi_comm_copy(uintptr_t key, struct mpi_comm *parent)
{
	uint32_t n = atomic_fetch_add(&parent->made, 1);
	struct mpi_comm c;

	if (!parent->id)
		return;
	c = copy_make(parent, n);
	record_put(key, &c, ON_THOSE);
}

struct mpi_comm_coming *mpi_comm_expect(struct mpi_comm *parent, struct mpi_place where)
{
	uint32_t n = atomic_fetch_add(&parent->made, 1);

	for (int i = 0; parent->id && i < COMINGS; i++) {
		struct mpi_comm_coming *c = &comings[i];
		bool used = false;

		if (!atomic_compare_exchange_strong(&c->used, &used, true))
			continue;
		c->where = where;
		c->record = copy_make(parent, n);
		return c;
	}
	return NULL;
}

void mpi_comm_arrived(struct mpi_comm_coming *coming, bool made)
{
	MPI_Comm comm = made ? mpi_place_comm(coming->where) : mpi.comm_null;

	if (comm != mpi.comm_null)
		record_put(mpi_comm_key(comm), &coming->record, ON_COMMS);
	atomic_store(&coming->used, false);
}

/* Make the classes of MPI_COMM_WORLD, as it may be switched by its name before its first use. */
static void world_put(const struct mpi_comm *record)
{
	static const unsigned channels[] = {CHANNEL_P2P, CHANNEL_COLLECTIVE, CHANNEL_COMPLETION,
					    CHANNEL_COMM};
	struct mpi_comm *c = record_put(mpi_comm_key(mpi.world), record, ON_COMMS);

	for (unsigned i = 0; c && i < sizeof(channels) / sizeof(channels[0]); i++)
		collect_classes_make(&c->classes, channels[i]);
}

void mpi_comm_init(uint32_t world, int rank, int size)
{
	struct mpi_comm c = {
		.ranks = {.n = size},
		.id = world,
		.rank = rank,
		.size = (uint32_t)size,
		.peers = (uint32_t)size,
		.members = SEGMENT_MEMBERS_WORLD,
		.all = (uint32_t)size,
	};
	struct sides self = {.sizes = {1}, .n = 1};

	collect_classes_init(&mpi_comm_none.classes, 0);
	segment_comm_add(collect.segment, world, 0, c.all, c.members);
	world_put(&c);
	self.room = segment_members_take(collect.segment, 1);
	if (self.room)
		*self.room = rank;
	c = (struct mpi_comm){.size = 1, .leader = (uint32_t)rank};
	c.id = hash_id(world, UINT32_MAX, (uint32_t)rank);
	members_record(&c, &self, world);
	record_put(mpi_comm_key(mpi.self), &c, ON_COMMS);
}
