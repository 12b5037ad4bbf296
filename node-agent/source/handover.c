/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads other nodes' cursor files: who holds the lock on one reads by it, the others have stopped.
 */
#include "node-agent/source/handover.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "node-agent/store/cursor-private.h"
#include "pathmap/base/memory.h"

/* The cursors of one other node. */
struct other {
	int fd;
	bool idle; /* nobody reads by them: the lock is ours until it is closed */
	uint32_t rows;
	struct cursor_line *lines;
	uint64_t *ends; /* of the rows */
};

struct handovers {
	struct other *others;
	size_t n;
};

/* What is known of an element that is looked for. */
struct handover_row {
	const struct cursor_key *key;
	uint64_t position;
	bool known, busy;
};

static void other_close(struct other *o)
{
	free(o->lines);
	free(o->ends);
	close(o->fd);
}

/* What was given away is read before where that ended: later it does not change. */
static int other_read(struct other *o, const unsigned char id[16])
{
	struct cursor_head head;

	if (cursor_head_read(o->fd, &head) < 0 || memcmp(head.id, id, sizeof(head.id)) != 0)
		return -1;
	o->rows = (uint32_t)head.rows;
	o->lines = memory_new(o->rows + 1, sizeof(*o->lines));
	o->ends = memory_new(o->rows + 1, sizeof(*o->ends));
	if (cursor_lines_read(o->fd, o->rows, o->lines) < 0 || cursor_head_read(o->fd, &head) < 0 ||
	    cursor_column_read(o->fd, o->rows, head.made % CURSOR_WAVES, o->ends) < 0)
		return -1;
	for (uint32_t i = 0; i < o->rows; i++)
		if (head.made <= o->lines[i].since)
			o->ends[i] = o->lines[i].start;
	return 0;
}

static void other_add(struct handovers *h, int dir, const char *name, const unsigned char id[16])
{
	struct other o = {.fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW)};

	if (o.fd < 0)
		return;
	o.idle = flock(o.fd, LOCK_EX | LOCK_NB) == 0;
	if (other_read(&o, id) < 0) {
		other_close(&o);
		return;
	}
	h->others = memory_room(h->others, h->n, sizeof(*h->others));
	h->others[h->n++] = o;
}

struct handovers *handovers_open(const char *path, const unsigned char id[16], const char *node)
{
	struct handovers *h = memory_new(1, sizeof(*h));
	char scope[CURSOR_SCOPE], own[CURSOR_FILE];
	const struct dirent *entry;
	DIR *dir = opendir(path);

	cursor_scope(scope, id);
	cursor_file(own, id, node);
	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, scope, CURSOR_SCOPE - 1) == 0 &&
		    strcmp(entry->d_name, own) != 0)
			other_add(h, dirfd(dir), entry->d_name, id);
	}
	if (dir)
		closedir(dir);
	return h;
}

void handovers_close(struct handovers *h)
{
	for (size_t i = 0; h && i < h->n; i++)
		other_close(&h->others[i]);
	if (h)
		free(h->others);
	free(h);
}

static void line_look(struct handover_row *f, struct other *o, uint32_t row)
{
	struct cursor_line *line = &o->lines[row];

	if (line->key.device != f->key->device || line->key.inode != f->key->inode ||
	    line->key.born != f->key->born)
		return;
	f->known = true;
	/* Elements of a process that is read there still may come there, too. */
	if (!line->given && !o->idle)
		f->busy = true;
	if (!line->given && o->idle) {
		line->given = 1;
		(void)cursor_given_write(o->fd, row);
	}
	/* It only grows, whoever reads. */
	if (line->key.element == f->key->element && o->ends[row] > f->position)
		f->position = o->ends[row];
}

enum handover handover_take(struct handovers *h, const struct cursor_key *key, uint64_t *position)
{
	struct handover_row f = {.key = key};

	for (size_t i = 0; i < h->n; i++)
		for (uint32_t row = 0; row < h->others[i].rows; row++)
			line_look(&f, &h->others[i], row);
	if (f.busy)
		return HANDOVER_WAIT;
	if (!f.known)
		return HANDOVER_NONE;
	*position = f.position;
	return HANDOVER_TAKEN;
}
