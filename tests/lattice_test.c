/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the wind tunnel's lattice gas: what every collision keeps, moving, cutting in slices. */
#include <stdlib.h>
#include <string.h>

#include "tests/apps/lattice.h"
#include "tests/tap.h"

enum { STATES = 1 << PLANES, HEIGHT = 32, WORDS = 3, WIDTH = 64 * WORDS, SLICES_MAX = 32 };

/* --- single cells -------------------------------------------------------------------------- */

static void cell_set(uint64_t cell[PLANES], int lane, unsigned state)
{
	for (int p = 0; p < PLANES; p++)
		cell[p] |= (uint64_t)(state >> p & 1) << lane;
}

static unsigned cell_get(const uint64_t cell[PLANES], int lane)
{
	unsigned state = 0;

	for (int p = 0; p < PLANES; p++)
		state |= (unsigned)(cell[p] >> lane & 1) << p;
	return state;
}

static unsigned collided(unsigned state, int lane, int turn)
{
	uint64_t cell[PLANES] = {0};

	cell_set(cell, lane, state);
	lattice_collide(cell, turn ? ~(uint64_t)0 : 0);
	return cell_get(cell, lane);
}

static struct census census_of(unsigned state)
{
	uint64_t cell[PLANES] = {0};

	cell_set(cell, 0, state);
	return lattice_count(cell, 1);
}

static int census_same(struct census a, struct census b)
{
	return a.mass == b.mass && a.east == b.east && a.north == b.north;
}

static void test_collide_keeps(void)
{
	for (int turn = 0; turn < 2; turn++) {
		for (unsigned s = 0; s < STATES; s++)
			CU_ASSERT(census_same(census_of(s), census_of(collided(s, 0, turn))));
	}
}

static void test_collide_is_permutation(void)
{
	for (int turn = 0; turn < 2; turn++) {
		int seen[STATES] = {0};

		for (unsigned s = 0; s < STATES; s++)
			CU_ASSERT(seen[collided(s, 0, turn)]++ == 0);
	}
}

static void test_collide_changes(void)
{
	int changed = 0;

	for (unsigned s = 0; s < STATES; s++) {
		CU_ASSERT(collided(collided(s, 0, 0), 0, 1) == s);
		changed += collided(s, 0, 0) != s;
	}
	/* Two states of rest for each: 3 pairs and 2 triples; and 6 pairs with 6 of rest and mover.
	 */
	CU_ASSERT(changed == 2 * (3 + 2) + 6 + 6);
	CU_ASSERT(collided(1 << PLANE_E | 1 << PLANE_W, 0, 1) == (1 << PLANE_NE | 1 << PLANE_SW));
	CU_ASSERT(collided(1 << PLANE_E | 1 << PLANE_W, 0, 0) == (1 << PLANE_NW | 1 << PLANE_SE));
	CU_ASSERT(collided(1 << PLANE_E | 1 << PLANE_NW | 1 << PLANE_SW, 0, 0) ==
		  (1 << PLANE_W | 1 << PLANE_NE | 1 << PLANE_SE));
	CU_ASSERT(collided(1 << PLANE_REST | 1 << PLANE_E, 0, 0) ==
		  (1 << PLANE_NE | 1 << PLANE_SE));
}

static void test_collide_lanes(void)
{
	uint64_t cell[2][PLANES] = {{0}};
	const uint64_t chirality = 0x0f1e2d3c4b5a6978;

	for (unsigned s = 0; s < STATES; s++)
		cell_set(cell[s / 64], (int)s % 64, s);
	lattice_collide(cell[0], chirality);
	lattice_collide(cell[1], chirality);
	for (unsigned s = 0; s < STATES; s++) {
		int lane = (int)s % 64;

		CU_ASSERT(cell_get(cell[s / 64], lane) ==
			  collided(s, lane, (int)(chirality >> lane & 1)));
	}
}

static void test_bounce(void)
{
	for (unsigned s = 0; s < STATES; s++) {
		uint64_t cell[PLANES] = {0};
		struct census was = census_of(s), now;

		cell_set(cell, 7, s);
		lattice_bounce(cell);
		now = lattice_count(cell, (uint64_t)1 << 7);
		CU_ASSERT(now.mass == was.mass && now.east == -was.east && now.north == -was.north);
		lattice_bounce(cell);
		CU_ASSERT(cell_get(cell, 7) == s);
		now = lattice_count(cell, ~((uint64_t)1 << 7));
		CU_ASSERT(now.mass == 0);
	}
}

/* --- a matrix in slices -------------------------------------------------------------------- */

struct matrix {
	int slices;
	struct lattice slice[SLICES_MAX];
};

static void matrix_init(struct matrix *m, int slices)
{
	m->slices = slices;
	for (int i = 0; i < slices; i++) {
		long first = (long)HEIGHT * i / slices;
		long rows = (long)HEIGHT * (i + 1) / slices - first;

		CU_ASSERT_FATAL(lattice_init(&m->slice[i], HEIGHT, WORDS, first, rows, 42) == 0);
	}
}

static void matrix_fini(struct matrix *m)
{
	for (int i = 0; i < m->slices; i++)
		lattice_fini(&m->slice[i]);
}

static void matrix_exchange(struct matrix *m)
{
	const size_t bytes = lattice_border_words(&m->slice[0]) * sizeof(uint64_t);

	for (int i = 0; i < m->slices; i++) {
		struct lattice *l = &m->slice[i], *south = &m->slice[(i + 1) % m->slices];

		memcpy(lattice_ghost(south, SIDE_NORTH), lattice_border(l, SIDE_SOUTH), bytes);
		memcpy(lattice_ghost(l, SIDE_SOUTH), lattice_border(south, SIDE_NORTH), bytes);
	}
}

static void matrix_step(struct matrix *m, long step)
{
	matrix_exchange(m);
	for (int i = 0; i < m->slices; i++)
		lattice_step(&m->slice[i], step);
}

static struct census matrix_census(const struct matrix *m)
{
	struct census sum = {0};

	for (int i = 0; i < m->slices; i++) {
		struct census c = lattice_census(&m->slice[i]);

		sum.mass += c.mass;
		sum.east += c.east;
		sum.north += c.north;
	}
	return sum;
}

static uint64_t matrix_checksum(const struct matrix *m)
{
	uint64_t sum = 0;

	for (int i = 0; i < m->slices; i++)
		sum += lattice_checksum(&m->slice[i]);
	return sum;
}

static void test_slices_agree(void)
{
	static const int cuts[] = {1, 2, 3, 7, 16, 31, 32};
	struct matrix whole, cut;

	for (size_t c = 0; c < sizeof(cuts) / sizeof(cuts[0]); c++) {
		matrix_init(&whole, 1);
		matrix_init(&cut, cuts[c]);
		CU_ASSERT(matrix_checksum(&whole) == matrix_checksum(&cut));
		for (long step = 0; step < 100; step++) {
			matrix_step(&whole, step);
			matrix_step(&cut, step);
		}
		CU_ASSERT(matrix_checksum(&whole) == matrix_checksum(&cut));
		CU_ASSERT(census_same(matrix_census(&whole), matrix_census(&cut)));
		matrix_fini(&cut);
		matrix_fini(&whole);
	}
}

static void test_matrix_keeps(void)
{
	struct matrix m;
	struct census start;
	uint64_t sum;

	matrix_init(&m, 3);
	start = matrix_census(&m);
	sum = matrix_checksum(&m);
	CU_ASSERT(start.mass > HEIGHT * WIDTH && start.north < 0);
	for (long step = 0; step < 500; step++) {
		matrix_step(&m, step);
		CU_ASSERT(census_same(start, matrix_census(&m)));
		CU_ASSERT(sum != matrix_checksum(&m));
	}
	/* The wind pushed the plate south: what the particles gave is part of the sum above. */
	CU_ASSERT(m.slice[0].given.north < -1000);
	CU_ASSERT(m.slice[2].given.north == 0);
	matrix_fini(&m);
}

static void test_wrong_exchange_shows(void)
{
	struct matrix m;
	struct census start;

	matrix_init(&m, 2);
	start = matrix_census(&m);
	for (long step = 0; step < 3; step++)
		matrix_step(&m, step);
	CU_ASSERT(census_same(start, matrix_census(&m)));
	/* A step without an exchange: the ghosts hold the borders of the step before. */
	lattice_step(&m.slice[0], 3);
	lattice_step(&m.slice[1], 3);
	CU_ASSERT(!census_same(start, matrix_census(&m)));
	matrix_fini(&m);
}

/* --- moving, compared with the geometry ---------------------------------------------------- */

static uint64_t *plane_at(const struct lattice *l, long row, int plane)
{
	return l->cells + ((size_t)(row + 1) * PLANES + (size_t)plane) * (size_t)(l->words + 2) + 1;
}

static int cell_has(const struct lattice *l, long row, int plane, long column)
{
	return (int)(plane_at(l, row, plane)[column / 64] >> column % 64 & 1);
}

/* Steps in half cells eastwards and in rows northwards. */
static const struct {
	int east, north;
} moves[PLANES] = {
	[PLANE_E] = {2, 0},   [PLANE_W] = {-2, 0},   [PLANE_NE] = {1, 1},   [PLANE_NW] = {-1, 1},
	[PLANE_SE] = {1, -1}, [PLANE_SW] = {-1, -1}, [PLANE_REST] = {0, 0},
};

/* Where one particle of an otherwise empty matrix is after a step, from where it was. */
static void particle_check(struct matrix *m, long row, int plane, long column)
{
	struct lattice *l = &m->slice[0];
	const size_t bytes = (HEIGHT + 2) * PLANES * (WORDS + 2) * sizeof(uint64_t);
	const long to_row = (row - moves[plane].north + HEIGHT) % HEIGHT;
	const long half = 2 * column + row % 2 + moves[plane].east - to_row % 2;
	uint64_t *words;

	memset(l->cells, 0, bytes);
	words = plane_at(l, row, plane);
	words[column / 64] |= (uint64_t)1 << column % 64;
	words[-1] = words[WORDS - 1];
	words[WORDS] = words[0];
	matrix_step(m, 0);
	CU_ASSERT(half % 2 == 0);
	CU_ASSERT(cell_has(l, to_row, plane, (half / 2 + WIDTH) % WIDTH));
	CU_ASSERT(lattice_census(l).mass == 1);
}

static void test_moves(void)
{
	static const long columns[] = {0, 1, 62, 63, 64, 65, 100, WIDTH - 2, WIDTH - 1};
	static const long rows[] = {0, 1, 2, 3, HEIGHT - 2, HEIGHT - 1};
	struct matrix m;

	matrix_init(&m, 1);
	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
			for (int p = 0; p < PLANES; p++)
				particle_check(&m, rows[r], p, columns[c]);
		}
	}
	matrix_fini(&m);
}

static void test_plate_turns(void)
{
	struct matrix m;
	struct lattice *l = &m.slice[0];
	const long row = HEIGHT / 4 - 1, column = WIDTH / 2;
	struct census c;

	matrix_init(&m, 1);
	memset(l->cells, 0, (HEIGHT + 2) * PLANES * (WORDS + 2) * sizeof(uint64_t));
	plane_at(l, row, PLANE_SE)[column / 64] = (uint64_t)1 << column % 64;
	matrix_step(&m, 0);
	matrix_step(&m, 1);
	CU_ASSERT(cell_has(l, row, PLANE_NW, column));
	CU_ASSERT(l->given.mass == 0 && l->given.east == 2 && l->given.north == -2);
	c = lattice_census(l);
	CU_ASSERT(c.mass == 1 && c.east == 1 && c.north == -1);
	matrix_fini(&m);
}

static void test_fini(void)
{
	struct lattice l;

	lattice_fini(NULL);
	CU_ASSERT_FATAL(lattice_init(&l, 8, 1, 0, 8, 1) == 0);
	lattice_fini(&l);
	lattice_fini(&l);
}

int main(void)
{
	CU_TestInfo cell[] = {
		{"collisions keep mass and momentum in all 128 states", test_collide_keeps},
		{"collisions are permutations of the states", test_collide_is_permutation},
		{"the states that collide, and their inverse", test_collide_changes},
		{"64 cells collide independently", test_collide_lanes},
		{"bouncing reverses momentum", test_bounce},
		CU_TEST_INFO_NULL,
	};
	CU_TestInfo matrix[] = {
		{"a matrix is the same however it is cut", test_slices_agree},
		{"mass and momentum are kept with the plate in the wind", test_matrix_keeps},
		{"a wrong exchange changes mass or momentum", test_wrong_exchange_shows},
		{"particles move to the neighbour of their direction", test_moves},
		{"a particle turns round at the plate", test_plate_turns},
		{"fini is safe twice and with NULL", test_fini},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{"cell", NULL, NULL, NULL, NULL, cell},
		{"matrix", NULL, NULL, NULL, NULL, matrix},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
