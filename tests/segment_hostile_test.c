/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests reading segments that are damaged, of other versions, of others, or shrink under the
 * reader. */
#include "node-agent/segment/segment.h"
#include "node-agent/segment/segment-read.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/segments.h"
#include "tests/tap.h"

static void poke(const struct segment *w, size_t at, const void *bytes, size_t n)
{
	memcpy((char *)w->header + at, bytes, n);
}

/* Is @w, as it is now, refused, with one line that names it? */
static void must_be_refused(const struct segment *w, const char *why)
{
	struct segment r;
	struct error e = {""};

	CU_ASSERT_EQUAL(segment_open(&r, segments_dir, segments_name(w), &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, segments_name(w)));
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, why));
	CU_ASSERT_PTR_NULL(strchr(e.text, '\n'));
}

/* Every field of the layout in turn, with every value that is wrong for it. */
static void places_outside(void)
{
	struct segment w = segments_full();
	const uint64_t size = w.size;
	const uint64_t wrong[] = {0,	    8,	       4095,	   size,
				  size + 8, INT64_MAX, UINT64_MAX, UINT64_MAX - 7};
	const size_t at = offsetof(struct segment_header, layout);
	const struct segment_layout good = w.header->layout;

	for (size_t field = 0; field < 8; field++)
		for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
			poke(&w, at + field * 8, &wrong[i], 8);
			must_be_refused(&w, "does not lie in the file");
			poke(&w, at, &good, sizeof(good));
		}
	poke(&w, at + offsetof(struct segment_layout, rings_bytes), &(uint64_t){size}, 8);
	must_be_refused(&w, "rings");
	poke(&w, at, &good, sizeof(good));
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		poke(&w, at + offsetof(struct segment_layout, marks_at), &wrong[i], 8);
		must_be_refused(&w, "marks");
		poke(&w, at, &good, sizeof(good));
	}
	poke(&w, at + offsetof(struct segment_layout, modules_at), &(uint64_t){size + 8}, 8);
	must_be_refused(&w, "module table");
	poke(&w, at, &good, sizeof(good));
	for (size_t field = 0; field < 6; field++) {
		poke(&w, at + offsetof(struct segment_layout, threads_max) + field * 4,
		     &(uint32_t){UINT32_MAX}, 4);
		must_be_refused(&w, "table");
		poke(&w, at, &good, sizeof(good));
	}
	segment_close(&w);
}

/* A file that is nearly all holes has room for any table. */
static void tables_without_an_end(void)
{
	static const struct {
		size_t place, count;
		const char *why;
	} tables[] = {
		{offsetof(struct segment_layout, comms_at),
		 offsetof(struct segment_layout, comms_max), "communicator table"},
		{offsetof(struct segment_layout, modules_at),
		 offsetof(struct segment_layout, modules_max), "module table"},
		{offsetof(struct segment_layout, labels_at),
		 offsetof(struct segment_layout, labels_max), "table of labels"},
	};
	struct segment w = segments_full();
	const uint64_t end = w.size, size = UINT64_C(1) << 40;
	const size_t at = offsetof(struct segment_header, layout);

	CU_ASSERT_EQUAL_FATAL(truncate(w.path, (off_t)size), 0);
	poke(&w, offsetof(struct segment_header, size), &size, 8);
	poke(&w, at + offsetof(struct segment_layout, threads_max), &(uint32_t){1 << 20}, 4);
	must_be_refused(&w, "thread table");
	poke(&w, at + offsetof(struct segment_layout, threads_max), &w.layout.threads_max, 4);
	poke(&w, at + offsetof(struct segment_layout, elements_max), &(uint32_t){1 << 30}, 4);
	must_be_refused(&w, "element table");
	poke(&w, at, &w.layout, sizeof(w.layout));
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		poke(&w, at + tables[i].place, &end, 8);
		poke(&w, at + tables[i].count, &(uint32_t){1 << 17}, 4);
		must_be_refused(&w, tables[i].why);
		poke(&w, at, &w.layout, sizeof(w.layout));
	}
	segment_close(&w);
}

/* Nor may one be read as another: agents may write to some of them. */
static void tables_across_others(void)
{
	struct segment w = segments_full();
	const size_t at = offsetof(struct segment_header, layout);

	poke(&w, at + offsetof(struct segment_layout, labels_at), &w.layout.comms_at, 8);
	must_be_refused(&w, "table of labels");
	poke(&w, at, &w.layout, sizeof(w.layout));
	poke(&w, at + offsetof(struct segment_layout, marks_at), &w.layout.threads_at, 8);
	must_be_refused(&w, "table of marks");
	poke(&w, at, &w.layout, sizeof(w.layout));
	poke(&w, at + offsetof(struct segment_layout, rings_at), &w.layout.members_at, 8);
	must_be_refused(&w, "place of the rings");
	segment_close(&w);
}

/* Nor are tables taken that nobody can add up, or whose holes would be filled by reading them. */
static void tables_of_holes(void)
{
	const uint64_t counts = UINT64_C(8193) * (SEGMENT_CLASSES_MAX - 1);
	struct segment w = segments_full();
	const uint64_t at = w.size, size = at + counts * sizeof(struct segment_count);
	struct segment_layout wide = w.header->layout;
	int fd = open(w.path, O_RDWR);

	CU_ASSERT_EQUAL_FATAL(ftruncate(fd, (off_t)size), 0);
	poke(&w, offsetof(struct segment_header, size), &size, 8);
	must_be_refused(&w, "has holes");
	wide.counts_at = at;
	wide.classes_max = SEGMENT_CLASSES_MAX - 1;
	wide.threads_max = 8192;
	wide.threads_at = wide.classes_at = at;
	poke(&w, offsetof(struct segment_header, layout), &wide, sizeof(wide));
	must_be_refused(&w, "table of counts");
	close(fd);
	segment_close(&w);
}

static void poke_header(const char *why, size_t at, const void *bytes, size_t n)
{
	struct segment w = segments_full();

	poke(&w, at, bytes, n);
	must_be_refused(&w, why);
	segment_close(&w);
}

#define POKE(why, member, ...)                                                           \
	poke_header(why, offsetof(struct segment_header, member),                        \
		    &(__typeof__(((struct segment_header *)NULL)->member)){__VA_ARGS__}, \
		    sizeof(((struct segment_header *)NULL)->member))

static void other_kinds(void)
{
	char endless[128];

	memset(endless, 'x', sizeof(endless));
	POKE("not a segment", magic, "ELF");
	POKE("version 9", version, 9);
	POKE("layout 77", tuple_layout, 77);
	POKE("byte order", byte_order, 0x0807060504030201);
	POKE("damaged", size, 4096);
	POKE("damaged", pid, 0);
	POKE("damaged", pid, UINT32_MAX);
	POKE("damaged", uid, 12345);
	POKE("damaged", rank, -1);
	POKE("damaged", rank, 4);
	POKE("damaged", world_size, 0);
	POKE("clock", clock_kind, 9);
	poke_header("no end", offsetof(struct segment_header, host), endless, 64);
	poke_header("no end", offsetof(struct segment_header, program), endless, 128);
	poke_header("no end", offsetof(struct segment_header, boot_id), endless, 40);
}

/* The header is right, what it leads to is not: nothing is read beside it. */
static void wild_entries(void)
{
	struct segment w = segments_full(), r;
	struct segment_element *element = (void *)((char *)w.header + w.layout.elements_at);
	struct segment_comm *comm = (void *)((char *)w.header + w.layout.comms_at);
	const uint64_t places[] = {
		0, 64, w.layout.rings_at - 64, w.layout.rings_at + 8, w.size, UINT64_MAX - 63};
	struct error e;

	CU_ASSERT_EQUAL_FATAL(segment_open(&r, segments_dir, segments_name(&w), &e), 0);
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		element[1].ring_at = places[i];
		CU_ASSERT_PTR_NULL(segment_ring(&r, segment_element(&r, 1)));
	}
	element[1].ring_at = element[0].ring_at;
	element[1].capacity = UINT32_MAX;
	CU_ASSERT_PTR_NULL(segment_ring(&r, segment_element(&r, 1)));
	element[1].capacity = 0;
	CU_ASSERT_PTR_NULL(segment_ring(&r, segment_element(&r, 1)));
	comm[2].members = w.layout.members_max;
	comm[2].size = UINT32_MAX;
	CU_ASSERT_EQUAL(segment_member(&r, segment_comm(&r, 2), 1), -1);
	comm[2].members = 1;
	CU_ASSERT_EQUAL(segment_member(&r, segment_comm(&r, 2), UINT32_MAX - 1), -1);
	/* more in use than fits */
	atomic_store(&w.header->threads, UINT32_MAX);
	atomic_store(&w.header->elements, UINT32_MAX);
	atomic_store(&w.header->comms, UINT32_MAX);
	CU_ASSERT_EQUAL(segment_threads(&r), w.layout.threads_max);
	CU_ASSERT_EQUAL(segment_elements(&r), w.layout.elements_max);
	CU_ASSERT_EQUAL(segment_comms(&r), w.layout.comms_max);
	/* changed after it was checked: the reader has its own copy */
	memset(&w.header->layout, 0xff, sizeof(w.header->layout));
	CU_ASSERT_EQUAL(segment_guarded(segments_read, &r), 0);
	segment_close(&r);
	segment_close(&w);
}

/* Cut at every page: refused when it is opened, survived when it happens later. */
static void truncated(void)
{
	struct segment w = segments_full();
	struct error e;

	for (off_t at = 0; at < (off_t)w.size; at += SEGMENT_PAGE) {
		struct segment r;

		CU_ASSERT_EQUAL_FATAL(segment_open(&r, segments_dir, segments_name(&w), &e), 0);
		CU_ASSERT_EQUAL(segment_guarded(segments_read, &r), 0);
		CU_ASSERT_EQUAL(truncate(w.path, at), 0);
		if (segment_guarded(segments_read, &r) < 0)
			CU_ASSERT_EQUAL(errno, EIO);
		segment_close(&r);
		must_be_refused(&w, "");
		segment_close(&w);
		w = segments_full();
	}
	segment_close(&w);
}

/* All tables gone, with one page left: the guard must have caught it. */
static void truncated_under_us(void)
{
	struct segment w = segments_full(), r;
	struct error e;

	CU_ASSERT_EQUAL_FATAL(segment_open(&r, segments_dir, segments_name(&w), &e), 0);
	CU_ASSERT_EQUAL(truncate(w.path, SEGMENT_PAGE), 0);
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(segment_guarded(segments_read, &r), -1);
		CU_ASSERT_EQUAL(errno, EIO);
	}
	segment_close(&r);
	segment_close(&w);
}

static void not_ours(void)
{
	struct segment w = segments_full(), r;
	char path[256];
	struct error e;

	chmod(w.path, 0640);
	must_be_refused(&w, "mode 640");
	chmod(w.path, 0600);
	if (geteuid() == 0) {
		CU_ASSERT_EQUAL(chown(w.path, 12345, (gid_t)-1), 0);
		must_be_refused(&w, "user 12345");
	}
	snprintf(path, sizeof(path), "%s/link.seg", segments_dir);
	CU_ASSERT_EQUAL(symlink(w.path, path), 0);
	CU_ASSERT_EQUAL(segment_open(&r, segments_dir, "link.seg", &e), -1);
	CU_ASSERT_EQUAL(errno, ELOOP);
	snprintf(path, sizeof(path), "%s/fifo.seg", segments_dir);
	CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
	CU_ASSERT_EQUAL(segment_open(&r, segments_dir, "fifo.seg", &e), -1);
	snprintf(path, sizeof(path), "%s/segments_dir.seg", segments_dir);
	mkdir(path, 0700);
	CU_ASSERT_EQUAL(segment_open(&r, segments_dir, "segments_dir.seg", &e), -1);
	rmdir(path);
	CU_ASSERT_EQUAL(segment_open(&r, segments_dir, "../run/x.seg", &e), -1);
	CU_ASSERT_EQUAL(segment_open(&r, segments_dir, "missing.seg", &e), -1);
	CU_ASSERT_EQUAL(errno, ENOENT);
	segment_close(&w);
}

static CU_TestInfo hostile_cases[] = {
	{"each place and length wrong in turn", places_outside},
	{"tables without an end are refused", tables_without_an_end},
	{"tables of holes are refused", tables_of_holes},
	{"tables across others are refused", tables_across_others},
	{"other kinds of files, other versions", other_kinds},
	{"entries that lead outside", wild_entries},
	{"cut at every page", truncated},
	{"cut while we read", truncated_under_us},
	{"other owner, mode, link, fifo, folder", not_ours},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{"hostile", segments_folder_make, segments_folder_remove, NULL, NULL,
		 hostile_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
