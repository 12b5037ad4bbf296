/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the reading of segments: a good one, with fields changed as the input says, is opened and
 * read whole, and its control page and marks are written to. Then sources read it as agents do,
 * while the changes are made once more to it and to the cursor file, and both are cut. */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/segment/element-writer.h"
#include "node-agent/source/accounting.h"
#include "node-agent/source/row-names.h"
#include "node-agent/segment/segment-class.h"
#include "node-agent/segment/segment-table.h"
#include "node-agent/segment/segment-mark.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/source/source.h"
#include "node-agent/store/store-run.h"
#include "node-agent/control/switch.h"
#include "tree/data/op.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RUN	    "run"
#define CURSOR_NAME "00000000000000000000000000000000.n.cursor" /* of scope 0 at node n */

static char folder[] = "/dev/shm/evspace-fuzz-XXXXXX";
static char dir[64];
static unsigned char *good; /* what the maker wrote */
static size_t good_bytes;
static struct segment_layout layout;

/* ---- the good segment ---- */

static void element_fill(struct segment *s, uint16_t channel, uint8_t split, uint64_t key)
{
	const struct segment_element like = {
		.capacity = 8, .channel = channel, .split = split, .key = key};
	struct segment_element *e = segment_element_add(s, &like);
	struct tuple t = {.op = 1, .peer = 1, .comm = 99};
	struct element_writer w;

	if (!e)
		abort();
	element_writer_init(&w, (void *)((char *)s->header + e->ring_at), 8);
	for (t.bytes = 0; t.bytes < 20; t.bytes++)
		element_write(&w, &t);
}

static void tables_fill(struct segment *s)
{
	static const struct segment_module module = {
		.from = 4096, .end = 8192, .path = "/bin/true"};
	int32_t *members = segment_members_take(s, 2);
	struct segment_thread *thread = segment_thread_add(s, 1);

	if (!members || !thread)
		abort();
	members[0] = 1;
	atomic_store(&thread->state.what, 1);
	atomic_store(&thread->user.depth, 1);
	atomic_store(&thread->user.regions[0].label, 7);
	atomic_store(&thread->user.regions[0].since, 7);
	segment_comm_add(s, 99, 0, 4, SEGMENT_MEMBERS_WORLD);
	segment_comm_add(s, 100, 99, 2, segment_members_keep(s, members, 2));
	segment_comm_add(s, 101, 99, 3, SEGMENT_MEMBERS_UNKNOWN);
	segment_class_make(s, 99, CHANNEL_P2P);
	segment_class_make(s, 100, CHANNEL_WAIT);
	segment_label_make(s, "setup", 5);
	segment_module_add(s, &module);
	element_fill(s, CHANNEL_P2P, SPLIT_SITE, 5000);
	element_fill(s, CHANNEL_COLLECTIVE, SPLIT_THREAD, 0);
}

static void file_remove(void)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/a.seg", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/" CURSOR_NAME, dir);
	unlink(path);
	rmdir(dir);
	rmdir(folder);
}

static void good_make(void)
{
	struct segment_plan plan = {
		.dir = dir, .run = RUN, .rank = 1, .world_size = 4, .world = 99, .threads = 2};
	struct segment s;
	struct error e;

	if (!mkdtemp(folder))
		abort();
	atexit(file_remove);
	snprintf(dir, sizeof(dir), "%s/" RUN, folder);
	plan.classes = 40;
	plan.comms = 4;
	plan.members = 16;
	plan.elements = 4;
	for (int i = 0; i < CHANNEL_MAX; i++)
		plan.capacity[i] = 8;
	plan.split[CHANNEL_P2P] = SPLIT_SITE;
	if (mkdir(dir, 0700) < 0 || segment_create(&s, &plan, &e) < 0)
		abort();
	tables_fill(&s);
	layout = s.layout;
	good_bytes = s.size;
	good = malloc(good_bytes);
	if (!good)
		abort();
	memcpy(good, s.header, good_bytes);
	unlink(s.path);
	segment_close(&s);
}

/* ---- changing it ---- */

/* What an input may change: 14 bytes say the place, how many bytes, where in it, and what to. */
#define CHANGE_BYTES 14u

struct place {
	uint64_t at, bytes;
};

static struct place place_of(uint8_t kind)
{
	const struct segment_layout *l = &layout;
	const struct place places[] = {
		{0, good_bytes},
		{0, sizeof(struct segment_header)},
		{offsetof(struct segment_header, layout), sizeof(struct segment_layout)},
		{offsetof(struct segment_header, threads), 48},
		{l->control_at, sizeof(struct segment_control)},
		{l->threads_at, l->threads_max * sizeof(struct segment_thread)},
		{l->counts_at, l->threads_max * l->classes_max * sizeof(struct segment_count)},
		{l->elements_at, 4 * sizeof(struct segment_element)},
		{l->classes_at, l->classes_max * sizeof(struct segment_class)},
		{l->comms_at, l->comms_max * sizeof(struct segment_comm)},
		{l->members_at, l->members_max * sizeof(int32_t)},
		{l->modules_at, 2 * sizeof(struct segment_module)},
		{l->labels_at, l->labels_max * sizeof(struct segment_label)},
		{l->marks_at, 4 * sizeof(struct segment_mark)},
		{l->rings_at, 2048},
	};

	return places[kind % (sizeof(places) / sizeof(places[0]))];
}

static void change(unsigned char *bytes, const uint8_t *by)
{
	const struct place place = place_of(by[0]);
	const size_t width = (size_t)1 << (by[1] & 3);
	uint32_t at;

	memcpy(&at, by + 2, sizeof(at));
	/* fields lie at multiples of their size */
	at = (uint32_t)(at % (place.bytes / width) * width);
	if (place.at + at + width <= good_bytes)
		memcpy(bytes + place.at + at, by + 6, width);
}

/* Those fields that the opening answers for are made right again, so that all else is looked at. */
static void mend(unsigned char *bytes)
{
	struct segment_header *h = (void *)bytes;
	const struct segment_header *was = (const void *)good;

	memcpy(h->magic, was->magic, sizeof(h->magic));
	h->version = was->version;
	h->tuple_layout = was->tuple_layout;
	h->byte_order = was->byte_order;
	h->size = was->size;
	h->uid = was->uid;
	h->pid = was->pid;
}

static void file_write(const uint8_t *data, size_t size)
{
	unsigned char *bytes = malloc(good_bytes);
	char path[96];
	int fd;

	if (!bytes)
		abort();
	memcpy(bytes, good, good_bytes);
	for (size_t at = 1; at + CHANGE_BYTES <= size; at += CHANGE_BYTES)
		change(bytes, data + at);
	if (size && data[0] % 8)
		mend(bytes);
	snprintf(path, sizeof(path), "%s/a.seg", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || pwrite(fd, bytes, good_bytes, 0) != (ssize_t)good_bytes ||
	    ftruncate(fd, (off_t)good_bytes) < 0)
		abort();
	close(fd);
	free(bytes);
}

/* ---- reading it ---- */

static void look_at_classes(const struct segment *s)
{
	struct segment_sum sum = {0};

	for (uint32_t thread = 0; thread < segment_threads(s); thread++)
		for (unsigned channel = 0; channel < CHANNEL_MAX; channel++)
			segment_channel_sum(s, thread, channel, &sum);
	for (uint32_t i = 0; i < segment_classes(s); i++)
		if (segment_class(s, i) && !segment_count(s, 0, i) && s->layout.threads_max)
			abort();
}

static int segment_look(void *arg)
{
	const struct segment *s = arg;
	struct tuple tuples[8], t;
	struct element_range range;
	char notes[512];
	uint64_t number;

	segment_alive(s);
	segment_notes(atomic_load(&s->header->note), s->said.removed, notes, sizeof(notes));
	for (uint32_t i = 0; i < segment_threads(s); i++) {
		if (!segment_thread(s, i))
			continue;
		segment_state(segment_thread(s, i), &t);
		segment_region(segment_thread(s, i), &t);
	}
	look_at_classes(s);
	for (uint32_t i = 0; i < segment_elements(s); i++) {
		const struct segment_element *entry = segment_element(s, i);
		const struct element_ring *ring = entry ? segment_ring(s, entry) : NULL;

		if (!ring)
			continue;
		if (entry->split == SPLIT_SITE)
			segment_module_find(s, entry->key);
		element_read(ring, entry->capacity, 0, UINT64_MAX, tuples, 8, &range);
		if (range.count > 8)
			abort();
		element_latest(ring, entry->capacity, element_inverse(entry->capacity), &t,
			       &number);
	}
	return 0;
}

/* What an agent writes: modes, and marks. */
struct writing {
	const struct segment *s;
	struct segment_control *control;
	struct segment_mark *marks;
};

static int segment_write(void *arg)
{
	struct writing *w = arg;
	uint32_t comm = 100;

	segment_class_switch(w->control, w->s, -1, NULL, MODE_COUNT);
	segment_class_switch(w->control, w->s, CHANNEL_WAIT, &comm, MODE_OFF);
	segment_class_quiet(w->control, w->s);
	for (uint32_t i = 0; i < segment_elements(w->s); i++)
		segment_discard(w->s, w->marks, i);
	return 0;
}

static void segment_use(struct segment *s)
{
	struct writing w = {s, segment_control_map(s), segment_marks_map(s)};
	struct names *names = names_new(NAME_PLACE_MAX);
	struct row_comms comms = {0};
	struct accounting accounting = {0};
	struct row_labels labels = {0};

	if (!w.control || !w.marks || segment_guarded(segment_look, s) < 0 ||
	    segment_guarded(segment_write, &w) < 0 || row_comms_take(s, names, &comms) < 0 ||
	    row_labels_take(s, names, &labels) < 0 ||
	    accounting_read(s, ACCOUNTING_ALL, &accounting) < 0)
		abort();
	names_free(names);
	segment_marks_unmap(s, w.marks);
	segment_control_unmap(w.control);
}

/* ---- reading it while it changes ---- */

#define WAVES 6

/* What is not tried here: files with debugging information, and other runs. */
const char *sites_find(struct sites *sites, const struct segment_module *module, uint64_t address)
{
	(void)sites;
	(void)module;
	return address ? "site" : "nowhere";
}

void sites_rest(struct sites *sites)
{
	(void)sites;
}

void sites_hold(struct sites *sites)
{
	(void)sites;
}

void sites_release(struct sites *sites)
{
	(void)sites;
}

const char *store_run_newest(const struct store *store, bool living)
{
	(void)store;
	(void)living;
	return RUN;
}

/* What somebody else does meanwhile. */
struct disturbing {
	const uint8_t *data;
	size_t size;
	int segment, cursor;
};

/* The cursor file is changed by every fourth, and every eighth cuts one of the files. */
static void disturb_once(const struct disturbing *d, const uint8_t *by)
{
	const struct place place = place_of(by[0]);
	const size_t width = (size_t)1 << (by[1] & 3);
	const bool cursor = (by[1] >> 2) % 4 == 1, cut = by[1] >> 5 == 1;
	const int fd = cursor ? d->cursor : d->segment;
	uint32_t at;
	off_t where;

	memcpy(&at, by + 2, sizeof(at));
	where = (off_t)(cursor ? at % 4096 / width * width
			       : place.at + at % (place.bytes / width) * width);
	if (cut ? ftruncate(fd, where) < 0 : pwrite(fd, by + 6, width, where) < 0)
		abort();
}

static void *disturb(void *arg)
{
	const struct disturbing *d = arg;

	for (size_t at = 1; at + CHANGE_BYTES <= d->size; at += CHANGE_BYTES)
		disturb_once(d, d->data + at);
	return NULL;
}

static void read_waves(struct stage *source)
{
	struct batch batch;
	struct error e;

	batch_init(&batch);
	for (uint64_t i = 1; i <= WAVES; i++) {
		struct ask ask = {.wave = i, .have = i > 2 ? i - 2 : 0, .again = i % 3 == 0};

		ask.wave -= ask.again != 0;
		while (source->ops->take && !source->ops->take(source))
			;
		(void)source->ops->read(source, &ask, &batch, &e);
	}
	batch_fini(&batch);
}

static int open_shared(const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		abort();
	return fd;
}

/* Open a source, read waves of it while the files change, and one more as who comes after it. */
static void read_disturbed(struct source_host *host, const Evspace__Open *open,
			   struct disturbing *d, bool keep)
{
	static char node[] = "n", cluster[] = "c";
	const struct plan_place place = {.node = node, .cluster = cluster, .leaf = true};
	struct names *names = names_new(NAME_PLACE_MAX);
	struct stage *source = source_new(host, open, &place, names, NULL);
	pthread_t other;

	if (!source || pthread_create(&other, NULL, disturb, d) != 0)
		abort();
	read_waves(source);
	pthread_join(other, NULL);
	read_waves(source);
	source_free(source, keep);
	names_free(names);
}

static void segment_live(const struct segment *s, const uint8_t *data, size_t size)
{
	static char all[] = "/**", *patterns[] = {all}, run[] = RUN;
	static uint8_t id[16];
	struct store_segment one = {.segment = *s, .run = RUN, .name = "rank1", .serial = 1};
	struct store store = {.version = 1};
	struct clock_host clock = {.slept_ns = UINT64_MAX};
	struct source_host host = {.store = &store, .node = "n", .clock = &clock};
	struct disturbing d = {data, size, open_shared("a.seg"), open_shared(CURSOR_NAME)};
	Evspace__Open open = EVSPACE__OPEN__INIT;
	struct classes *classes = classes_new();

	snprintf(store.base, sizeof(store.base), "%s", folder);
	memcpy(one.host, "n", 2);
	one.rank = 1;
	one.alive = true;
	TAILQ_INIT(&store.segments);
	TAILQ_INIT(&store.mirrors);
	TAILQ_INIT(&store.refusals);
	TAILQ_INSERT_TAIL(&store.segments, &one, link);
	host.map = pathmap_local("n", NULL);
	open.id = (ProtobufCBinaryData){sizeof(id), id};
	open.run = run;
	open.select = patterns;
	open.n_select = 1;
	open.backlog = true;
	for (open.reading = READ_LATEST; open.reading <= READ_COUNTS; open.reading++) {
		read_disturbed(&host, &open, &d, open.reading == READ_STREAM && data[0] & 64);
		(void)switch_read(&one, classes);
	}
	classes_free(classes);
	pathmap_free((struct pathmap *)(uintptr_t)host.map);
	close(d.segment);
	close(d.cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct segment s;
	struct error e;

	if (!good)
		good_make();
	file_write(data, size);
	if (segment_open(&s, dir, "a.seg", &e) < 0)
		return 0;
	segment_use(&s);
	if (size)
		segment_live(&s, data, size);
	segment_close(&s);
	return 0;
}
