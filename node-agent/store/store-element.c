/* SPDX-License-Identifier: BSD-3-Clause */
/* The store's elements of programs: maps them, and knows when they were used last. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/pastset/pastset-clock.h"
#include "node-agent/segment/folder.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/store/store-index.h"
#include "pathmap/base/memory.h"

struct store_element *store_element_open(struct store *store, const char *run, const char *file,
					 struct error *e)
{
	char dir[sizeof(store->base) + FOLDER_RUN + 1], name[sizeof(store->base)];
	struct store_element *m = memory_new(1, sizeof(*m));
	int rc = -1, fd;

	snprintf(dir, sizeof(dir), "%s/%s", store->base, run);
	snprintf(name, sizeof(name), "%.*s", (int)(strlen(file) - strlen(ELEMENT_SUFFIX)), file);
	fd = folder_open(AT_FDCWD, dir, dir, e);
	if (fd >= 0) {
		rc = pastset_open(&m->file, fd, dir, name, false, e);
		close(fd);
	}
	if (rc < 0) {
		free(m);
		return NULL;
	}
	snprintf(m->run, sizeof(m->run), "%s", run);
	m->serial = ++store->next_serial;
	TAILQ_INSERT_TAIL(&store->elements, m, link);
	HASH_ADD(hh, store->elements_by_serial, serial, sizeof(m->serial), m);
	return m;
}

void store_element_close(struct store *store, struct store_element *m)
{
	TAILQ_REMOVE(&store->elements, m, link);
	TAILQ_INSERT_TAIL(&store->elements_going, m, link);
	m->going = true;
}

void store_elements_end(struct store *store)
{
	struct store_element *m;

	while ((m = TAILQ_FIRST(&store->elements_going))) {
		TAILQ_REMOVE(&store->elements_going, m, link);
		HASH_DEL(store->elements_by_serial, m);
		pastset_close(&m->file);
		free(m);
	}
}

struct store_element *store_element_find(const struct store *store, uint64_t serial)
{
	struct store_element *m;

	HASH_FIND(hh, store->elements_by_serial, &serial, sizeof(serial), m);
	return m;
}

/* When the newest tuple was written, in ticks; 0: there is none. */
struct store_element_newest {
	const struct pastset *file;
	uint64_t ticks;
};

static int read_newest(void *arg)
{
	struct store_element_newest *newest = arg;
	char tuple[FIELDS_BYTES];

	return pastset_read(newest->file, pastset_head(newest->file) - 1, &newest->ticks, tuple);
}

/* Unix time of the newest tuple; 0: not known. */
static int64_t newest_ns(const struct store_element *m)
{
	struct store_element_newest newest = {.file = &m->file};
	struct pastset_clock clock;

	if (segment_guarded(read_newest, &newest) <= 0)
		return 0;
	pastset_clock_init(&clock, &m->file.said);
	return pastset_clock_ns(&clock, &m->file.said, newest.ticks);
}

uint64_t store_element_age(const struct store *store, const struct store_element *m)
{
	char path[sizeof(store->base) + FOLDER_RUN + PASTSET_NAME + sizeof(ELEMENT_SUFFIX) + 2];
	int64_t now = clock_real_ns(), changed, written;
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s/%s" ELEMENT_SUFFIX, store->base, m->run,
		 m->file.said.name);
	if (!folder_file_is_idle(AT_FDCWD, path) || lstat(path, &st) < 0)
		return 0;
	changed = st.st_mtim.tv_sec * (int64_t)1000000000 + st.st_mtim.tv_nsec;
	written = newest_ns(m);
	if (written > changed)
		changed = written;
	return now > changed ? (uint64_t)(now - changed) : 0;
}
