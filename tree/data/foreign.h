/* SPDX-License-Identifier: BSD-3-Clause */
/* Foreign records: those of stages that others write (tree/stage/evspace-stage.h). */
#ifndef EVSPACE_FOREIGN_H
#define EVSPACE_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One 64-bit word. A run of them (RUN_FOREIGN) is a head and records, so that it says itself what
 * it holds, and hosts without the stage pass it on, and change its byte order. */
struct foreign {
	uint64_t word;
};

/** Words of a run before its records: their size and key, and the name of their kind. */
#define FOREIGN_HEAD 5u

/** Most words of a record. */
#define FOREIGN_WORDS 4096u

/** Bytes of a name, with the 0 at its end. */
#define FOREIGN_NAME 32u

/** A kind of foreign records. */
struct foreign_kind {
	char name[FOREIGN_NAME]; /* small letters, digits, '-'; begins with a letter */
	unsigned words;		 /* of a record */
	bool keyed;		 /* the first word is its key within its group */
};

/** Is @text a kind's name? */
bool foreign_name(const char *text);

/** Write the head of a run of @kind, a sound one. */
void foreign_head(struct foreign head[FOREIGN_HEAD], const struct foreign_kind *kind);

/** Read the head of a run with @count words. Returns how many records follow, 0 if it is no
 * foreign run. */
unsigned foreign_read(const struct foreign *words, unsigned count, struct foreign_kind *kind);

#endif
