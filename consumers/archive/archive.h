/* SPDX-License-Identifier: BSD-3-Clause */
/* The format of archives: a folder of files, each a sequence of chunks of compressed frames
 * (docs/archives.md). */
#ifndef EVSPACE_ARCHIVE_H
#define EVSPACE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "tree/wire/wire.h"

#define ARCHIVE_MAGIC	"EVSPARCH"
#define ARCHIVE_ORDER	0x01020304u
#define ARCHIVE_VERSION 1u

/** Most bytes of frames of a chunk: one of the largest, and what a writer gathers before it. */
#define ARCHIVE_PLAIN_MOST (WIRE_FRAME_MAX + (8u << 20))

/** Most bytes of an index. */
#define ARCHIVE_INDEX_MOST (1u << 20)

/** Files are "00000001.evspace", … */
#define ARCHIVE_FILE_TEXT  24
#define ARCHIVE_FILES_MOST 99999999u

/** What a chunk is. */
enum archive_kind {
	ARCHIVE_CAME,	  /* what came, in that order */
	ARCHIVE_SNAPSHOT, /* the first of a file: what those before it have said, for who begins
			   * there; others pass it over */
	ARCHIVE_INDEX,	  /* which elements have tuples in the next one, which has nothing but
			   * whole waves of them; likewise */
};

/**
 * The head of a chunk, in the byte order of who wrote it; `stored` bytes follow, one frame of zstd
 * (RFC 8878) that unpacks to `plain` bytes of frames (tree/wire/wire.h).
 */
struct archive_head {
	char magic[8];
	uint32_t order;	  /* ARCHIVE_ORDER */
	uint16_t version; /* ARCHIVE_VERSION */
	uint16_t kind;	  /* enum archive_kind */
	uint32_t stored, plain;
	uint64_t number;	/* of the chunk in the archive, from 1 */
	uint64_t first, last;	/* waves in it, the least and the greatest; 0: none */
	int64_t from_ns, to_ns; /* when the first and the last of them was taken: Unix time on the
				 * reference agent's clock; 0: none */
	uint64_t tuples, lost, discarded; /* that came for the first time */
	uint64_t sum;			  /* archive_sum() of all above and of the stored bytes */
};

/** Of these an index is made, in ascending order: elements [from, from + count), by the ids that
 * names give them; an id begins with the place of the element's host. */
struct archive_elements {
	uint32_t from, count;
};

_Static_assert(sizeof(struct archive_elements) == 8, "elements of an index are 8 bytes");
_Static_assert(sizeof(struct archive_head) == 96, "a head of a chunk is 96 bytes");

/** The checksum: FNV-1a of 64 bits (Fowler, Noll, Vo) over words of 8 bytes, the last filled with
 * zeros. @stored: what follows the head. */
uint64_t archive_sum(const struct archive_head *head, const unsigned char *stored);

/** Is this a head, apart from its checksum? Returns 0, or -1 with EPROTO and @e, which begins with
 * a verb. */
int archive_head_check(const struct archive_head *head, struct error *e);

/** The name of file @number in an archive. */
void archive_file(unsigned number, char name[ARCHIVE_FILE_TEXT]);

/** The numbers of the files of the folder @folder_fd, ascending, for the caller to free(). Returns
 * how many there are, or -1 with errno. */
int archive_files(int folder_fd, unsigned **numbers);

/** Has the folder any? */
bool archive_is_there(const char *folder);

#endif
