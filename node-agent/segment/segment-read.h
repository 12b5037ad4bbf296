/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments of other processes: mapping and reading them. */
#ifndef EVSPACE_SEGMENT_READ_H
#define EVSPACE_SEGMENT_READ_H

#include <stdint.h>

#include "node-agent/segment/segment.h"

/** Map @dir/@name read-only after checking owner, mode and every offset and length in it.
 * Returns 0, or -1 with errno and @e, also for a hostile, truncated or version-mismatched file. */
int segment_open(struct segment *s, const char *dir, const char *name, struct error *e);

/**
 * Run @read over mapped segments; returns -1 with errno EIO instead of ending in SIGBUS if a file
 * is truncated meanwhile. Agents read segments only through this. A jump may leave @read at any
 * point: it must own nothing that would leak. Not reentrant.
 */
int segment_guarded(int (*read)(void *arg), void *arg);

/** Map whole pages of the file writable, which lie in it. Returns NULL with errno (ESTALE: it has
 * been replaced). For munmap(). (segment-map.c) */
void *segment_map(const struct segment *s, uint64_t at, size_t bytes);

/** Map the control page writable. Returns NULL with errno. Unmapped by segment_control_unmap(). */
struct segment_control *segment_control_map(const struct segment *s);
void segment_control_unmap(struct segment_control *control);

/** Tables of a mapped segment: checked counts (never more than fit) and entries (NULL: not complete
 * yet). */
uint32_t segment_threads(const struct segment *s);
const struct segment_thread *segment_thread(const struct segment *s, uint32_t i);
uint32_t segment_elements(const struct segment *s);
uint32_t segment_elements_readable(const struct segment *s); /* of these, by agents */
const struct segment_element *segment_element(const struct segment *s, uint32_t i);
uint32_t segment_comms(const struct segment *s);
const struct segment_comm *segment_comm(const struct segment *s, uint32_t i);

/** What an event costs the process on average (ps), as measured so far; 0: not known yet. */
uint32_t segment_cost(const struct segment *s);

/** World rank of member @i of @comm, -1: unknown. */
int32_t segment_member(const struct segment *s, const struct segment_comm *comm, uint32_t i);

/** A consistent copy of a thread's state line as a tuple with flag TUPLE_RUNNING. Returns 1, or
 * 0 when the thread is in no operation, or its line changed during each of STATE_TRIES tries. */
int segment_state(const struct segment_thread *thread, struct tuple *out);

/** The address that the operation of the thread's state line returns to, and *@since when it is in
 * it. Returns 0 when it is in none, its address is not known, or the line is changing. */
uint64_t segment_site(const struct segment_thread *thread, uint64_t *since);

/** Is its process alive? Checks pid, start time and boot id, takes no lock, and reads nothing
 * mapped. */
int segment_alive(const struct segment *s);

/** Write the header's notes as text, separated by "; ", with its list of runs that were
 * @removed. Returns @buf. */
const char *segment_notes(uint32_t note, const char *removed, char *buf, size_t n);

/**
 * The innermost open region of a thread, else its phase (evspace.h), as a tuple that starts when
 * that began, with flags TUPLE_RUNNING and TUPLE_REGION and its label as number. Returns 1, or 0
 * when there is none, it is changing, or its start is unknown (its mode had no clock).
 */
int segment_region(const struct segment_thread *thread, struct tuple *out);

#endif
