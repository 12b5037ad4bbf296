/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that the store knows: what each is, and why those that it cannot use are refused. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "node-agent/segment/folder.h"
#include "node-agent/store/store-index.h"
#include "pathmap/base/memory.h"
#include "tree/data/process.h"

void store_file_refuse(struct store *store, struct store_file *file, const char *run,
		       const char *format, ...)
{
	struct store_refusal *refusal = memory_new(1, sizeof(*refusal));
	va_list args;

	refusal->rank = -1;
	snprintf(refusal->run, sizeof(refusal->run), "%s", run);
	va_start(args, format);
	vsnprintf(refusal->text, sizeof(refusal->text), format, args);
	va_end(args);
	TAILQ_INSERT_TAIL(&store->refusals, refusal, link);
	file->refusal = refusal;
	store->index->changed = true;
}

void store_file_forget(struct store *store, struct store_file *file)
{
	if (file->segment) {
		store->index->changed = true;
		store_segment_close(store, file->segment);
	}
	if (file->mirror) {
		store->index->changed = true;
		TAILQ_REMOVE(&store->mirrors, file->mirror, link);
		mirror_close(&file->mirror->mirror);
		free(file->mirror);
	}
	if (file->element) {
		store->index->changed = true;
		store_element_close(store, file->element);
	}
	if (file->refusal) {
		store->index->changed = true;
		TAILQ_REMOVE(&store->refusals, file->refusal, link);
		free(file->refusal);
	}
	HASH_DEL(store->index->files, file);
	free(file);
}

/* Returns false if the name is too long to be one of ours. */
static bool key_write(char *key, size_t n, const char *run, const char *name)
{
	int length = snprintf(key, n, "%s/%s", run, name);

	return length >= 0 && (size_t)length < n;
}

struct store_file *store_file_find(const struct store *store, const char *run, const char *name)
{
	char key[sizeof(((struct store_file *)0)->key)];
	struct store_file *file = NULL;

	if (key_write(key, sizeof(key), run, name))
		HASH_FIND_STR(store->index->files, key, file);
	return file;
}

struct store_file *store_file_enter(struct store *store, const char *run, const char *name,
				    ino_t inode, bool *known)
{
	struct store_file *file = store_file_find(store, run, name);

	*known = file && file->inode == inode && !file->again;
	if (file && !*known) {
		store_file_forget(store, file);
		file = NULL;
	}
	if (!file) {
		file = memory_new(1, sizeof(*file));
		(void)key_write(file->key, sizeof(file->key), run, name);
		file->inode = inode;
		HASH_ADD_STR(store->index->files, key, file);
	}
	file->turn = store->index->turn;
	return file;
}

/* It cannot be used, by errno and @e. Returns whether that is to be known: not if it was removed
 * meanwhile, and only for now if something was short. */
static bool is_refused(struct store *store, struct store_file *file, const char *run,
		       const struct error *e)
{
	if (errno == ENOENT) {
		store_file_forget(store, file);
		return false;
	}
	file->again = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
	store_file_refuse(store, file, run, "%.250s", e->text);
	return true;
}

static void add_segment(struct store *store, struct store_file *file, const char *run,
			const char *name)
{
	struct error e = {""};

	file->segment = store_segment_open(store, run, name, &e);
	if (file->segment) {
		store->index->changed = true;
	} else if (is_refused(store, file, run, &e)) {
		file->refusal->pid = folder_file(name).pid;
		file->refusal->rank = folder_file(name).rank;
		file->refusal->unreadable = true;
	}
}

static void add_mirror(struct store *store, struct store_file *file, const char *run,
		       const char *name)
{
	char dir[sizeof(store->base) + RUN_BYTES + 1];
	struct store_mirror *m = memory_new(1, sizeof(*m));
	struct error e = {""};

	snprintf(dir, sizeof(dir), "%s/%s", store->base, run);
	if (mirror_open(&m->mirror, dir, name, &e) < 0) {
		free(m);
		(void)is_refused(store, file, run, &e);
		return;
	}
	m->serial = ++store->next_serial;
	TAILQ_INSERT_TAIL(&store->mirrors, m, link);
	file->mirror = m;
	store->index->changed = true;
}

static void add_element(struct store *store, struct store_file *file, const char *run,
			const char *name)
{
	struct error e = {""};

	file->element = store_element_open(store, run, name, &e);
	if (file->element)
		store->index->changed = true;
	else
		(void)is_refused(store, file, run, &e);
}

static void add_refusal(struct store *store, struct store_file *file, const char *run,
			const struct folder_file *maker)
{
	char why[sizeof(store->base) + 160], who[PROCESS_NAME];

	store_refusal_say(store, maker->reason, why, sizeof(why));
	store_file_refuse(store, file, run, "%s (pid %d) is not collected: %.200s",
			  process_words(who, maker->rank), (int)maker->pid, why);
	file->refusal->pid = maker->pid;
	file->refusal->rank = maker->rank;
	file->refusal->unwanted = strcmp(maker->reason, STORE_UNWANTED) == 0;
}

static void add_left(struct store *store, struct store_file *file, const char *run,
		     const char *name)
{
	const struct folder_file maker = folder_file(name);
	char path[sizeof(file->key) + sizeof(store->base) + 1], who[PROCESS_NAME];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", store->base, file->key);
	if (lstat(path, &st) < 0) {
		store_file_forget(store, file);
		return;
	}
	store_file_refuse(store, file, run,
			  "%s (pid %d) is not collected: it was ended while its segment was made; "
			  "evspace purge %.64s frees that",
			  process_words(who, maker.rank), (int)maker.pid, run);
	file->refusal->pid = maker.pid;
	file->refusal->rank = maker.rank;
	file->refusal->bytes = (uint64_t)st.st_blocks * 512;
}

void store_file_add(struct store *store, struct store_file *file, const char *run, const char *name)
{
	struct folder_file kind = folder_file(name);

	if (kind.kind == FOLDER_SEGMENT)
		add_segment(store, file, run, name);
	else if (kind.kind == FOLDER_MIRROR)
		add_mirror(store, file, run, name);
	else if (kind.kind == FOLDER_ELEMENT)
		add_element(store, file, run, name);
	else if (kind.kind == FOLDER_UNFINISHED)
		add_left(store, file, run, name);
	else
		add_refusal(store, file, run, &kind);
}
