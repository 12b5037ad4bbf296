/* SPDX-License-Identifier: BSD-3-Clause */
/* The FHP-II lattice gas, 64 cells a word (multi-spin coding): moving, colliding, counting. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/apps/lattice.h"

/*
 * A plane of a row is a word that repeats the plane's last one, the words, and a word that repeats
 * the first one, so that shifting round the torus needs no special case.
 */
static size_t plane_words(const struct lattice *l)
{
	return (size_t)l->words + 2;
}

static size_t row_words(const struct lattice *l)
{
	return PLANES * plane_words(l);
}

/* Row -1 is the ghost of the north, row `rows` that of the south. */
static uint64_t *row_at(const struct lattice *l, long row)
{
	return l->cells + (size_t)(row + 1) * row_words(l);
}

static uint64_t mix64(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* The place of a word in the whole matrix: the same however the matrix is cut. */
static uint64_t word_place(const struct lattice *l, long row, int plane, long word)
{
	return ((uint64_t)(l->first + row) * PLANES + (uint64_t)plane) * (uint64_t)l->words +
	       (uint64_t)word;
}

/* The plate stands across the wind, a quarter down the tunnel, four rows thick. */
static int row_has_plate(const struct lattice *l, long row)
{
	long at = l->first + row - l->height / 4;

	return at >= 0 && at < 4;
}

/* --- what one cell does, for 64 of them ---------------------------------------------------- */

/*
 * A resting particle and one that moves to `middle` become two that move to both sides of it, or
 * the other way round: the two unit vectors at 60 degrees to another add up to it.
 */
static inline uint64_t rest_exchange(uint64_t rest, uint64_t middle, uint64_t left, uint64_t right,
				     uint64_t others)
{
	return ((rest & middle & ~left & ~right) | (~rest & ~middle & left & right)) & ~others;
}

/*
 * Each rule holds for states that no other rule holds for, so the bits to flip may be joined by OR:
 * head-on pairs turn by 60 degrees, three at 120 degrees turn by 60, and rest_exchange().
 */
void lattice_collide(uint64_t cell[PLANES], uint64_t chirality)
{
	const uint64_t e = cell[PLANE_E], w = cell[PLANE_W], rest = cell[PLANE_REST];
	const uint64_t ne = cell[PLANE_NE], nw = cell[PLANE_NW];
	const uint64_t se = cell[PLANE_SE], sw = cell[PLANE_SW];

	const uint64_t flat = e & w & ~(ne | nw | se | sw);
	const uint64_t rising = ne & sw & ~(e | w | nw | se);
	const uint64_t falling = nw & se & ~(e | w | ne | sw);
	const uint64_t to_flat = (falling & chirality) | (rising & ~chirality);
	const uint64_t to_rising = (flat & chirality) | (falling & ~chirality);
	const uint64_t to_falling = (rising & chirality) | (flat & ~chirality);

	const uint64_t three = (e ^ ne) & (ne ^ nw) & (nw ^ w) & (w ^ sw) & (sw ^ se);

	const uint64_t at_e = rest_exchange(rest, e, ne, se, nw | w | sw);
	const uint64_t at_ne = rest_exchange(rest, ne, nw, e, w | sw | se);
	const uint64_t at_nw = rest_exchange(rest, nw, w, ne, sw | se | e);
	const uint64_t at_w = rest_exchange(rest, w, sw, nw, se | e | ne);
	const uint64_t at_sw = rest_exchange(rest, sw, se, w, e | ne | nw);
	const uint64_t at_se = rest_exchange(rest, se, e, sw, ne | nw | w);

	cell[PLANE_E] ^= three | flat | to_flat | at_e | at_ne | at_se;
	cell[PLANE_W] ^= three | flat | to_flat | at_w | at_nw | at_sw;
	cell[PLANE_NE] ^= three | rising | to_rising | at_ne | at_e | at_nw;
	cell[PLANE_SW] ^= three | rising | to_rising | at_sw | at_w | at_se;
	cell[PLANE_NW] ^= three | falling | to_falling | at_nw | at_w | at_ne;
	cell[PLANE_SE] ^= three | falling | to_falling | at_se | at_e | at_sw;
	cell[PLANE_REST] ^= at_e | at_ne | at_nw | at_w | at_sw | at_se;
}

static inline void swap_words(uint64_t *a, uint64_t *b)
{
	uint64_t was = *a;

	*a = *b;
	*b = was;
}

void lattice_bounce(uint64_t cell[PLANES])
{
	swap_words(&cell[PLANE_E], &cell[PLANE_W]);
	swap_words(&cell[PLANE_NE], &cell[PLANE_SW]);
	swap_words(&cell[PLANE_NW], &cell[PLANE_SE]);
}

/* Bits of a word; the builtin is a slow call where the compiler may not assume a popcount
 * instruction. */
static inline int64_t word_count(uint64_t word)
{
	word -= word >> 1 & 0x5555555555555555;
	word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return (int64_t)(word * 0x0101010101010101 >> 56);
}

static struct census census_of(const int64_t n[PLANES])
{
	struct census c = {0};

	for (int p = 0; p < PLANES; p++)
		c.mass += n[p];
	c.east = 2 * (n[PLANE_E] - n[PLANE_W]) + n[PLANE_NE] + n[PLANE_SE] - n[PLANE_NW] -
		 n[PLANE_SW];
	c.north = n[PLANE_NE] + n[PLANE_NW] - n[PLANE_SE] - n[PLANE_SW];
	return c;
}

struct census lattice_count(const uint64_t cell[PLANES], uint64_t mask)
{
	int64_t n[PLANES];

	for (int p = 0; p < PLANES; p++)
		n[p] = word_count(cell[p] & mask);
	return census_of(n);
}

/* --- rows ---------------------------------------------------------------------------------- */

static inline uint64_t from_west(const uint64_t *plane, long word)
{
	return plane[word] << 1 | plane[word - 1] >> 63;
}

static inline uint64_t from_east(const uint64_t *plane, long word)
{
	return plane[word] >> 1 | plane[word + 1] << 63;
}

/* The three rows that particles come from, each pointing at word 0 of its first plane. */
struct rows {
	const uint64_t *above, *here, *below;
	size_t plane;
	int shifted; /* the row has an odd number: it lies half a cell to the east */
};

static inline void cells_arrive(uint64_t cell[PLANES], const struct rows *r, long word)
{
	const uint64_t *se = r->above + PLANE_SE * r->plane, *sw = r->above + PLANE_SW * r->plane;
	const uint64_t *ne = r->below + PLANE_NE * r->plane, *nw = r->below + PLANE_NW * r->plane;

	cell[PLANE_E] = from_west(r->here + PLANE_E * r->plane, word);
	cell[PLANE_W] = from_east(r->here + PLANE_W * r->plane, word);
	cell[PLANE_REST] = r->here[PLANE_REST * r->plane + (size_t)word];
	cell[PLANE_SE] = r->shifted ? se[word] : from_west(se, word);
	cell[PLANE_NE] = r->shifted ? ne[word] : from_west(ne, word);
	cell[PLANE_SW] = r->shifted ? from_east(sw, word) : sw[word];
	cell[PLANE_NW] = r->shifted ? from_east(nw, word) : nw[word];
}

/* In the cells of the plate particles turn round, and give it twice their momentum. */
static void cells_hit_plate(uint64_t cell[PLANES], const uint64_t arrived[PLANES], uint64_t solid,
			    struct census *given)
{
	struct census hit = lattice_count(arrived, solid);
	uint64_t turned[PLANES];

	memcpy(turned, arrived, sizeof(turned));
	lattice_bounce(turned);
	for (int p = 0; p < PLANES; p++)
		cell[p] = (cell[p] & ~solid) | (turned[p] & solid);
	given->east += 2 * hit.east;
	given->north += 2 * hit.north;
}

/* The words before the first and after the last repeat the other end of the row. */
static void row_close(uint64_t *row, size_t plane, long words)
{
	for (int p = 0; p < PLANES; p++, row += plane) {
		row[-1] = row[words - 1];
		row[words] = row[0];
	}
}

static void row_step(struct lattice *l, long row, const struct rows *r, long step)
{
	uint64_t *out = row_at(l, row) + 1;
	const uint64_t chirality =
		(l->first + row + step) % 2 ? 0x5555555555555555 : 0xaaaaaaaaaaaaaaaa;
	const int plate = row_has_plate(l, row);

	for (long word = 0; word < l->words; word++) {
		uint64_t cell[PLANES], arrived[PLANES];

		cells_arrive(cell, r, word);
		if (plate)
			memcpy(arrived, cell, sizeof(arrived));
		lattice_collide(cell, chirality);
		if (plate)
			cells_hit_plate(cell, arrived, l->plate[word], &l->given);
		for (int p = 0; p < PLANES; p++)
			out[(size_t)p * r->plane + (size_t)word] = cell[p];
	}
	row_close(out, r->plane, l->words);
}

void lattice_step(struct lattice *l, long step)
{
	const size_t bytes = row_words(l) * sizeof(uint64_t);

	/* Rows are replaced in place, from north to south; what the next one needs is kept. */
	memcpy(l->above, row_at(l, -1), bytes);
	for (long row = 0; row < l->rows; row++) {
		struct rows r = {
			.above = l->above + 1,
			.here = l->here + 1,
			.below = row_at(l, row + 1) + 1,
			.plane = plane_words(l),
			.shifted = (l->first + row) % 2 != 0,
		};
		uint64_t *was = l->above;

		memcpy(l->here, row_at(l, row), bytes);
		row_step(l, row, &r, step);
		l->above = l->here;
		l->here = was;
	}
}

/* --- slices -------------------------------------------------------------------------------- */

/* Every second place that moves with the wind is taken, every fourth of the others. */
static void row_fill(struct lattice *l, long row, uint64_t seed)
{
	uint64_t *out = row_at(l, row) + 1;

	for (int p = 0; p < PLANES; p++) {
		for (long word = 0; word < l->words; word++) {
			uint64_t bits = mix64(seed ^ mix64(word_place(l, row, p, word)));

			if (p != PLANE_SE && p != PLANE_SW)
				bits &= mix64(bits);
			if (row_has_plate(l, row))
				bits &= ~l->plate[word];
			out[(size_t)p * plane_words(l) + (size_t)word] = bits;
		}
	}
	row_close(out, plane_words(l), l->words);
}

int lattice_init(struct lattice *l, long height, long words, long first, long rows, uint64_t seed)
{
	*l = (struct lattice){.height = height, .words = words, .first = first, .rows = rows};
	l->cells = calloc((size_t)(rows + 2) * row_words(l), sizeof(uint64_t));
	l->above = calloc(row_words(l), sizeof(uint64_t));
	l->here = calloc(row_words(l), sizeof(uint64_t));
	l->plate = calloc((size_t)words, sizeof(uint64_t));
	if (!l->cells || !l->above || !l->here || !l->plate) {
		lattice_fini(l);
		errno = ENOMEM;
		return -1;
	}
	for (long cell = words * 24; cell < words * 40; cell++)
		l->plate[cell / 64] |= (uint64_t)1 << cell % 64;
	for (long row = 0; row < rows; row++)
		row_fill(l, row, mix64(seed));
	return 0;
}

void lattice_fini(struct lattice *l)
{
	if (!l)
		return;
	free(l->cells);
	free(l->above);
	free(l->here);
	free(l->plate);
	l->cells = l->above = l->here = l->plate = NULL;
}

size_t lattice_border_words(const struct lattice *l)
{
	return 2 * plane_words(l);
}

const uint64_t *lattice_border(const struct lattice *l, enum lattice_side side)
{
	if (side == SIDE_NORTH)
		return row_at(l, 0) + PLANE_NE * plane_words(l);
	return row_at(l, l->rows - 1) + PLANE_SE * plane_words(l);
}

uint64_t *lattice_ghost(struct lattice *l, enum lattice_side side)
{
	if (side == SIDE_NORTH)
		return row_at(l, -1) + PLANE_SE * plane_words(l);
	return row_at(l, l->rows) + PLANE_NE * plane_words(l);
}

struct census lattice_census(const struct lattice *l)
{
	int64_t n[PLANES] = {0};
	struct census c;

	for (long row = 0; row < l->rows; row++) {
		const uint64_t *at = row_at(l, row) + 1;

		for (int p = 0; p < PLANES; p++, at += plane_words(l)) {
			for (long word = 0; word < l->words; word++)
				n[p] += word_count(at[word]);
		}
	}
	c = census_of(n);
	c.east += l->given.east;
	c.north += l->given.north;
	return c;
}

uint64_t lattice_checksum(const struct lattice *l)
{
	uint64_t sum = 0;

	for (long row = 0; row < l->rows; row++) {
		const uint64_t *at = row_at(l, row) + 1;

		for (int p = 0; p < PLANES; p++, at += plane_words(l)) {
			for (long word = 0; word < l->words; word++)
				sum += mix64(at[word] ^ mix64(word_place(l, row, p, word)));
		}
	}
	return sum;
}
