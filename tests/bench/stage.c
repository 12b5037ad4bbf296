/* SPDX-License-Identifier: BSD-3-Clause */
/* What a stage from out of tree costs: an object that agents would load, beside the same code
 * inside (`reduce`), over the same waves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/figures.h"
#include "tree/stage/stage-object.h"
#include "tree/stage/stage.h"

/* Of a wave: as many as some ten ranks write between two of 100 a second. */
#define TUPLES 4096u
#define PASSES 20000u

static const char about[] =
	"usage: stage [options]\n"
	"\n"
	"What a stage from out of tree (evspace-stage.h) costs more than the same code inside: "
	"sums\n"
	"of bytes over waves of 4,096 tuples of 64 threads, in runs of so many. An object is "
	"given\n"
	"copies, and guards around them and its records are looked at.\n"
	"\n"
	"  sum     `thread reduce sum of bytes`\n"
	"  all     `all reduce sum of bytes`\n"
	"  by-op   `thread reduce sum of bytes by op`, where every second tuple is of another one\n"
	"  newest  as sum, but each tuple is of another thread, so that each makes a record\n"
	"\n"
	"The wave is in the cache of the core that runs both in turn. Medians.\n";

static const unsigned runs[] = {1, 4, 16, 64, 256, 1024};
#define RUNS (sizeof(runs) / sizeof(runs[0]))

static const struct {
	const char *name, *file, *inside; /* file: the object; inside: arguments of `reduce` */
	enum level level;
	unsigned elements; /* as many threads */
	size_t runs;	   /* of runs[] */
} cases[] = {
	{"sum", "stage-sum.so", "sum of bytes", LEVEL_THREAD, 64, RUNS},
	{"all", "stage-sum.so", "sum of bytes", LEVEL_ALL, 64, RUNS},
	{"by-op", "stage-sum-by-op.so", "sum of bytes by op", LEVEL_THREAD, 64, RUNS},
	{"newest", "stage-sum.so", "sum of bytes", LEVEL_THREAD, TUPLES, 1},
};
#define CASES (sizeof(cases) / sizeof(cases[0]))

/* ---- waves ---- */

/* A wave of one leaf, kept as it is, and its names. */
struct made {
	struct names *names;
	struct batch batch;
};

static struct tuple tuple_of(unsigned i)
{
	static const uint16_t ops[] = {OP_MPI_SEND, OP_MPI_SEND, OP_MPI_RECV, OP_MPI_RECV};

	return (struct tuple){.start = 1000 + 100 * i,
			      .end = 1050 + 100 * i,
			      .bytes = 8 * (i % 1000),
			      .peer = (int32_t)(i % 32),
			      .comm = 1,
			      .op = ops[i % 4]};
}

static void made_init(struct made *m, unsigned elements, unsigned each)
{
	struct part *part;

	m->names = names_new(0);
	batch_init(&m->batch);
	part = batch_add(&m->batch, RUN_PART, 0, 1, 1, 0);
	*part = (struct part){.clock = CLOCK_LINE_NS, .elements = elements, .read = TUPLES};
	for (unsigned i = 0; i < elements; i++) {
		char text[64];

		snprintf(text, sizeof(text), "/c/n/rank%u/t%u/p2p", i / 2, i % 2);
		names_learn(m->names, name_id(0, i), LEVEL_ELEMENT, (int32_t)i / 2, 0, text);
	}
	for (unsigned i = 0; i < TUPLES; i += each) {
		struct tuple *out = batch_add(&m->batch, RUN_TUPLES,
					      name_id(0, i / each % elements), i, each, 0);

		for (unsigned k = 0; k < each; k++)
			out[k] = tuple_of(i + k);
	}
}

static void made_fini(struct made *m)
{
	batch_fini(&m->batch);
	names_free(m->names);
}

/* A batch of its own, as stages change what they get. */
static void made_copy(const struct made *m, struct batch *to)
{
	struct buffer *buffer = buffer_new(m->batch.bytes);
	size_t at = 0;

	for (size_t i = 0; i < m->batch.n; i++) {
		const struct extent *x = &m->batch.extents[i];

		memcpy(buffer->data + at, x->buffer->data + x->at, x->bytes);
		at += x->bytes;
	}
	batch_append(to, buffer, 0, at);
	buffer_unref(buffer);
}

/* ---- measuring ---- */

enum { INSIDE, OBJECT, WAYS, MORE = WAYS };

/* Ns a tuple of one wave. All of its tuples must be in what comes out. */
static int wave_measure(const struct made *m, struct stage *s, uint64_t wave, double *ns,
			struct error *e)
{
	const struct ask ask = {.wave = wave};
	struct chain chain = {.stages = &s, .n = 1};
	struct batch_cursor c = {0};
	struct run_view view;
	struct batch b;
	uint64_t began;
	int rc;

	batch_init(&b);
	made_copy(m, &b);
	began = clock_mono_ns();
	rc = chain_apply(&chain, &ask, &b, 0);
	*ns = (double)(clock_mono_ns() - began) / TUPLES;
	if (rc != 0 || batch_next_part(&b, &c, &view) != 1 || view.part->reduced != TUPLES)
		rc = errorf(e, "%s has not taken all tuples", s->ops->name);
	batch_fini(&b);
	return rc;
}

static int stages_make(size_t i, const struct made *m, struct stage *stages[WAYS], struct error *e)
{
	const struct stage_ops *object = stage_object_find(cases[i].file);

	if (!object) {
		stage_object_missing(cases[i].file, e);
		return -1;
	}
	stages[INSIDE] = stage_new(&reduce_ops, cases[i].level, m->names, cases[i].inside, e);
	stages[OBJECT] = stage_new(object, cases[i].level, m->names, "", e);
	return stages[INSIDE] && stages[OBJECT] ? 0 : -1;
}

static void cost_print(size_t i, unsigned each, const double ns[MORE + 1], bool json)
{
	printf(json ? "{\"bench\":\"stage\",\"case\":\"%s\",\"run\":%u,\"object_ns\":%.2f,"
		      "\"inside_ns\":%.2f,\"ratio\":%.2f,\"more_ns\":%.2f}\n"
		    : "%-6s %6u %10.2f %10.2f %6.2f %10.2f\n",
	       cases[i].name, each, ns[OBJECT], ns[INSIDE], ns[OBJECT] / ns[INSIDE], ns[MORE]);
}

static int cell_measure(size_t i, unsigned each, const struct bench_options *o, struct error *e)
{
	struct stage *stages[WAYS] = {NULL, NULL};
	double *values[WAYS + 1], ns[WAYS + 1], until = bench_seconds() + o->seconds;
	struct made made;
	size_t n = 0;
	int rc;

	made_init(&made, cases[i].elements, each);
	for (unsigned way = 0; way <= MORE; way++)
		values[way] = memory_new(PASSES, sizeof(double));
	rc = stages_make(i, &made, stages, e);
	while (rc == 0 && n < PASSES && (n == 0 || bench_seconds() < until)) {
		for (unsigned way = 0; rc == 0 && way < WAYS; way++)
			rc = wave_measure(&made, stages[way], n + 1, &values[way][n], e);
		values[MORE][n] = values[OBJECT][n] - values[INSIDE][n];
		n++;
	}
	for (unsigned way = 0; way <= MORE; way++) {
		ns[way] = figures_median(values[way], n);
		free(values[way]);
	}
	stage_free(stages[INSIDE]);
	stage_free(stages[OBJECT]);
	made_fini(&made);
	if (rc == 0)
		cost_print(i, each, ns, o->json);
	return rc;
}

static int measure(const struct bench_options *o, struct error *e)
{
	if (!o->json)
		printf("ns a tuple; medians\n\n%-6s %6s %10s %10s %6s %10s\n", "case", "run",
		       "object", "inside", "ratio", "more");
	for (size_t i = 0; i < CASES; i++) {
		if (o->only && strcmp(o->only, cases[i].name) != 0)
			continue;
		for (size_t k = 0; k < cases[i].runs; k++)
			if (cell_measure(i, runs[k], o, e) < 0)
				return -1;
	}
	return 0;
}

/* ---- objects ---- */

/* Agents take objects from a folder that nobody else can write to; so does this. */
static int objects_load(char *folder, struct error *e)
{
	char path[4200], log[64];
	int rc = 0;

	if (!mkdtemp(folder))
		return errorf(e, "cannot make the folder %s", folder);
	snprintf(log, sizeof(log), "%s/log", folder);
	for (size_t i = 0; rc == 0 && i < CASES; i++) {
		char *argv[] = {(char[]){"/usr/bin/install"}, path, folder, NULL};
		char name[64];

		snprintf(name, sizeof(name), "tests/bench/.libs/%s", cases[i].file);
		bench_built(name, path, sizeof(path));
		rc = bench_run(argv, log, e);
	}
	return rc < 0 ? rc : stage_objects_load(folder, stderr, e);
}

static void objects_remove(const char *folder)
{
	char path[128];

	for (size_t i = 0; i < CASES; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, cases[i].file);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/log", folder);
	unlink(path);
	rmdir(folder);
}

int main(int argc, char **argv)
{
	static const struct bench_options quick = {.seconds = 0.1, .rounds = 1};
	struct bench_options o = {.seconds = 1, .rounds = 1};
	char folder[] = "/tmp/evspace-bench-stage.XXXXXX";
	struct error e = {""};
	int result;

	bench_parse(argc, argv, &o, &quick, about);
	bench_begin();
	result = objects_load(folder, &e);
	if (result == 0)
		result = measure(&o, &e);
	if (result < 0)
		fprintf(stderr, "stage: %s\n", e.text);
	objects_remove(folder);
	return result < 0 ? 1 : 0;
}
