/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elements of a program's own: bounded sequences of typed tuples in the event space, in shared
 * memory of this host.
 *
 *	struct step { uint64_t iteration; double residual; };
 *	const struct evspace_element_plan plan = {
 *		.name = "residual", .fields = "iteration u64, residual f64", .bytes = sizeof(struct
 *step)}; struct evspace_element *out = evspace_element_make(&plan, why, sizeof(why));
 *
 *	evspace_element_write(out, &(struct step){.iteration = n, .residual = r});
 *
 * and in whatever other process, now or later:
 *
 *	struct evspace_element *in = evspace_element_open(&plan, why, sizeof(why));
 *	struct step step;
 *
 *	while (evspace_element_next(in, &step, NULL, -1) == 1)
 *		printf("%llu %g\n", (unsigned long long)step.iteration, step.residual);
 *
 * An element has one writer at a time and any number of readers, and outlives them: it is a file in
 * the folder of its run. Whoever is killed, at whatever moment, leaves no half tuple, and nobody
 * waiting. Several processes that write make an element each. No agent, and no collector, is
 *needed.
 *
 * An element may be used by one thread at a time, a process may open it several times. After fork()
 * it is the parent's; a child that does not call exec() keeps it in use. If somebody cuts its file
 * short while it is open, whoever touches what is gone gets SIGBUS: only its own user can do that.
 */
#ifndef EVSPACE_ELEMENT_API_H
#define EVSPACE_ELEMENT_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An element that is open. */
struct evspace_element;

/** Which element, and what it is to be. Zero and NULL mean the default. */
struct evspace_element_plan {
	const char *name; /* letters, digits, "-", "_" and ".", less than 64 */
	const char *run;  /* the run that it belongs to; NULL: $EVSPACE_RUN, else this program's, as
			   * its launcher calls it */
	const char *fields; /* the tuples' type: "iteration u64, residual f64[3], phase text[16]",
			     * of i32, u32, i64, u64, f32, f64 and text, in the order and with the
			     * alignment of C; 256 bytes at most. NULL: whatever it has */
	size_t bytes;	    /* sizeof of the struct, which is compared with that; 0: it is not */
	uint32_t capacity;  /* tuples that it holds; 0: 200. Whoever makes it decides */
	int wait_ms; /* what if it is full of tuples that a reader has yet to read: 0: the oldest
		      * is overwritten; else the writer waits so long (-1: for ever). Whoever
		      * makes it decides */
};

/** What is known of a tuple besides its fields. */
struct evspace_element_tuple {
	uint64_t number; /* from 0 */
	uint64_t lost;	 /* evspace_element_next(): tuples before it that it has not read, and that
			  * were overwritten */
	int64_t time_ns; /* when it was written, in Unix time as of the element's making, with later
			  * steps of the clock left out; 0: before this boot */
};

/** The state of an element. */
struct evspace_element_state {
	const char *name, *run, *fields, *program; /* of its maker; valid until it is closed */
	size_t bytes;				   /* of a tuple */
	uint32_t capacity;
	int wait_ms;
	uint64_t written, oldest; /* tuples; number of the oldest that it holds */
	int has_writer;
	unsigned readers; /* for which the writer waits */
};

/**
 * Open an element to write to it; make it if there is none and plan->fields says what it is to be.
 * Numbers go on where the last writer has stopped. Returns NULL with errno, and in @why (@n bytes)
 * one line that says what happened and what to do: EBUSY (somebody writes to it), EPROTOTYPE (it
 * has other fields), ENOSPC and EDQUOT (no memory), EINVAL, ESTALE (made before this boot), EACCES
 * … Free it with evspace_element_close().
 */
struct evspace_element *evspace_element_make(const struct evspace_element_plan *plan, char *why,
					     size_t n);

/**
 * Open an element to read it. With plan->capacity it is made if there is none, so that it does not
 * matter who comes first; else that is ENOENT. Returns NULL likewise.
 */
struct evspace_element *evspace_element_open(const struct evspace_element_plan *plan, char *why,
					     size_t n);

/** Close it, and free @element; it stays for others. NULL is fine. */
void evspace_element_close(struct evspace_element *element);

/**
 * Append a tuple, a struct of plan->bytes. No system call, unless a reader sleeps, or the element
 * is full and waits (plan->wait_ms). Returns 0, or -1 with errno: ETIMEDOUT (a reader has not made
 * room in time; the tuple is not written), EINTR (a signal came while it waited; likewise), EBADF
 * (it is open for reading).
 */
int evspace_element_write(struct evspace_element *element, const void *tuple);

/**
 * Take the oldest tuple that this reader has not read, beginning with the oldest that the element
 * holds. If there is none, wait for it, @timeout_ms at most (-1: for ever): the writer wakes
 * whoever sleeps. From its first call on, the writer of an element that waits does not overwrite
 * what this reader has yet to read, as long as it lives; there may be 64 such readers.
 *
 * @about may be NULL. Returns 1; 0 when the time has passed; -1 with errno: EINTR (a signal came),
 * ESTALE (the element was removed), EUSERS (too many readers), EIO (its file is damaged), EBADF (it
 * is open for writing).
 */
int evspace_element_next(struct evspace_element *element, void *tuple,
			 struct evspace_element_tuple *about, int timeout_ms);

/** Copy tuple @number, without taking it. Returns 1, or 0: it is overwritten, or not yet written.
 */
int evspace_element_at(struct evspace_element *element, uint64_t number, void *tuple,
		       struct evspace_element_tuple *about);

/** Copy the newest tuple, without taking it. Returns 1, or 0: nothing has been written yet. */
int evspace_element_newest(struct evspace_element *element, void *tuple,
			   struct evspace_element_tuple *about);

/** Get the state of an element. */
void evspace_element_look(struct evspace_element *element, struct evspace_element_state *state);

#ifdef __cplusplus
}
#endif

#endif
