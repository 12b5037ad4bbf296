/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives with a count for each process, some of them zero; each in place, too. */
#include "tests/conformance/suite.h"

enum { RANKS = 8, EACH = 3, N = RANKS * EACH };

/* What each has to give: 0 to EACH - 1 numbers, at places that leave gaps. */
struct shares {
	int counts[RANKS], places[RANKS], bytes[RANKS];
	MPI_Datatype types[RANKS];
};

static void shares_init(struct shares *sh, int size, int first)
{
	for (int i = 0; i < size; i++) {
		sh->counts[i] = (i + first) % EACH;
		sh->places[i] = i * EACH;
		sh->bytes[i] = sh->places[i] * (int)sizeof(int);
		sh->types[i] = MPI_INT;
	}
}

static void rooted(const struct suite *s, int root)
{
	const bool here = s->rank == root;
	struct shares sh;
	int own[EACH], all[N] = {0};

	shares_init(&sh, s->size, root);
	suite_fill(own, EACH, s->rank, root);
	SUITE(MPI_Gatherv(own, sh.counts[s->rank], MPI_INT, here ? all : NULL,
			  here ? sh.counts : NULL, here ? sh.places : NULL, MPI_INT, root,
			  s->comm));
	suite_ints("MPI_Gatherv", all, EACH * s->size);
	SUITE(MPI_Gatherv(here ? MPI_IN_PLACE : own, sh.counts[s->rank], MPI_INT, all, sh.counts,
			  sh.places, MPI_INT, root, s->comm));
	suite_ints("MPI_Gatherv in place", all, EACH * s->size);
	suite_fill(all, N, s->rank, 5);
	SUITE(MPI_Scatterv(here ? all : NULL, here ? sh.counts : NULL, here ? sh.places : NULL,
			   MPI_INT, own, sh.counts[s->rank], MPI_INT, root, s->comm));
	suite_ints("MPI_Scatterv", own, EACH);
	SUITE(MPI_Scatterv(all, sh.counts, sh.places, MPI_INT, here ? MPI_IN_PLACE : own,
			   sh.counts[s->rank], MPI_INT, root, s->comm));
	suite_ints("MPI_Scatterv in place", own, EACH);
}

static void gathered(const struct suite *s)
{
	struct shares sh;
	int own[EACH], all[N] = {0};

	shares_init(&sh, s->size, 1);
	suite_fill(own, EACH, s->rank, 6);
	SUITE(MPI_Allgatherv(own, sh.counts[s->rank], MPI_INT, all, sh.counts, sh.places, MPI_INT,
			     s->comm));
	suite_ints("MPI_Allgatherv", all, EACH * s->size);
	suite_fill(all, N, s->rank, 7);
	SUITE(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, sh.counts, sh.places, MPI_INT,
			     s->comm));
	suite_ints("MPI_Allgatherv in place", all, EACH * s->size);
}

/* As many to each as it sends here: what MPI_IN_PLACE asks for. */
static void exchanged(const struct suite *s)
{
	struct shares to, from, both;
	int out[N], in[N] = {0};

	shares_init(&to, s->size, s->rank);
	shares_init(&from, s->size, s->rank);
	for (int i = 0; i < s->size; i++)
		both.counts[i] = (i + s->rank) % 2 + 1;
	suite_fill(out, N, s->rank, 8);
	SUITE(MPI_Alltoallv(out, to.counts, to.places, MPI_INT, in, from.counts, from.places,
			    MPI_INT, s->comm));
	suite_ints("MPI_Alltoallv", in, EACH * s->size);
	SUITE(MPI_Alltoallw(out, to.counts, to.bytes, to.types, in, from.counts, from.bytes,
			    from.types, s->comm));
	suite_ints("MPI_Alltoallw", in, EACH * s->size);
	suite_fill(in, N, s->rank, 9);
	SUITE(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, both.counts, to.places,
			    MPI_INT, s->comm));
	suite_ints("MPI_Alltoallv in place", in, EACH * s->size);
	SUITE(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in, both.counts, to.bytes, to.types,
			    s->comm));
	suite_ints("MPI_Alltoallw in place", in, EACH * s->size);
}

void suite_vectors(const struct suite *s)
{
	if (s->size > RANKS) {
		suite_say("too many ranks");
		return;
	}
	for (int root = 0; root < s->size; root++)
		rooted(s, root);
	gathered(s);
	exchanged(s);
}
