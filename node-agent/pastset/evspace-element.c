/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes elements of programs, in the folder of their run. */
#include "node-agent/pastset/evspace-element.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/collect/core/settings.h"
#include "node-agent/pastset/element-handle.h"
#include "node-agent/pastset/pastset-claim.h"
#include "node-agent/segment/folder.h"
#include "node-agent/segment/segment.h"
#include "pathmap/base/folder-base.h"

/* How often an element may vanish between two looks, or a name be taken by others. */
#define TRIES 8

/* No writer gets there. */
#define HEAD_MOST (UINT64_MAX / 2)

/* What is asked for, checked. */
struct wish {
	const struct evspace_element_plan *plan;
	struct settings settings;
	struct fields fields; /* n 0: any */
	bool write, make;
};

static int wish_read(struct wish *wish, const struct evspace_element_plan *plan, struct error *e)
{
	struct settings *s = &wish->settings;

	wish->plan = plan;
	errno = EINVAL;
	if (!plan->name)
		return errorf(e, "an element has a name");
	if (plan->fields && fields_parse(&wish->fields, plan->fields, e) < 0)
		return error_prefix(e, "element %.70s", plan->name);
	if (plan->fields && plan->bytes && plan->bytes != wish->fields.bytes)
		return errorf(e,
			      "element %.70s: its fields are %u bytes, and the struct has %zu: say "
			      "all of its members, in their order",
			      plan->name, wish->fields.bytes, plan->bytes);
	settings_read(s);
	if (!plan->run)
		return 0;
	errno = EINVAL;
	if (!folder_is_run(plan->run))
		return errorf(e, "\"%.70s\" cannot be a run's name", plan->run);
	snprintf(s->run, sizeof(s->run), "%s", plan->run);
	snprintf(s->dir, sizeof(s->dir), "%s/%s", s->base, s->run);
	return 0;
}

/* Has it the fields that are wanted? */
static int fields_check(const struct wish *wish, const struct pastset *file, struct error *e)
{
	char wanted[FIELDS_TEXT];

	if (wish->fields.n && strcmp(fields_text(&wish->fields, wanted), file->said.fields) != 0) {
		errno = EPROTOTYPE;
		return errorf(e, "the element %s in %s has the fields \"%s\", not \"%s\"",
			      file->said.name, wish->settings.dir, file->said.fields, wanted);
	}
	if (wish->plan->bytes && wish->plan->bytes != file->fields.bytes) {
		errno = EPROTOTYPE;
		return errorf(e, "the tuples of element %s in %s have %u bytes, not %zu",
			      file->said.name, wish->settings.dir, file->fields.bytes,
			      wish->plan->bytes);
	}
	return 0;
}

/* ---- opening ---- */

/* Open the file, or make it first. Returns 0, or -1 with @e. */
static int file_open(struct pastset *file, const struct wish *wish, int dir, struct error *e)
{
	const struct evspace_element_plan *plan = wish->plan;
	const struct pastset_plan made = {
		.name = plan->name,
		.run = wish->settings.run,
		.fields = &wish->fields,
		.capacity = plan->capacity ? plan->capacity : SEGMENT_CAPACITY,
		.wait_ms = plan->wait_ms < 0 ? -1 : plan->wait_ms,
		.quota = wish->settings.quota,
	};
	int rc = -1;

	for (int i = 0; i < TRIES && rc < 0; i++) {
		rc = pastset_open(file, dir, wish->settings.dir, plan->name, true, e);
		if (rc < 0 && (errno != ENOENT || !wish->make))
			break;
		if (rc < 0 && pastset_make(dir, wish->settings.dir, &made, e) < 0 &&
		    errno != EEXIST)
			break;
	}
	return rc;
}

static int writer_begin(struct evspace_element *new, struct error *e)
{
	struct pastset *file = &new->file;
	const char *name = file->said.name;

	if (!new->clock.known) {
		errno = ESTALE;
		return errorf(e,
			      "the element %s was made before this host booted: remove its run "
			      "(evspace purge %s)",
			      name, file->said.run);
	}
	if (pastset_claim(file->fd, PASTSET_WRITER) < 0) {
		errno = errno == EACCES ? EAGAIN : errno;
		if (errno != EAGAIN)
			return errorf(e, "cannot lock the element %s: %s", name, strerror(errno));
		errno = EBUSY;
		return errorf(
			e,
			"another one writes to the element %s (process %u): an element has one "
			"writer at a time; make one of another name",
			name, atomic_load(&file->live->writer));
	}
	new->head = pastset_head(file);
	if (new->head > HEAD_MOST) {
		errno = EIO;
		return errorf(e, "the element %s is damaged: remove its run (evspace purge %s)",
			      name, file->said.run);
	}
	atomic_store(&file->live->writer, (uint32_t)getpid());
	/* its age counts from here, and from its closing */
	(void)futimens(file->fd, NULL);
	new->next = pastset_slot(file, new->head);
	new->end = file->slots + pastset_slots(&file->said) * file->said.slot_bytes;
	new->words = file->fields.bytes / 8;
	new->rest = file->fields.bytes % 8;
	/* an element that waits looks at its readers first */
	new->limit = file->said.wait_ms ? 1 : UINT64_MAX;
	return 0;
}

/* Opens the folder of the run, which is made for an element that may be. */
static int folder_find(const struct wish *wish, struct error *e)
{
	const struct settings *s = &wish->settings;

	if (wish->make && settings_folder(s, e) < 0)
		return -1;
	return folder_open(AT_FDCWD, s->dir, s->dir, e);
}

static int wish_fulfil(const struct wish *wish, struct evspace_element *new, struct error *e)
{
	int dir = folder_find(wish, e), rc, saved;

	if (dir < 0)
		return -1;
	rc = file_open(&new->file, wish, dir, e);
	saved = errno;
	close(dir);
	errno = saved;
	if (rc < 0)
		return -1;
	pastset_clock_init(&new->clock, &new->file.said);
	if (fields_check(wish, &new->file, e) == 0 && (!wish->write || writer_begin(new, e) == 0))
		return 0;
	pastset_close(&new->file);
	return -1;
}

static struct evspace_element *element_open(const struct evspace_element_plan *plan, bool write,
					    char *why, size_t n)
{
	struct evspace_element new = {.file.fd = -1, .part = -1}, *element = NULL;
	struct wish wish = {.write = write, .make = plan->fields && (write || plan->capacity)};
	struct error e = {""};

	if (wish_read(&wish, plan, &e) == 0 && wish_fulfil(&wish, &new, &e) == 0) {
		element = malloc(sizeof(*element));
		if (element)
			*element = new;
		else
			pastset_close(&new.file);
	}
	if (!element && n)
		snprintf(why, n, "%s", e.text[0] ? e.text : strerror(errno));
	return element;
}

struct evspace_element *evspace_element_make(const struct evspace_element_plan *plan, char *why,
					     size_t n)
{
	return element_open(plan, true, why, n);
}

struct evspace_element *evspace_element_open(const struct evspace_element_plan *plan, char *why,
					     size_t n)
{
	return element_open(plan, false, why, n);
}

void evspace_element_close(struct evspace_element *element)
{
	int saved = errno;

	if (!element)
		return;
	element_leave(element);
	if (element_writes(element))
		(void)futimens(element->file.fd, NULL);
	pastset_close(&element->file);
	free(element);
	errno = saved;
}

/* ---- what is known of it ---- */

static unsigned readers_count(const struct pastset *file)
{
	unsigned n = 0;

	for (unsigned i = 0; i < PASTSET_READERS; i++)
		n += atomic_load_explicit(&file->readers[i].next, memory_order_relaxed) != 0 &&
		     pastset_is_claimed(file->fd, i);
	return n;
}

void evspace_element_look(struct evspace_element *element, struct evspace_element_state *state)
{
	const struct pastset *file = &element->file;
	uint64_t head = pastset_head(file);

	*state = (struct evspace_element_state){
		.name = file->said.name,
		.run = file->said.run,
		.fields = file->said.fields,
		.program = file->said.program,
		.bytes = file->fields.bytes,
		.capacity = file->said.capacity,
		.wait_ms = file->said.wait_ms,
		.written = head,
		.oldest = pastset_oldest(file, head),
		.has_writer =
			element_writes(element) || pastset_is_claimed(file->fd, PASTSET_WRITER),
		.readers = readers_count(file) + (element->part >= 0),
	};
}
