/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the other byte order: every field swapped, nothing else touched, garbage refused. */
#include "tree/stage/stage.h"
#include "tests/random.h"
#include "tests/tap.h"

#include <byteswap.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#define SWAP16(field) ((field) = bswap_16(field))
#define SWAP32(field) ((field) = bswap_32(field))
#define SWAP64(field) ((field) = bswap_64(field))

static void swap_double(double *d)
{
	uint64_t bits;

	memcpy(&bits, d, sizeof(bits));
	SWAP64(bits);
	memcpy(d, &bits, sizeof(bits));
}

/* Its bytes, and those of typed tuples, are the same on all machines. */
static void swap_figure(struct field_figure *f)
{
	SWAP64(f->count);
	swap_double(&f->min);
	swap_double(&f->max);
	swap_double(&f->mean);
	swap_double(&f->m2);
}

static void swap_part(struct part *p)
{
	p->clock.base_ns = (int64_t)bswap_64((uint64_t)p->clock.base_ns);
	SWAP64(p->clock.base_ticks);
	swap_double(&p->clock.ns_per_tick);
	swap_double(&p->clock.error_ns);
	SWAP64(p->read);
	SWAP64(p->lost);
	SWAP64(p->filtered);
	SWAP64(p->reduced);
	SWAP32(p->elements);
	SWAP32(p->cpu_us);
	SWAP64(p->written);
	SWAP64(p->cost_ns);
	SWAP32(p->processes);
}

static void swap_tuple(struct tuple *t)
{
	SWAP64(t->start);
	SWAP64(t->end);
	SWAP64(t->bytes);
	t->peer = (int32_t)bswap_32((uint32_t)t->peer);
	SWAP32(t->seq_or_tag);
	SWAP32(t->comm);
	SWAP16(t->op);
	SWAP16(t->flags);
}

static void swap_total(struct total *t)
{
	SWAP64(t->count);
	SWAP64(t->sum);
	swap_double(&t->mean);
	swap_double(&t->m2);
	SWAP64(t->min);
	SWAP64(t->max);
	SWAP32(t->comm);
	SWAP16(t->op);
}

static void swap_bin(struct bin *b)
{
	SWAP64(b->count);
	SWAP64(b->sum);
	SWAP64(b->most);
	SWAP32(b->comm);
	SWAP16(b->op);
	SWAP16(b->slot);
}

static void swap_cell(struct cell *c)
{
	SWAP64(c->calls);
	SWAP64(c->bytes);
	SWAP32(c->from);
	SWAP32(c->to);
	SWAP32(c->named);
}

static void swap_count(struct count *c)
{
	SWAP64(c->calls);
	SWAP64(c->bytes);
	SWAP64(c->time_ns);
	SWAP64(c->skipped);
	SWAP32(c->comm);
	SWAP16(c->channel);
}

static void swap_meet(struct meet *m)
{
	SWAP64(m->start);
	SWAP64(m->before);
	SWAP64(m->last);
	SWAP64(m->end);
	SWAP64(m->last_end);
	SWAP64(m->waited);
	SWAP64(m->bytes);
	SWAP32(m->comm);
	SWAP32(m->number);
	SWAP32(m->count);
	SWAP32(m->who);
	SWAP32(m->signature);
	SWAP16(m->op);
}

/* A batch as a host with the other byte order sends it, field by field. */
static void swap_all(struct batch *b)
{
	struct batch_cursor c = {0};
	struct run_view view;

	while (batch_next_packed(b, &c, &view)) {
		struct newest *newest = (struct newest *)(void *)view.records;

		if (view.run->kind == RUN_PART)
			swap_part(view.part);
		for (unsigned i = 0; i < view.run->count; i++) {
			if (view.run->kind == RUN_NEWEST) {
				SWAP64(newest[i].number);
				swap_tuple(&newest[i].tuple);
			}
			if (view.run->kind == RUN_TUPLES)
				swap_tuple(&view.tuples[i]);
			else if (view.run->kind == RUN_TOTALS)
				swap_total(&view.totals[i]);
			else if (view.run->kind == RUN_BINS)
				swap_bin(&view.bins[i]);
			else if (view.run->kind == RUN_MEDIANS) {
				swap_bin(&view.medians[i].bin);
				SWAP64(view.medians[i].all);
			} else if (view.run->kind == RUN_CELLS)
				swap_cell(&view.cells[i]);
			else if (view.run->kind == RUN_COUNTS)
				swap_count(&view.counts[i]);
			else if (view.run->kind == RUN_MEETS)
				swap_meet(&view.meets[i]);
			else if (view.run->kind == RUN_FIGURES)
				swap_figure(&view.field_figures[i]);
			else if (view.run->kind == RUN_FOREIGN)
				SWAP64(view.foreigns[i].word);
		}
		if (view.run->flags & RUN_LOST)
			SWAP64(*(uint64_t *)(void *)(view.run + 1));
		SWAP32(view.run->element);
		SWAP16(view.run->count);
		SWAP64(view.run->first);
	}
}

/* Two tuples of a program's own element. */
static void typed_add(struct batch *b)
{
	static const char type[] = "n i32, x f64, who text[3]";
	const struct {
		int32_t n;
		double x;
		char who[3];
	} values = {-5, 0.25, "ab"};
	struct typed_word *to;
	struct fields fields;
	uint32_t words;

	CU_ASSERT_EQUAL_FATAL(fields_parse(&fields, type, NULL), 0);
	words = typed_head_words(type) + 2 * typed_tuple_words(&fields);
	to = typed_head(batch_add(b, RUN_TYPED, 11, 3, words, 1), &fields, type);
	to = typed_put(to, 77, &values, fields.bytes);
	(void)typed_put(to, 0, &values, fields.bytes);
}

static void fill(struct batch *b)
{
	struct part part = {
		.clock = {-5, 7, 0.25, 3},
		.read = 1,
		.lost = 2,
		.filtered = 3,
		.reduced = 4,
		.elements = 5,
		.cpu_us = 6,
		.written = 7,
		.cost_ns = 8,
		.processes = 9,
	};
	struct tuple tuple = {1, 2, 3, -4, 5, 6, 7, 8};
	struct newest newest = {12, tuple};
	const struct foreign_kind sketch = {"nobody-has-this", 2, true};
	struct foreign foreign[FOREIGN_HEAD + 4];
	struct total total = {4, 10, 2.5, 5, 1, 4, 9, 3, TOTAL_BYTES, FOLD_MEAN};

	memcpy(batch_add(b, RUN_PART, 77, 1234567, 1, 0), &part, sizeof(part));
	for (uint32_t count = 0; count < 3; count++) {
		struct tuple *t = batch_add(b, RUN_TUPLES, 5, 99, count, 2 - count);
		struct total *f;

		for (uint32_t i = 0; i < count; i++)
			t[i] = tuple;
		f = batch_add(b, RUN_TOTALS, 6, 0, count, 0);
		for (uint32_t i = 0; i < count; i++)
			f[i] = total;
	}
	memcpy(batch_add(b, RUN_NEWEST, 5, 0, 1, 0), &newest, sizeof(newest));
	*(struct bin *)batch_add(b, RUN_BINS, 7, 0, 1, 0) =
		(struct bin){1, 2, 3, 4, 5, (uint16_t)bin_number(3)};
	*(struct median *)batch_add(b, RUN_MEDIANS, 7, 0, 1, 0) =
		(struct median){{1, 2, 3, 4, 5, (uint16_t)bin_number(3)}, 6};
	*(struct cell *)batch_add(b, RUN_CELLS, 8, 0, 1, 0) =
		(struct cell){1, 2, 3, 4, CELL_TO_NAMED, 0};
	*(struct count *)batch_add(b, RUN_COUNTS, 9, 0, 1, 0) =
		(struct count){1, 2, 3, 4, 5, CHANNEL_WAIT, 0};
	*(struct meet *)batch_add(b, RUN_MEETS, 9, 0, 1, 0) =
		(struct meet){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, MEET_MIXED};
	foreign_head(foreign, &sketch);
	for (unsigned i = FOREIGN_HEAD; i < FOREIGN_HEAD + 4; i++)
		foreign[i].word = UINT64_C(0x0102030405060708) + i;
	memcpy(batch_add(b, RUN_FOREIGN, 10, 0, FOREIGN_HEAD + 4, 0), foreign, sizeof(foreign));
	typed_add(b);
	*(struct field_figure *)batch_add(b, RUN_FIGURES, 11, 0, 1, 0) =
		(struct field_figure){2, 1.5, 2.5, 2, 0.5, FOLD_MAX, {0}, "residual"};
}

/* No stage of this kind is here: the run says itself what it holds, in both byte orders. */
static void foreign_records(void)
{
	struct foreign_kind kind;
	struct batch_cursor c = {0};
	struct run_view view;
	unsigned found = 0;
	struct batch b;

	batch_init(&b);
	fill(&b);
	swap_all(&b);
	CU_ASSERT_EQUAL(convert_swap(b.own->data, b.bytes, NULL), 0);
	while (batch_next(&b, &c, &view)) {
		if (view.run->kind != RUN_FOREIGN)
			continue;
		found++;
		CU_ASSERT_EQUAL(foreign_read(view.foreigns, view.run->count, &kind), 2);
		CU_ASSERT_STRING_EQUAL(kind.name, "nobody-has-this");
		CU_ASSERT(kind.keyed && kind.words == 2);
		CU_ASSERT_EQUAL(view.foreigns[FOREIGN_HEAD + 1].word,
				UINT64_C(0x0102030405060708) + FOREIGN_HEAD + 1);
	}
	CU_ASSERT_EQUAL(found, 1);
	batch_fini(&b);
}

/* As the other machine would write them: its order, and the word that says so. */
static void typed_reverse(const struct run_view *view)
{
	struct typed_word *words = view->typed_words;
	struct typed_run run;

	CU_ASSERT_FATAL(typed_read(&run, words, view->run->count));
	for (uint32_t i = 0; i < run.n; i++) {
		struct typed_word *tuple = words + (run.tuples - words) + i * run.words;
		uint64_t ticks = bswap_64(typed_ticks(tuple));

		memcpy(tuple, &ticks, sizeof(ticks));
		fields_swap(&run.fields, tuple + 1);
	}
	words->bytes[0] ^= 1;
}

/* Typed tuples are put in order where somebody looks at them, and their times are converted there.
 */
static void typed_tuples(void)
{
	const struct clock_line line = {1000, 70, 2, 0};
	struct batch_cursor c = {0};
	struct run_view view;
	struct typed_run run;
	struct batch b;
	double x;

	batch_init(&b);
	fill(&b);
	while (batch_next(&b, &c, &view) && view.run->kind != RUN_TYPED)
		;
	CU_ASSERT_EQUAL_FATAL(view.run->kind, RUN_TYPED);
	typed_reverse(&view);
	typed_to_ns(view.typed_words, view.run->count, &line);
	CU_ASSERT_FATAL(typed_read(&run, view.typed_words, view.run->count));
	CU_ASSERT(!run.swapped && run.n == 2 && view.lost == 1);
	CU_ASSERT_EQUAL(typed_ticks(run.tuples), 1014);
	CU_ASSERT_EQUAL(typed_ticks(run.tuples + run.words), 0);
	memcpy(&x, (char *)typed_fields(run.tuples) + run.fields.field[1].at, sizeof(x));
	CU_ASSERT_EQUAL(x, 0.25);
	/* what a peer may say instead */
	CU_ASSERT_FALSE(typed_read(&run, view.typed_words, view.run->count - 1));
	CU_ASSERT_FALSE(typed_read(&run, view.typed_words, 1));
	view.typed_words[0].bytes[2]++;
	CU_ASSERT_FALSE(typed_read(&run, view.typed_words, view.run->count));
	CU_ASSERT_EQUAL(batch_check(b.own->data, b.bytes, NULL, NULL), -1);
	view.typed_words[0].bytes[2]--;
	view.typed_words[1].bytes[0] = '1';
	CU_ASSERT_FALSE(typed_read(&run, view.typed_words, view.run->count));
	memset(view.typed_words + 1, 'n', view.typed_words[0].bytes[1] * sizeof(*view.typed_words));
	CU_ASSERT_FALSE(typed_read(&run, view.typed_words, view.run->count));
	batch_fini(&b);
}

static void every_field(void)
{
	unsigned char data[2048], *sent;
	struct batch b;
	struct error e;
	size_t bytes;

	batch_init(&b);
	fill(&b);
	CU_ASSERT_EQUAL_FATAL(b.n, 1);
	bytes = b.bytes;
	CU_ASSERT_FATAL(bytes < sizeof(data));
	memcpy(data, b.own->data, bytes);
	swap_all(&b);
	sent = b.own->data;
	CU_ASSERT_NOT_EQUAL(memcmp(sent, data, bytes), 0);
	CU_ASSERT_EQUAL(convert_swap(sent, bytes, &e), 0);
	CU_ASSERT_EQUAL(memcmp(sent, data, bytes), 0);
	CU_ASSERT_EQUAL(batch_check(sent, bytes, NULL, &e), 0);
	batch_fini(&b);
}

static void cut_anywhere(void)
{
	unsigned char data[2048];
	size_t bytes, whole = 0;
	struct batch b;
	struct error e;

	batch_init(&b);
	fill(&b);
	bytes = b.bytes;
	swap_all(&b);
	for (size_t cut = 0; cut <= bytes; cut++) {
		memcpy(data, b.own->data, cut);
		errno = 0;
		if (convert_swap(data, cut, &e) == 0) {
			whole++;
			continue;
		}
		CU_ASSERT_EQUAL(errno, EPROTO);
		CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "other byte order"));
	}
	CU_ASSERT_EQUAL(whole, 17);
	batch_fini(&b);
}

static void garbage(void)
{
	_Alignas(8) unsigned char data[256];
	uint64_t seed = 1;

	for (int i = 0; i < 100000; i++) {
		size_t bytes = random_below(&seed, sizeof(data));

		for (size_t k = 0; k < bytes; k++)
			data[k] = (unsigned char)random_below(&seed,
							      random_below(&seed, 2) ? 4 : 256);
		convert_swap(data, bytes, NULL);
		batch_check(data, bytes, NULL, NULL);
	}
}

/* A batch of @n runs of typed tuples, without any, of so many types: a field each of many. */
static const char *typed_check(unsigned n, unsigned types)
{
	static struct error e;
	struct buffer *all;
	struct batch b;

	batch_init(&b);
	memset(batch_add(&b, RUN_PART, 5, 9, 1, 0), 0, sizeof(struct part));
	for (unsigned i = 0; i < n; i++) {
		char text[64];
		struct fields fields;

		snprintf(text, sizeof(text), "residual_%u f64, number i64", i % types);
		CU_ASSERT_EQUAL_FATAL(fields_parse(&fields, text, NULL), 0);
		typed_head(batch_add(&b, RUN_TYPED, 1 + i % 100, 1, typed_head_words(text), 0),
			   &fields, text);
	}
	all = buffer_new(b.bytes);
	for (size_t i = 0; i < b.n; i++) {
		memcpy(all->data + all->used, b.extents[i].buffer->data + b.extents[i].at,
		       b.extents[i].bytes);
		all->used += b.extents[i].bytes;
	}
	e.text[0] = '\0';
	(void)batch_check(all->data, all->used, NULL, &e);
	buffer_unref(all);
	batch_fini(&b);
	return e.text;
}

/* What would take long to look at is refused: reading a type takes as long as hundreds of tuples.
 */
static void types_are_bounded(void)
{
	CU_ASSERT_STRING_EQUAL(typed_check(200000, 7), "");
	CU_ASSERT_STRING_EQUAL(typed_check(5000, 5000), "");
	CU_ASSERT_PTR_NOT_NULL(strstr(typed_check(200000, 50000), "too many types"));
}

static CU_TestInfo convert_cases[] = {
	{"every field of every kind", every_field},
	{"records of a stage that nobody has here", foreign_records},
	{"typed tuples", typed_tuples},
	{"... of too many types", types_are_bounded},
	{"cut anywhere", cut_anywhere},
	{"garbage", garbage},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "convert", .pTests = convert_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
