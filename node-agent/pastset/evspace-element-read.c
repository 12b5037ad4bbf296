/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes tuples out of a program's element in their order, and sleeps while there are none. */
#include "node-agent/pastset/element-handle.h"

#include <errno.h>
#include <sys/stat.h>

#include "node-agent/pastset/pastset-claim.h"
#include "node-agent/pastset/pastset-sleep.h"

/* How often a writer may lap one call. */
#define TRIES 16

static void about_fill(struct evspace_element *e, struct evspace_element_tuple *about,
		       uint64_t number, uint64_t lost, uint64_t ticks)
{
	if (about)
		*about = (struct evspace_element_tuple){
			.number = number,
			.lost = lost,
			.time_ns = pastset_clock_ns(&e->clock, &e->file.said, ticks)};
}

/* Where this reader is: the writer may go on behind that. */
static void position_say(struct evspace_element *e, uint64_t next)
{
	struct pastset_live *live = e->file.live;

	if (e->part < 0)
		return;
	/* in order with the look at `full`, as the writer's with its look at this */
	atomic_store(&e->file.readers[e->part].next, next);
	if (atomic_load(&live->full)) {
		atomic_store(&live->full, 0);
		pastset_wake(&live->full);
	}
}

void element_leave(struct evspace_element *e)
{
	if (e->part < 0)
		return;
	position_say(e, 0);
	pastset_unclaim(e->file.fd, (unsigned)e->part);
	e->part = -1;
}

/* Begin with the oldest tuple. The writer of an element that waits keeps it from now on: to be
 * awaited has it look at all positions before its next tuple. */
static int begin(struct evspace_element *e)
{
	e->position = pastset_oldest(&e->file, pastset_head(&e->file));
	for (unsigned i = 0; e->file.said.wait_ms != 0 && e->part < 0; i++) {
		if (i == PASTSET_READERS) {
			errno = EUSERS;
			return -1;
		}
		if (pastset_claim(e->file.fd, i) == 0)
			e->part = (int)i;
		else if (errno != EAGAIN && errno != EACCES)
			return -1;
	}
	position_say(e, e->position + 1);
	if (e->part >= 0)
		atomic_store(&e->file.live->awaited, 1);
	e->begun = true;
	return 0;
}

/* Returns 1 with the oldest tuple, 0 if there is none, -1 with errno. */
static int take(struct evspace_element *e, void *tuple, struct evspace_element_tuple *about)
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t head = pastset_head(&e->file), oldest = pastset_oldest(&e->file, head),
			 ticks;

		if (head < e->position) {
			errno = EIO;
			return -1;
		}
		if (head == e->position)
			return 0;
		if (e->position < oldest) {
			e->lost += oldest - e->position;
			e->position = oldest;
		}
		if (!pastset_read(&e->file, e->position, &ticks, tuple))
			continue;
		about_fill(e, about, e->position++, e->lost, ticks);
		e->lost = 0;
		position_say(e, e->position + 1);
		return 1;
	}
	return 0;
}

/* Sleep until there is something to take. Returns 0, or -1 with errno. */
static int next_wait(struct evspace_element *e, uint64_t until)
{
	struct pastset_live *live = e->file.live;
	struct stat st;
	uint64_t head;
	int rc;

	atomic_store(&live->awaited, 1);
	head = atomic_load(&live->head);
	if (head != e->position)
		return 0;
	rc = pastset_sleep(pastset_head_low(live), (uint32_t)head, until);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	if (fstat(e->file.fd, &st) == 0 && st.st_nlink > 0)
		return 0;
	errno = ESTALE;
	return -1;
}

int evspace_element_next(struct evspace_element *e, void *tuple,
			 struct evspace_element_tuple *about, int timeout_ms)
{
	uint64_t until = 0;
	int rc;

	if (element_writes(e)) {
		errno = EBADF;
		return -1;
	}
	if (!e->begun && begin(e) < 0)
		return -1;
	while ((rc = take(e, tuple, about)) == 0 && timeout_ms != 0) {
		until = until ? until : pastset_until(timeout_ms);
		if (next_wait(e, until) < 0)
			return errno == ETIMEDOUT ? 0 : -1;
	}
	return rc;
}

int evspace_element_at(struct evspace_element *e, uint64_t number, void *tuple,
		       struct evspace_element_tuple *about)
{
	uint64_t ticks;

	if (!pastset_read(&e->file, number, &ticks, tuple))
		return 0;
	about_fill(e, about, number, 0, ticks);
	return 1;
}

int evspace_element_newest(struct evspace_element *e, void *tuple,
			   struct evspace_element_tuple *about)
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t head = pastset_head(&e->file);

		if (head == 0)
			return 0;
		if (evspace_element_at(e, head - 1, tuple, about))
			return 1;
	}
	return 0;
}
