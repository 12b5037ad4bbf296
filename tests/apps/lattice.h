/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A slice of a lattice gas matrix: the FHP-II automaton (Frisch, Hasslacher, Pomeau 1986;
 * d'Humieres, Lallemand 1987) on a hexagonal torus, 64 cells a word, one bit plane per direction.
 */
#ifndef EVSPACE_LATTICE_H
#define EVSPACE_LATTICE_H

#include <stddef.h>
#include <stdint.h>

/**
 * The seven places of a cell. A bit is one particle of mass 1. Row 0 is the northern one; rows with
 * an odd number are shifted half a cell to the east. What moves north, and what moves south, lies
 * together: a border row is sent as one piece.
 */
enum lattice_plane {
	PLANE_E,
	PLANE_W,
	PLANE_REST,
	PLANE_NE,
	PLANE_NW,
	PLANE_SE,
	PLANE_SW,
	PLANES,
};

/** Where a neighbouring slice is. */
enum lattice_side { SIDE_NORTH, SIDE_SOUTH, SIDES };

/**
 * What collisions and moves keep: mass, and momentum in units of half a cell eastwards and of a row
 * northwards, so that all are whole numbers.
 */
struct census {
	int64_t mass, east, north;
};

/** Rows [first, first + rows) of a matrix of @height rows of 64 * @words cells. */
struct lattice {
	long height, words;
	long first, rows;
	uint64_t *cells;     /* rows -1 (from the north) to `rows` (from the south) */
	uint64_t *above;     /* the row north of the one being moved, as it was */
	uint64_t *here;	     /* the row being moved, as it was */
	uint64_t *plate;     /* which cells of a plate row are solid */
	struct census given; /* momentum that the particles have given to the plate */
};

/**
 * Take the rows [@first, @first + @rows) of the matrix of @height rows (an even number, at least 8)
 * of 64 * @words cells, and fill them with a wind that blows south, the same for the same @seed
 * however the matrix is cut. Returns 0, or -1 with errno ENOMEM.
 */
int lattice_init(struct lattice *l, long height, long words, long first, long rows, uint64_t seed);

/** Free what it holds. NULL-safe; also after a failed init. */
void lattice_fini(struct lattice *l);

/** What the neighbour on @side needs of this slice before a step: lattice_border_words() words. */
const uint64_t *lattice_border(const struct lattice *l, enum lattice_side side);

/** Where what the neighbour on @side gives goes: its border towards us. */
uint64_t *lattice_ghost(struct lattice *l, enum lattice_side side);

/** Length of a border in words of 64 bits. */
size_t lattice_border_words(const struct lattice *l);

/** Move and collide once. Both ghosts must hold the neighbours' borders of the same @step. */
void lattice_step(struct lattice *l, long step);

/**
 * What is in the slice, and what it has given to the plate: summed over all slices these numbers
 * are the same after every step.
 */
struct census lattice_census(const struct lattice *l);

/** Sum over all cells of a hash of (place, content): sums of slices add up to that of the matrix.
 */
uint64_t lattice_checksum(const struct lattice *l);

/**
 * Collide 64 cells, bit i of every plane being cell i. @chirality: which way head-on pairs turn in
 * each cell, 1 counter-clockwise. For a fixed chirality it is a permutation of the 128 states.
 */
void lattice_collide(uint64_t cell[PLANES], uint64_t chirality);

/** Turn round every moving particle of 64 cells. */
void lattice_bounce(uint64_t cell[PLANES]);

/** What the cells of @cell that are in @mask hold. */
struct census lattice_count(const uint64_t cell[PLANES], uint64_t mask);

#endif
