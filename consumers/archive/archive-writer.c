/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers frames into chunks, compresses them, and appends them to the newest file. */
#include "consumers/archive/archive-writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "pathmap/base/interval.h"
#include "pathmap/base/memory.h"
#include "pathmap/texts.h"
#include "tree/data/columns.h"
#include "tree/wire/dictionary.h"

#define LEVEL 3

struct archive_writer {
	char *folder;
	int folder_fd, fd;
	unsigned number; /* of the file */
	char file[ARCHIVE_FILE_TEXT];
	uint64_t end;	      /* of the file */
	uint64_t written;     /* by this writer */
	unsigned char *plain; /* frames that wait */
	size_t bytes, room;
	unsigned char *packed;
	size_t packed_room;
	ZSTD_CCtx *context;
	struct archive_head head;     /* of the next chunk */
	bool plain_waves;	      /* it has nothing but whole waves of tuples … */
	struct interval_set elements; /* … of these */
	struct archive_elements *index;
	size_t index_room;
};

/* ---- life ---- */

static int folder_open(struct archive_writer *w, struct error *e)
{
	if (mkdir(w->folder, 0700) < 0 && errno != EEXIST)
		return errorf(e, "%s: cannot be made: %m", w->folder);
	w->folder_fd = open(w->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->folder_fd < 0)
		return errorf(e, "%s: %m", w->folder);
	if (flock(w->folder_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return errorf(e, "%s: cannot be locked: %m", w->folder);
	errno = EBUSY;
	return errorf(e, "%s: another process writes to this archive", w->folder);
}

struct archive_writer *archive_writer_new(const char *folder, struct error *e)
{
	struct archive_writer *w = memory_new(1, sizeof(*w));

	w->folder = memory_copy(folder);
	w->folder_fd = w->fd = -1;
	w->context = ZSTD_createCCtx();
	if (!w->context)
		abort();
	ZSTD_CCtx_setParameter(w->context, ZSTD_c_compressionLevel, LEVEL);
	if (folder_open(w, e) == 0)
		return w;
	archive_writer_free(w);
	return NULL;
}

void archive_writer_free(struct archive_writer *w)
{
	int saved = errno;

	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	if (w->folder_fd >= 0)
		close(w->folder_fd);
	ZSTD_freeCCtx(w->context);
	interval_set_fini(&w->elements);
	free(w->index);
	free(w->packed);
	free(w->plain);
	free(w->folder);
	free(w);
	errno = saved;
}

static void head_begin(struct archive_writer *w, uint64_t number)
{
	w->head = (struct archive_head){
		.order = ARCHIVE_ORDER, .version = ARCHIVE_VERSION, .number = number};
	memcpy(w->head.magic, ARCHIVE_MAGIC, sizeof(w->head.magic));
	w->bytes = 0;
	w->plain_waves = true;
	w->elements.n = 0;
}

static int file_begin(struct archive_writer *w, unsigned number, uint64_t bytes, struct error *e)
{
	char name[ARCHIVE_FILE_TEXT];
	int fd;

	archive_file(number, name);
	fd = openat(w->folder_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0 || fsync(w->folder_fd) < 0) {
		errorf(e, "%s/%s: cannot be written: %m", w->folder, name);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (w->fd >= 0)
		close(w->fd);
	w->fd = fd;
	w->number = number;
	memcpy(w->file, name, sizeof(name));
	w->end = bytes;
	return 0;
}

int archive_writer_begin(struct archive_writer *w, const struct archive_end *end, struct error *e)
{
	if (file_begin(w, end->file ? end->file : 1, end->bytes, e) < 0)
		return -1;
	head_begin(w, end->chunks + 1);
	return 0;
}

struct archive_writer *archive_writer_fresh(const char *folder, uint64_t chunks, struct error *e)
{
	const struct archive_end begin = {.chunks = chunks};
	struct archive_writer *w = archive_writer_new(folder, e);
	unsigned *files = NULL;
	int rc = -1;

	if (w && archive_files(w->folder_fd, &files) > 0) {
		errno = EEXIST;
		errorf(e, "%s: there is an archive in it already", folder);
	} else if (w) {
		rc = archive_writer_begin(w, &begin, e);
	}
	free(files);
	if (rc == 0)
		return w;
	archive_writer_free(w);
	return NULL;
}

int archive_writer_turn(struct archive_writer *w, uint64_t most, struct error *e)
{
	if (w->end < most || w->number >= ARCHIVE_FILES_MOST)
		return 0;
	if (file_begin(w, w->number + 1, 0, e) < 0)
		return -1;
	w->head.kind = ARCHIVE_SNAPSHOT;
	w->plain_waves = false;
	return 1;
}

void archive_writer_drop(struct archive_writer *w, const struct archive_bound *bound)
{
	struct timespec now;
	struct stat s;
	unsigned *files;
	uint64_t newer = w->end; /* than the file that is looked at */
	int n = archive_files(w->folder_fd, &files);

	clock_gettime(CLOCK_REALTIME, &now);
	/* from the newest back */
	for (int i = n - 1; i >= 0; i--) {
		char name[ARCHIVE_FILE_TEXT];

		archive_file(files[i], name);
		if (files[i] >= w->number ||
		    fstatat(w->folder_fd, name, &s, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if ((bound->bytes && newer >= bound->bytes) ||
		    (bound->ns &&
		     now.tv_sec - s.st_mtim.tv_sec > (time_t)(bound->ns / 1000000000u)))
			unlinkat(w->folder_fd, name, 0);
		newer += (uint64_t)s.st_size;
	}
	free(files);
}

/* ---- frames ---- */

static unsigned char *plain_room(struct archive_writer *w, size_t bytes)
{
	if (w->room - w->bytes < bytes) {
		w->room = 2 * (w->bytes + bytes);
		w->plain = realloc(w->plain, w->room);
		if (!w->plain)
			abort();
	}
	return w->plain + w->bytes;
}

static void head_note(struct archive_head *h, const struct archive_note *note)
{
	h->tuples += note->tuples;
	h->lost += note->lost;
	h->discarded += note->discarded;
	if (note->wave == 0)
		return;
	if (h->first == 0 || note->wave < h->first)
		h->first = note->wave;
	if (note->wave > h->last)
		h->last = note->wave;
	if (h->from_ns == 0 || note->taken_ns < h->from_ns)
		h->from_ns = note->taken_ns;
	if (note->taken_ns > h->to_ns)
		h->to_ns = note->taken_ns;
}

/* Has the frame a whole wave, and nothing that is said once? */
static bool is_plain(const Evspace__Frame *header)
{
	const Evspace__Answer *a = header->answer;

	return header->kind_case == EVSPACE__FRAME__KIND_ANSWER && a->wave && !a->again &&
	       a->n_names == 0 && a->n_comms == 0 && a->n_missing == 0;
}

/* What the index says of the frame. */
static void index_note(struct archive_writer *w, const Evspace__Frame *header,
		       const struct batch *body)
{
	struct batch_cursor cursor = {0};
	struct run_view view;

	w->plain_waves = w->plain_waves && is_plain(header) && body;
	while (w->plain_waves && batch_next_packed(body, &cursor, &view)) {
		const struct run *run = view.run;

		if (run->kind == RUN_TUPLES || run->kind == RUN_TYPED ||
		    (run->kind == RUN_COLUMNS && columns_head(view.records).kind == RUN_TUPLES))
			interval_set_add(&w->elements, run->element, (uint64_t)run->element + 1);
		else
			w->plain_waves =
				run->kind == RUN_PART && !(run->flags & (RUN_FOLD | RUN_MANY));
	}
}

void archive_writer_add(struct archive_writer *w, const Evspace__Frame *header,
			const struct batch *body, const struct archive_note *note)
{
	const struct wire_front front = {(uint32_t)evspace__frame__get_packed_size(header),
					 body ? (uint32_t)body->bytes : 0};
	unsigned char *to = plain_room(w, wire_frame_bytes(&front));

	to = wire_frame_put(&front, header, to);
	for (size_t i = 0; body && i < body->n; i++) {
		const struct extent *x = &body->extents[i];

		memcpy(to, x->buffer->data + x->at, x->bytes);
		to += x->bytes;
	}
	w->bytes = (size_t)(to - w->plain);
	head_note(&w->head, note);
	index_note(w, header, body);
}

void archive_writer_names(struct archive_writer *w, struct names *names)
{
	const struct archive_note nothing = {0};
	struct dictionary said = {0};

	for (;;) {
		Evspace__Answer answer = EVSPACE__ANSWER__INIT;

		dictionary_fill(&said, names, &answer);
		if (answer.n_names == 0 && answer.n_comms == 0)
			break;
		archive_writer_add(w, &WIRE_FRAME(ANSWER, answer, &answer), NULL, &nothing);
	}
	dictionary_clear(&said);
}

void archive_writer_map(struct archive_writer *w, const struct pathmap_texts *texts)
{
	Evspace__MapTexts said = EVSPACE__MAP_TEXTS__INIT;
	Evspace__Map map = EVSPACE__MAP__INIT;
	const struct archive_note nothing = {0};

	if (!texts->application)
		return;
	said.application = texts->application;
	said.cluster = texts->cluster;
	said.mapping = texts->mapping;
	map.texts = &said;
	map.hidden = true;
	archive_writer_add(w, &WIRE_FRAME(MAP, map, &map), NULL, &nothing);
}

size_t archive_writer_waiting(const struct archive_writer *w)
{
	return w->bytes;
}

uint64_t archive_writer_written(const struct archive_writer *w)
{
	return w->written;
}

/* ---- chunks ---- */

static int write_all(int fd, const void *data, size_t bytes, uint64_t at)
{
	const unsigned char *from = data;

	while (bytes > 0) {
		ssize_t n = pwrite(fd, from, bytes, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return -1;
		from += n;
		bytes -= (size_t)n;
		at += (uint64_t)n;
	}
	return 0;
}

static size_t pack(struct archive_writer *w, const void *plain, size_t bytes)
{
	size_t most = ZSTD_compressBound(bytes), n;

	if (w->packed_room < most) {
		free(w->packed);
		w->packed = memory_new(most, 1);
		w->packed_room = most;
	}
	n = ZSTD_compress2(w->context, w->packed, w->packed_room, plain, bytes);
	if (ZSTD_isError(n))
		abort();
	return n;
}

/* Write a chunk at *@end. Returns 0 with its end there, or -1 with errno. */
static int chunk_write(struct archive_writer *w, struct archive_head *head, const void *plain,
		       size_t bytes, uint64_t *end)
{
	head->plain = (uint32_t)bytes;
	head->stored = (uint32_t)pack(w, plain, bytes);
	head->sum = archive_sum(head, w->packed);
	if (write_all(w->fd, head, sizeof(*head), *end) < 0 ||
	    write_all(w->fd, w->packed, head->stored, *end + sizeof(*head)) < 0)
		return -1;
	*end += sizeof(*head) + head->stored;
	return 0;
}

/* Write which elements the next chunk has, if that is all that it has. An index without its chunk
 * is as a chunk that was being written. */
static int index_write(struct archive_writer *w, uint64_t *end)
{
	struct archive_head head = w->head;
	size_t n = w->elements.n, bytes = (n + 1) * sizeof(*w->index);

	if (!w->plain_waves || bytes > ARCHIVE_INDEX_MOST)
		return 0;
	if (w->index_room < bytes) {
		free(w->index);
		w->index = memory_new(n + 1, sizeof(*w->index));
		w->index_room = bytes;
	}
	/* none at all is an empty one */
	w->index[0] = (struct archive_elements){0};
	for (size_t i = 0; i < n; i++) {
		const struct interval *of = &w->elements.items[i];

		w->index[i + 1] = (struct archive_elements){(uint32_t)of->from,
							    (uint32_t)(of->to - of->from)};
	}
	head.kind = ARCHIVE_INDEX;
	head.tuples = head.lost = head.discarded = 0;
	return chunk_write(w, &head, w->index, bytes, end);
}

/* Has the file no name any more? What is written to it can be read by nobody. */
static bool is_removed(const struct archive_writer *w)
{
	struct stat st;

	return fstat(w->fd, &st) == 0 && st.st_nlink == 0;
}

int archive_writer_sync(struct archive_writer *w, struct error *e)
{
	uint64_t end = w->end;
	int saved;

	if (w->bytes == 0)
		return 0;
	if (index_write(w, &end) < 0 || chunk_write(w, &w->head, w->plain, w->bytes, &end) < 0 ||
	    fdatasync(w->fd) < 0) {
		saved = errno;
		/* what was begun is no chunk: nobody needs to wonder what it is */
		if (ftruncate(w->fd, (off_t)w->end) < 0)
			saved = saved ? saved : errno;
		errno = saved;
		return errorf(e, "%s/%s: cannot be written: %m", w->folder, w->file);
	}
	if (is_removed(w)) {
		errno = ENOENT;
		return errorf(e, "%s/%s: it was removed; what was kept is gone", w->folder,
			      w->file);
	}
	w->written += end - w->end;
	w->end = end;
	head_begin(w, w->head.number + 1);
	return 0;
}
