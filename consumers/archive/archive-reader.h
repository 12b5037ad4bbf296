/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads an archive chunk by chunk, and frame by frame, checking all of it. */
#ifndef EVSPACE_ARCHIVE_READER_H
#define EVSPACE_ARCHIVE_READER_H

#include "consumers/archive/archive-writer.h"
#include "consumers/archive/archive.h"
#include "tree/wire/deframer.h"

struct archive_reader;

/** An archive, which may be written to meanwhile. Returns NULL with errno and @e if there is none,
 * or none that can be read. */
struct archive_reader *archive_reader_new(const char *folder, struct error *e);
void archive_reader_free(struct archive_reader *r);

/** Is a chunk needed that has the waves of @head, with tuples of the @n ranges of elements alone?
 */
typedef bool archive_wants(void *arg, const struct archive_head *head,
			   const struct archive_elements *elements, size_t n);

/** From now on pass over chunks that @wants does not need, without reading them. */
void archive_reader_select(struct archive_reader *r, archive_wants *wants, void *arg);

/** How many chunks were passed over so, and the last wave of these. */
uint64_t archive_reader_passed(const struct archive_reader *r, uint64_t *wave);

/**
 * The next chunk. Returns 1, 0 at the end, or -1 with @e, which says in which file what is wrong
 * where: what is behind it is not read. What is behind the last whole chunk of the last file, as a
 * writer that was killed leaves it, is no fault, but archive_reader_torn().
 */
int archive_reader_chunk(struct archive_reader *r, struct error *e);

/** The head of the present chunk. */
const struct archive_head *archive_reader_head(const struct archive_reader *r);

/** The next frame of the present chunk, and, with @on, of those behind it. Returns 1 and *@frame,
 * valid until the next call, 0 at the end, or -1 with @e. */
int archive_reader_frame(struct archive_reader *r, bool on, struct frame *frame, struct error *e);

/** Where the last chunk that was read ends, which is where a writer goes on. */
struct archive_end archive_reader_end(const struct archive_reader *r);

/** Bytes of the archive's files now; those before the present chunk's end; and, at the end, those
 * behind it that are no chunk. */
uint64_t archive_reader_bytes(const struct archive_reader *r);
uint64_t archive_reader_done(const struct archive_reader *r);
uint64_t archive_reader_torn(const struct archive_reader *r);

#endif
