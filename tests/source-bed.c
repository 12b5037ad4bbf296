/* SPDX-License-Identifier: BSD-3-Clause */
/* A source on the fixture's store, and reading waves of it. */
#include "tests/source-bed.h"

#include <string.h>

#include "node-agent/segment/segment-mark.h"
#include "node-agent/source/site.h"
#include "pathmap/model/pathmap.h"
#include "tests/fixture.h"
#include "tests/tap.h"

static char everything[] = "/**", *patterns[] = {everything};
static char node[] = "n", cluster[] = "c";
struct plan_place source_bed_place = {.node = node, .cluster = cluster, .leaf = true};
static struct pathmap *map;
struct source_host source_bed_host;
static struct clock_host host_clock;
struct names *source_bed_names;
struct batch source_bed_batch;

void source_bed_begin(void)
{
	fixture_begin();
	map = pathmap_local(node, NULL);
	source_bed_names = names_new(NAME_PLACE_MAX);
	batch_init(&source_bed_batch);
}

void source_bed_end(void)
{
	batch_fini(&source_bed_batch);
	names_free(source_bed_names);
	sites_free(source_bed_host.sites);
	source_bed_host.sites = NULL;
	pathmap_free(map);
	fixture_end();
}

void source_bed_look(void)
{
	fixture_start(false);
	clock_host_init(&host_clock);
	source_bed_host = (struct source_host){
		.store = &fixture.store,
		.map = map,
		.node = node,
		.sites = sites_new(),
		.clock = &host_clock,
	};
}

static void files_go(const struct store_list *going, void *arg)
{
	(void)arg;
	rows_gone(&source_bed_host, going);
}

void source_bed_look_and_tell(struct rows_list *streams)
{
	source_bed_look();
	LIST_INIT(streams);
	source_bed_host.streams = streams;
	fixture.store.gone = files_go;
}

void source_bed_discard(const struct segment *s, uint32_t element, uint64_t below)
{
	struct segment_mark *marks = segment_marks_map(s);

	CU_ASSERT_PTR_NOT_NULL_FATAL(marks);
	atomic_store(&marks[element].below, below);
	segment_marks_unmap(s, marks);
}

Evspace__Open source_bed_asked(enum reading reading)
{
	static uint8_t id[16] = "a scope of tests";
	Evspace__Open open = EVSPACE__OPEN__INIT;
	static char run[] = "run";

	open.id.data = id;
	open.id.len = sizeof(id);
	open.run = run;
	open.reading = reading;
	open.backlog = true;
	open.select = patterns;
	open.n_select = 1;
	return open;
}

struct stage *source_bed_open(const Evspace__Open *open)
{
	struct error e = {""};
	struct stage *source =
		source_new(&source_bed_host, open, &source_bed_place, source_bed_names, &e);

	if (!source)
		tap_note("%s", e.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(source);
	return source;
}

int source_bed_read(struct stage *source, const struct ask *ask, struct error *e)
{
	while (source->ops->take && !source->ops->take(source))
		;
	return source->ops->read(source, ask, &source_bed_batch, e);
}

uint64_t source_bed_wave(struct stage *source, const struct ask *ask, struct part *part,
			 struct tuple *last)
{
	struct batch_cursor cursor = {0};
	struct run_view view;
	uint64_t n = 0;

	memset(part, 0, sizeof(*part));
	CU_ASSERT_EQUAL_FATAL(source_bed_read(source, ask, NULL), 0);
	while (batch_next(&source_bed_batch, &cursor, &view)) {
		if (view.run->kind == RUN_PART)
			*part = *view.part;
		if (view.run->kind != RUN_TUPLES || view.run->count == 0)
			continue;
		n += view.run->count;
		if (last && !(view.tuples[0].flags & TUPLE_REGION))
			*last = view.tuples[view.run->count - 1];
	}
	CU_ASSERT_EQUAL(part->read, n);
	return n;
}
