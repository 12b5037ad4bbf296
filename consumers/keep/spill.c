/* SPDX-License-Identifier: BSD-3-Clause */
/* An external merge sort: one buffer, which is sorted and written as a run whenever it is full, and
 * is shared out among the runs when they are merged. */
#include "consumers/keep/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pathmap/base/memory.h"

/* Records of a sorted run, one after the other: in the file, and the next ones in memory. */
struct spill_run {
	uint64_t begin;	   /* of it in the file, by number */
	uint64_t from, to; /* those in the file that were not read yet */
	unsigned char *at; /* in memory: the next one, and the end */
	unsigned char *end;
	unsigned char *room;
};

struct spill {
	size_t bytes, most; /* of a record; records in memory */
	spill_compare *compare;
	char *beside;
	int fd; /* -1: all are in memory */
	uint64_t added, written;
	unsigned char *buffer;
	size_t n; /* records in it that are not in the file */
	struct spill_run *runs;
	size_t n_runs, share; /* records of each in the buffer */
	size_t *heap;	      /* of those that have more, by their next record */
	size_t n_heap;
	bool merging;
};

/* ---- life ---- */

struct spill *spill_new(size_t bytes, spill_compare *compare, size_t memory, const char *beside)
{
	struct spill *s = memory_new(1, sizeof(*s));

	s->bytes = bytes;
	s->most = memory / bytes > 2 ? memory / bytes : 2;
	s->compare = compare;
	s->beside = memory_copy(beside);
	s->fd = -1;
	s->buffer = memory_new(s->most, bytes);
	return s;
}

void spill_free(struct spill *s)
{
	int saved = errno;

	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	free(s->beside);
	free(s->buffer);
	free(s->runs);
	free(s->heap);
	free(s);
	errno = saved;
}

/* ---- the file ---- */

static int file_open(struct spill *s, struct error *e)
{
	char *path;
	size_t n = strlen(s->beside);

	/* "out/" is in the same folder as "out" */
	while (n > 0 && s->beside[n - 1] == '/')
		n--;
	while (n > 0 && s->beside[n - 1] != '/')
		n--;
	path = memory_format("%.*s.evspace-XXXXXX", (int)n, s->beside);

	s->fd = mkostemp(path, O_CLOEXEC);
	if (s->fd >= 0)
		unlink(path);
	else
		errorf(e, "%s, a file to sort in, cannot be made: %m", path);
	free(path);
	return s->fd < 0 ? -1 : 0;
}

/* All of it, at record @number of the file. */
static int records_write(const struct spill *s, const unsigned char *from, size_t bytes,
			 uint64_t number, struct error *e)
{
	uint64_t at = number * s->bytes;

	while (bytes > 0) {
		ssize_t n = pwrite(s->fd, from, bytes, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n < 0 ? errno : ENOSPC;
			return errorf(
				e,
				"what is sorted beside %s, in a file without a name of %llu MB "
				"so far, cannot be written: %m",
				s->beside, (unsigned long long)(at >> 20));
		}
		from += n;
		bytes -= (size_t)n;
		at += (uint64_t)n;
	}
	return 0;
}

static int records_read(const struct spill *s, unsigned char *to, size_t bytes, uint64_t number,
			struct error *e)
{
	uint64_t at = number * s->bytes;

	while (bytes > 0) {
		ssize_t n = pread(s->fd, to, bytes, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n < 0 ? errno : EIO;
			return errorf(e, "what is sorted beside %s cannot be read: %m", s->beside);
		}
		to += n;
		bytes -= (size_t)n;
		at += (uint64_t)n;
	}
	return 0;
}

/* ---- adding ---- */

static void buffer_sort(struct spill *s)
{
	if (s->n > 1)
		qsort(s->buffer, s->n, s->bytes, s->compare);
}

static int run_write(struct spill *s, struct error *e)
{
	if (s->fd < 0 && file_open(s, e) < 0)
		return -1;
	buffer_sort(s);
	if (records_write(s, s->buffer, s->n * s->bytes, s->written, e) < 0)
		return -1;
	s->runs = memory_room(s->runs, s->n_runs, sizeof(*s->runs));
	s->runs[s->n_runs++] = (struct spill_run){.begin = s->written, .to = s->written + s->n};
	s->written += s->n;
	s->n = 0;
	return 0;
}

int spill_add(struct spill *s, const void *record, struct error *e)
{
	if (s->n == s->most && run_write(s, e) < 0)
		return -1;
	memcpy(s->buffer + s->n++ * s->bytes, record, s->bytes);
	s->added++;
	return 0;
}

uint64_t spill_count(const struct spill *s)
{
	return s->added;
}

/* ---- merging ---- */

/* Have the run's next record in memory. Returns 1, 0: it has none, or -1 with @e. */
static int run_fill(struct spill *s, struct spill_run *run, struct error *e)
{
	uint64_t left = run->to - run->from;
	size_t n = left < s->share ? (size_t)left : s->share;

	if (run->at < run->end)
		return 1;
	if (n == 0)
		return 0;
	if (records_read(s, run->room, n * s->bytes, run->from, e) < 0)
		return -1;
	run->from += n;
	run->at = run->room;
	run->end = run->room + n * s->bytes;
	return 1;
}

static bool is_before(const struct spill *s, size_t a, size_t b)
{
	return s->compare(s->runs[s->heap[a]].at, s->runs[s->heap[b]].at) < 0;
}

/* Put the run at @i of the heap where it belongs, below. */
static void heap_sink(struct spill *s, size_t i)
{
	for (;;) {
		size_t least = i, left = 2 * i + 1, right = left + 1, run;

		if (left < s->n_heap && is_before(s, left, least))
			least = left;
		if (right < s->n_heap && is_before(s, right, least))
			least = right;
		if (least == i)
			return;
		run = s->heap[i];
		s->heap[i] = s->heap[least];
		s->heap[least] = run;
		i = least;
	}
}

/* Once: all are in memory, as one run; or in the file, and each run has its part of the buffer. */
static int runs_make(struct spill *s, struct error *e)
{
	if (s->n_runs == 0) {
		buffer_sort(s);
		s->runs = memory_new(1, sizeof(*s->runs));
		s->n_runs = 1;
	} else if (s->n > 0 && run_write(s, e) < 0) {
		return -1;
	}
	s->share = s->most / s->n_runs;
	if (s->share == 0) {
		s->share = 1;
		free(s->buffer);
		s->buffer = memory_new(s->n_runs, s->bytes);
	}
	s->heap = memory_new(s->n_runs, sizeof(*s->heap));
	return 0;
}

static void run_begin(const struct spill *s, size_t i)
{
	struct spill_run *run = &s->runs[i];

	run->from = run->begin;
	run->at = run->end = run->room = s->buffer + i * s->share * s->bytes;
	if (s->fd < 0)
		run->end += s->n * s->bytes;
}

static int merge_begin(struct spill *s, struct error *e)
{
	if (!s->heap && runs_make(s, e) < 0)
		return -1;
	s->merging = true;
	s->n_heap = 0;
	for (size_t i = 0; i < s->n_runs; i++) {
		int rc;

		run_begin(s, i);
		rc = run_fill(s, &s->runs[i], e);
		if (rc < 0)
			return -1;
		if (rc > 0)
			s->heap[s->n_heap++] = i;
	}
	for (size_t i = s->n_heap / 2; i-- > 0;)
		heap_sink(s, i);
	return 0;
}

int spill_next(struct spill *s, void *record, struct error *e)
{
	struct spill_run *run;
	int rc;

	if (!s->merging && merge_begin(s, e) < 0)
		return -1;
	if (s->n_heap == 0)
		return 0;
	run = &s->runs[s->heap[0]];
	memcpy(record, run->at, s->bytes);
	run->at += s->bytes;
	rc = run_fill(s, run, e);
	if (rc < 0)
		return -1;
	if (rc == 0)
		s->heap[0] = s->heap[--s->n_heap];
	heap_sink(s, 0);
	return 1;
}

void spill_again(struct spill *s)
{
	s->merging = false;
}
