/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts one collective operation onto a picture: a bar for each rank, from when it came to when it
 * left, light while it waited for the last one to come. */
#include "consumers/colop/instance.h"

#include <stdio.h>

#include "consumers/cli/words.h"
#include "pathmap/base/quantity.h"
#include "tree/data/op.h"
#include "tree/data/process.h"

enum { WIDTH = 960, LEFT = 110, RIGHT = 20, TOP = 50, BOTTOM = 30 };

enum { BLACK = 0x000000, GRID = 0xcccccc, WAITING = 0xa9c4eb, INSIDE = 0x1a4db3, LAST = 0xc0392b };

/* Rows become thin before the paper becomes too long; their names are left out, then. */
#define ROWS_HEIGHT 16000.0
#define ROW_MOST    16.0
#define ROW_NAMED   8.0

struct bar_rows {
	struct picture *p;
	int64_t from, to, last; /* first start, last end, last start */
	double height;
};

static double at_x(const struct bar_rows *r, int64_t ns)
{
	double all = (double)(r->to - r->from);

	return LEFT + (all > 0 ? (double)(ns - r->from) / all : 0) * (WIDTH - LEFT - RIGHT);
}

static void arrival_draw(const struct bar_rows *r, const struct attendance *attendance,
			 const struct arrival *a, size_t i)
{
	double y = TOP + (double)i * r->height, below = y + r->height * 0.75;
	int32_t rank = attendance_rank(attendance, a->process);
	int64_t met = r->last < a->end_ns ? r->last : a->end_ns;
	char who[PROCESS_NAME];

	if (a->start_ns < met)
		picture_bar(r->p, (double[]){at_x(r, a->start_ns), y},
			    (double[]){at_x(r, met), below}, WAITING);
	else
		met = a->start_ns;
	picture_bar(r->p, (double[]){at_x(r, met), y}, (double[]){at_x(r, a->end_ns) + 0.5, below},
		    a->start_ns == r->last ? LAST : INSIDE);
	if (r->height >= ROW_NAMED)
		picture_text(r->p, (double[]){8, below}, r->height * 0.65, BLACK,
			     rank >= 0 ? process_words(who, rank)
				       : attendance_process(attendance, a->process));
}

static void axis_draw(const struct bar_rows *r, size_t n)
{
	double below = TOP + (double)n * r->height;
	char text[UNIT_TEXT + 1] = "+";

	for (int i = 0; i <= 6; i++) {
		int64_t ns = r->from + (r->to - r->from) / 6 * i;
		double x = at_x(r, ns);

		picture_line(r->p, (double[]){x, TOP - 6}, (double[]){x, below}, 0.5, GRID);
		unit_duration(text + 1, (uint64_t)(ns - r->from));
		picture_text(r->p, (double[]){x - 16, below + 16}, 11, BLACK, text);
	}
}

void instance_draw(const struct instance *instance, const struct evspace_client *client,
		   const struct attendance *attendance, struct picture *picture)
{
	const struct meeting *m = &instance->meeting;
	struct bar_rows r = {.p = picture, .from = m->arrivals[0].start_ns, .height = ROW_MOST};
	char name[96], title[160];

	r.last = r.to = r.from;
	for (size_t i = 0; i < m->n; i++) {
		r.to = m->arrivals[i].end_ns > r.to ? m->arrivals[i].end_ns : r.to;
		r.last = m->arrivals[i].start_ns > r.last ? m->arrivals[i].start_ns : r.last;
	}
	if (ROWS_HEIGHT / (double)m->n < r.height)
		r.height = ROWS_HEIGHT / (double)m->n;
	picture->width = WIDTH;
	picture->height = TOP + (double)m->n * r.height + BOTTOM;
	words_class(name, sizeof(name), client, op_name(m->op), m->key.comm);
	snprintf(title, sizeof(title), "%s #%u: %zu ranks; light: waiting for the last one, red",
		 name, m->key.number, m->n);
	picture_text(picture, (double[]){8, 20}, 14, BLACK, title);
	axis_draw(&r, m->n);
	for (size_t i = 0; i < m->n; i++)
		arrival_draw(&r, attendance, &m->arrivals[i], i);
}
