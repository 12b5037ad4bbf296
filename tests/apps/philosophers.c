/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dining philosophers, one a rank, as section 5.2 of Gomez, Cai and Schubert, Entropy of Parallel
 * Execution and Communication, has them: a fork lies between each two, first with the one to its
 * right, who thinks, asks or eats. One who thinks gives a fork to whoever asks for it; one who asks
 * keeps those that he has, and eats once he has both. They say what they are in as blocks
 * (evspace.h): 0 for thinking, 4 for asking, with 2 for the left fork and 1 for the right one; 8
 * for eating. One may be kept from his second fork. Ends with 1 if two neighbours have eaten at
 * once, a fork is lost, or one who must not or must have eaten has or has not.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "node-agent/collect/core/evspace.h"
#include "tests/apps/app.h"
#include "tests/random.h"

enum { THINK, ASK, EAT };

/* His forks, and his neighbours at these. */
enum { RIGHT, LEFT, SIDES };

/* Turns after which he must change. */
static const unsigned most[] = {[THINK] = 30, [ASK] = 10, [EAT] = 10};

struct philosopher {
	int neighbour[SIDES];
	int state;
	bool fork[SIDES], kept; /* kept from a second fork */
	unsigned turns, meals;
	uint64_t seed;
};

/* Tell both neighbours something, and hear the same of them. */
static void exchange(const struct philosopher *p, const int say[SIDES], int heard[SIDES])
{
	for (int side = 0; side < SIDES; side++)
		MPI_Sendrecv(&say[side], 1, MPI_INT, p->neighbour[side], side, &heard[!side], 1,
			     MPI_INT, p->neighbour[!side], side, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Forks go from who thinks to who asks. */
static void forks_pass(struct philosopher *p)
{
	int asks[SIDES], asked[SIDES], gives[SIDES], given[SIDES];

	for (int side = 0; side < SIDES; side++)
		asks[side] = p->state == ASK && !p->fork[side] &&
			     !(p->kept && (p->fork[!side] || side == (int)(p->turns & 1)));
	exchange(p, asks, asked);
	for (int side = 0; side < SIDES; side++) {
		gives[side] = asked[side] && p->fork[side] && p->state == THINK;
		p->fork[side] &= !gives[side];
	}
	exchange(p, gives, given);
	for (int side = 0; side < SIDES; side++)
		p->fork[side] |= given[side];
}

static void state_change(struct philosopher *p)
{
	int from = p->state;

	if (++p->turns < most[from] && random_below(&p->seed, 10) >= 3)
		return;
	if (from == THINK)
		p->state = ASK;
	else if (from == ASK && p->fork[LEFT] && p->fork[RIGHT])
		p->state = EAT;
	else
		p->state = THINK;
	p->meals += p->state == EAT;
	p->turns = 0;
}

static uint32_t block_of(const struct philosopher *p)
{
	return p->state == EAT ? 8
			       : 4 * (uint32_t)p->state + 2 * (uint32_t)p->fork[LEFT] +
					 (uint32_t)p->fork[RIGHT];
}

/* Do neighbours agree on who has which fork, and does nobody eat with what another one has? */
static bool wrong(const struct philosopher *p)
{
	int has[SIDES] = {p->fork[RIGHT], p->fork[LEFT]}, theirs[SIDES];

	exchange(p, has, theirs);
	return has[RIGHT] + theirs[RIGHT] != 1 || has[LEFT] + theirs[LEFT] != 1 ||
	       (p->state == EAT && !(p->fork[LEFT] && p->fork[RIGHT]));
}

int main(int argc, char **argv)
{
	long iterations = 1000, seed = 1, kept = -1;
	const struct app_option options[] = {
		{"iterations", APP_NUMBER, &iterations, 1, 10000000, .help = "turns; else 1,000"},
		{"seed", APP_NUMBER, &seed, 0, 1000000, .help = "of chance; else 1"},
		{"keep", APP_NUMBER, &kept, 0, 1000000,
		 .help = "a philosopher who does not get two forks"},
		{0},
	};
	enum app_parsed parsed = app_parse(argc, argv, options);
	struct philosopher p = {0};
	int rank, size, bad = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (parsed == APP_RUN && (size < 3 || kept >= size))
		parsed = app_wrong("it needs 3 ranks, and --keep one of them");
	if (parsed != APP_RUN) {
		if (rank == 0)
			app_explain(parsed, "Philosophers think, ask for forks, and eat.", options);
		MPI_Finalize();
		return app_exit_code(parsed);
	}
	p = (struct philosopher){.neighbour = {(rank + 1) % size, (rank + size - 1) % size},
				 .fork = {[LEFT] = true},
				 .kept = rank == kept,
				 .seed = (uint64_t)seed * 1000003 + (uint64_t)rank};
	for (long i = 0; i < iterations; i++) {
		forks_pass(&p);
		state_change(&p);
		evspace_block(block_of(&p));
		bad |= wrong(&p);
	}
	bad |= p.kept ? p.meals > 0 : p.meals == 0 && iterations >= 1000;
	if (bad)
		fprintf(stderr, "philosophers: rank %d has eaten %u times\n", rank, p.meals);
	MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	MPI_Finalize();
	return bad;
}
