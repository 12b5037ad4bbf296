/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps other nodes' cursor files: who holds the lock on one reads by it, the others have stopped.
 */
#include "node-agent/handover.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/cursor-private.h"
#include "node-agent/segment.h"
#include "pathmap/memory.h"

/* The cursors of one other node. */
struct other {
	int fd;
	bool idle; /* nobody reads by them: the lock is ours until it is closed */
	struct cursor_head *head;
	size_t bytes;
};

struct handovers {
	struct other *others;
	size_t n;
	/* of the element that is looked for, here because it is done under a guard */
	const struct cursor_key *key;
	uint64_t position;
	bool known, busy;
};

static bool other_map(struct other *o, const unsigned char id[16])
{
	struct stat st;
	void *p;

	if (fstat(o->fd, &st) < 0 || (size_t)st.st_size < cursor_bytes(ROWS_FIRST))
		return false;
	o->bytes = (size_t)st.st_size;
	p = mmap(NULL, o->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, o->fd, 0);
	if (p == MAP_FAILED)
		return false;
	o->head = p;
	if (cursor_sound(o->head, o->bytes, id))
		return true;
	munmap(p, o->bytes);
	return false;
}

static void other_add(struct handovers *h, int dir, const char *name, const unsigned char id[16])
{
	struct other o = {.fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW)};

	if (o.fd < 0)
		return;
	o.idle = flock(o.fd, LOCK_EX | LOCK_NB) == 0;
	if (!other_map(&o, id)) {
		close(o.fd);
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
	for (size_t i = 0; h && i < h->n; i++) {
		munmap(h->others[i].head, h->others[i].bytes);
		close(h->others[i].fd);
	}
	if (h)
		free(h->others);
	free(h);
}

static void line_look(struct handovers *h, const struct other *o, struct cursor_line *line)
{
	bool given = atomic_load_explicit(&line->given, memory_order_acquire);
	uint64_t made, end;

	if (line->key.device != h->key->device || line->key.inode != h->key->inode ||
	    line->key.born != h->key->born)
		return;
	h->known = true;
	/* Elements of a process that is read there still may come there, too. */
	if (!given && !o->idle)
		h->busy = true;
	if (!given && o->idle)
		atomic_store_explicit(&line->given, 1, memory_order_release);
	if (line->key.element != h->key->element)
		return;
	made = __atomic_load_n(&o->head->made, __ATOMIC_ACQUIRE);
	end = line->ends[made % CURSOR_WAVES];
	/* It only grows, whoever reads. */
	if (end > h->position)
		h->position = end;
}

static int handover_look(void *arg)
{
	struct handovers *h = arg;

	h->known = h->busy = false;
	h->position = 0;
	for (size_t i = 0; i < h->n; i++) {
		const struct other *o = &h->others[i];
		struct cursor_line *lines = (struct cursor_line *)(o->head + 1);
		uint64_t rows = __atomic_load_n(&o->head->rows, __ATOMIC_ACQUIRE);

		for (uint64_t k = 0; k < rows && cursor_bytes(k + 1) <= o->bytes; k++)
			line_look(h, o, &lines[k]);
	}
	return 0;
}

enum handover handover_take(struct handovers *h, const struct cursor_key *key, uint64_t *position)
{
	h->key = key;
	if (segment_guarded(handover_look, h) < 0 || h->busy)
		return HANDOVER_WAIT;
	if (!h->known)
		return HANDOVER_NONE;
	*position = h->position;
	return HANDOVER_TAKEN;
}
