/* SPDX-License-Identifier: BSD-3-Clause */
/* The mirror: an agent's copy of one element of another node, a file in shared memory. */
#ifndef EVSPACE_MIRROR_H
#define EVSPACE_MIRROR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "node-agent/segment/element.h"
#include "node-agent/segment/segment-mark.h"
#include "pathmap/base/error.h"
#include "pathmap/model/pathmap.h"
#include "pathmap/model/pattern.h"
#include "tree/data/clock.h"

/** Room for the name of a mirror's file. */
#define MIRROR_FILE 96

/** The element that is mirrored. Plain data. */
struct mirror_origin {
	char run[64];
	char node[64];	       /* where its process is */
	char process[48];      /* its name now: "rank3", or "rank3.4711" if there is a newer one */
	char rest[NAME_BYTES]; /* the name's end: "t0/p2p" */
	int32_t pid;
	int32_t rank; /* in the program's world; -1: of another world */
	uint32_t channel;
	bool ended; /* its process has ended */
};

/** The first page of the file. The ring follows; its tuples have the element's numbers. */
struct mirror_header {
	char magic[8];
	uint32_t version;
	uint32_t tuple_layout;
	uint64_t byte_order;
	uint64_t size;
	char holder[64]; /* the node whose agent fetches it */
	struct mirror_origin origin;
	uint32_t capacity;
	_Atomic uint32_t cost_ps; /* of one event in its process, on average, as last heard */
	_Atomic uint64_t lifetime_ns;
	struct clock_pair born;	       /* times are ticks of this host's clock */
	_Atomic uint64_t error_ns;     /* bound of the error of times */
	_Atomic uint64_t died_mono_ns; /* since when its process is not seen alive; 0: it lives */
	struct segment_mark mark;
};

/** What to make. */
struct mirror_plan {
	struct mirror_origin origin;
	const char *holder;
	uint32_t capacity;
	uint64_t lifetime_ns;
};

/** A mapped mirror. Fields are copies, and stay right if the file changes. */
struct mirror {
	struct mirror_header *header;
	struct element_ring *ring;
	size_t size;
	uint32_t capacity;
	uint64_t error_ns;
	struct clock_pair born;
	struct mirror_origin origin;
	char holder[64];
	dev_t device;
	ino_t inode;
};

/** The mirror has a placeholder for each missing tuple, which says why it is missing. */
enum mirror_hole { HOLE_NONE, HOLE_LOST, HOLE_DISCARDED };

static inline enum mirror_hole mirror_hole(const struct tuple *t)
{
	return t->start || t->end ? HOLE_NONE : t->flags ? HOLE_DISCARDED : HOLE_LOST;
}

/** Write the file name of this element's mirror at @holder: "rank3.4711.4c2d….mirror". Returns
 * @buf. */
const char *mirror_file(char buf[MIRROR_FILE], const struct mirror_origin *origin,
			const char *holder);

/** Make the file in the run's folder @dir and reserve its memory. Returns 0, or -1 with errno
 * and @e. */
int mirror_create(const char *dir, const struct mirror_plan *plan, struct error *e);

/** Map one after checking everything in it. Returns 0, or -1 with errno and @e. */
int mirror_open(struct mirror *m, const char *dir, const char *file, struct error *e);
void mirror_close(struct mirror *m);

/** Tuples of an element that came together: `count` tuples from number `first` on, whose times
 * `line` makes nanoseconds. `gone` tuples before them were lost, or discarded. */
struct mirror_news {
	const struct tuple *tuples;
	uint32_t count;
	uint64_t first, gone;
	bool discarded;
	struct clock_line line, local; /* of their ticks, and of this host's */
	uint32_t cost_ps;	       /* of one event, 0: not known */
};

/** Append what is new, by the tuples' numbers. Returns by how many numbers the mirror grew, or
 * -1 with errno when the file was cut short. */
int64_t mirror_append(struct mirror *m, const struct mirror_news *news);

/** Update the name of its process, and whether it is alive. Returns 1 if anything changed. */
int mirror_note(struct mirror *m, const struct mirror_origin *now);

/** The name of its element, "/cluster/node/rank3/t0/p2p". */
void mirror_name(const struct mirror *m, const struct pathmap *map, char *buf, size_t n);

/** The number of the next tuple, 0 when the file was cut short. */
uint64_t mirror_head(const struct mirror *m);

/** Since when its process is not seen alive, 0: it lives. */
uint64_t mirror_died(const struct mirror *m);

/** Give its tuples this lifetime, 0: they stay until they are overwritten. Returns whether that is
 * another one. */
bool mirror_lifetime_set(struct mirror *m, uint64_t ns);

/** Discard all that it holds. Returns how many tuples that were, without those of earlier
 * discards. */
uint64_t mirror_discard(struct mirror *m);

#endif
