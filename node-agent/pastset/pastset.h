/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a program's element: making, opening without belief, and reading its ring. */
#ifndef EVSPACE_PASTSET_H
#define EVSPACE_PASTSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "node-agent/pastset/pastset-layout.h"
#include "pathmap/base/error.h"
#include "tree/data/fields.h"

/** What an element is to be. */
struct pastset_plan {
	const char *name;
	const char *run;
	const struct fields *fields;
	uint32_t capacity;   /* 1 to PASTSET_CAPACITY_MAX */
	int32_t wait_ms;     /* pastset_header.wait_ms */
	uint64_t quota;	     /* segment_room.quota */
	const char *made_by; /* node of whose map it is; NULL: none */
};

/** A mapped element. */
struct pastset {
	struct pastset_header said; /* checked copy; nothing is read from the file's */
	struct fields fields;	    /* likewise */
	struct pastset_live *live;
	struct pastset_reader *readers;
	char *slots;
	void *map;
	size_t size;
	dev_t device;
	ino_t inode;
	int fd; /* says, by a shared flock(2), that the file is in use; -1 unless writable */
};

/**
 * Make the file "NAME.elem", mode 0600, its memory reserved, in the run's folder @dir, which
 * messages call @path. It gets its name when it is whole. Returns 0, or -1 with errno (EEXIST:
 * there is one) and @e.
 */
int pastset_make(int dir, const char *path, const struct pastset_plan *plan, struct error *e);

/** Map the element @name, after checking owner, mode and all that its header says. Who does not map
 * it @writable leaves no trace. Returns 0, or -1 with errno (ENOENT: there is none) and @e. */
int pastset_open(struct pastset *p, int dir, const char *path, const char *name, bool writable,
		 struct error *e);

/** The rank of the process that has made it, -1: not known. */
static inline int32_t pastset_rank(const struct pastset_header *said)
{
	return said->rank_and_one > 0 ? said->rank_and_one - 1 : -1;
}

/** Unmap it; the file stays. */
void pastset_close(struct pastset *p);

/** The number of tuples ever written. */
static inline uint64_t pastset_head(const struct pastset *p)
{
	return atomic_load_explicit(&p->live->head, memory_order_acquire);
}

/** The oldest tuple that a writer at @head cannot be overwriting. */
static inline uint64_t pastset_oldest(const struct pastset *p, uint64_t head)
{
	return head > p->said.capacity ? head - p->said.capacity : 0;
}

/** The slot of a tuple: its time, then its words. */
static inline char *pastset_slot(const struct pastset *p, uint64_t number)
{
	return p->slots + number % pastset_slots(&p->said) * p->said.slot_bytes;
}

/** Copy tuple @number (p->fields.bytes of it) and its time. Returns 1, or 0: it is not written yet,
 * was overwritten, or may have been meanwhile. Never waits. */
int pastset_read(const struct pastset *p, uint64_t number, uint64_t *ticks, void *tuple);

#endif
