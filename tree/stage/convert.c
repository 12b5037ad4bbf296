/* SPDX-License-Identifier: BSD-3-Clause */
/* Convert: ticks to nanoseconds (a stage), and the other byte order to ours (for links). */
#include "tree/stage/stage.h"
#include "tree/data/tuple.h"

#include <errno.h>
#include <string.h>

/* ---- time ---- */

static int convert_init(struct stage *s, const char *args, struct error *e)
{
	(void)s;
	if (strcmp(args, "time") == 0)
		return 0;
	return errorf(e,
		      "convert \"%s\" is unknown; it must be \"convert time\" (byte order needs no "
		      "stage, links see to it)",
		      args);
}

/* Progress in the current wave. */
struct convert {
	struct batch_cursor next;
	struct clock_line line;
};

static void run_convert(struct convert *c, const struct run_view *view)
{
	struct clock_line *line = &c->line;

	if (view->run->kind == RUN_PART) {
		*line = view->part->clock;
		/* the base stays: it is when the host was read */
		view->part->clock = (struct clock_line){line->base_ns, (uint64_t)line->base_ns, 1,
							line->error_ns};
	} else if (clock_line_same(line, &CLOCK_LINE_NS)) {
		return;
	} else if (view->run->kind == RUN_TUPLES) {
		for (unsigned i = 0; i < view->run->count; i++)
			tuple_to_ns(&view->tuples[i], line);
	} else if (view->run->kind == RUN_TYPED) {
		typed_to_ns(view->typed_words, view->run->count, line);
	}
}

static int convert_apply(struct stage *s, const struct ask *ask, struct batch *b)
{
	struct convert *c = (struct convert *)(void *)s->private;
	struct run_view view;

	(void)ask;
	if (!s->paused)
		*c = (struct convert){.line = CLOCK_LINE_NS};
	while (batch_next(b, &c->next, &view)) {
		run_convert(c, &view);
		if (stage_over(s, 1 + view.run->count))
			return 1;
	}
	return 0;
}

const struct stage_ops convert_ops = {
	.name = "convert",
	.op = OP_EVSPACE_CONVERT,
	.traits = {.keeps = true},
	.size = sizeof(struct convert),
	.init = convert_init,
	.apply = convert_apply,
};

/* ---- bytes ---- */

static unsigned char *swap_field(unsigned char *p, unsigned width)
{
	for (unsigned i = 0; i < width / 2; i++) {
		unsigned char c = p[i];

		p[i] = p[width - 1 - i];
		p[width - 1 - i] = c;
	}
	return p + width;
}

int convert_swap(unsigned char *data, size_t bytes, struct error *e)
{
	size_t at = 0;

	while (bytes - at >= sizeof(struct run)) {
		unsigned char *p = data + at;
		struct run run;
		size_t whole = sizeof(run);

		p = swap_field(p, sizeof(run.element));
		p = swap_field(p, sizeof(run.count));
		p = swap_field(p + sizeof(run.kind) + sizeof(run.flags), sizeof(run.first));
		memcpy(&run, data + at, sizeof(run));
		whole += run.count * run_record_bytes(run.kind);
		if (run.flags & RUN_LOST)
			whole += sizeof(uint64_t);
		if (run.kind >= RUN_KINDS || whole > bytes - at)
			break;
		if (run.flags & RUN_LOST)
			p = swap_field(p, sizeof(uint64_t));
		while (p < data + at + whole)
			for (const char *width = run_records[run.kind].fields; *width; width++)
				p = swap_field(p, (unsigned)(*width - '0'));
		at += whole;
	}
	if (at == bytes)
		return 0;
	errno = EPROTO;
	return errorf(e, "a batch of %zu bytes in the other byte order is broken at byte %zu",
		      bytes, at);
}
