/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps what is known of steered communicators as their attributes, and votes about other rules. */
#include "node-agent/collect/mpi/mpi-steer-comm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "node-agent/collect/mpi/mpi-library.h"

static int key = MPI_KEYVAL_INVALID;
static _Atomic bool is_on; /* between MPI_Init and MPI_Finalize */

static struct {
	pthread_mutex_t lock;
	LIST_HEAD(steered_list, steered) all; /* with a shadow */
} comms = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Of a communicator for which there was no memory: its members leave it alone. */
static struct steered none;

/* ---- ways ---- */

static void way_fini(struct steer_way *way)
{
	for (unsigned i = 0; way->set && i < way->set->rules.n; i++)
		steer_route_fini(&way->routes[i]);
	steer_set_drop(way->set);
	*way = (struct steer_way){0};
}

/* The world ranks of all members. Returns 1, 0 if one is of another world, or -1: no memory. */
static int members_find(MPI_Comm comm, int32_t *world, int n)
{
	MPI_Group group, all;
	int *ranks = calloc((size_t)n, sizeof(*ranks));
	int right = -1;

	if (!ranks || mpi.Comm_group(comm, &group) != MPI_SUCCESS) {
		free(ranks);
		return -1;
	}
	for (int i = 0; i < n; i++)
		ranks[i] = i;
	if (mpi.Comm_group(mpi.world, &all) == MPI_SUCCESS) {
		right = mpi.Group_translate_ranks(group, n, ranks, all, world) == MPI_SUCCESS ? 1
											      : -1;
		mpi.Group_free(&all);
	}
	mpi.Group_free(&group);
	for (int i = 0; i < n && right > 0; i++)
		right = world[i] != MPI_UNDEFINED;
	free(ranks);
	return right;
}

/* Take @set, and make the routes of its rules that are for @s. Returns how many there are, or -1
 * without memory. */
static int way_make(struct steer_way *way, struct steer_set *set, const struct steered *s)
{
	int n = 0, made = 0;

	*way = (struct steer_way){.set = set};
	for (unsigned i = 0; made >= 0 && i < set->rules.n; i++) {
		if (set->rules.items[i].world && !s->is_world)
			continue;
		made = steer_route_make(&way->routes[i], &set->rules.items[i].tree, s->world, s->n,
					s->me);
		n += made > 0;
	}
	return made < 0 ? -1 : n;
}

/* ---- the first call ---- */

enum agreed { AGREED, DIFFER, GIVEN_UP };

/* All members have @set, and it is made. */
static enum agreed agree(struct steered *s, MPI_Comm comm, struct steer_set *set, bool fit)
{
	bool made = fit && (s->n_routes = way_make(&s->now, set, s)) >= 0;
	const int64_t said[3] = {set->name, ~set->name, made};
	int64_t heard[3];

	if (!fit)
		steer_set_drop(set);
	if (steer_mpi.Allreduce(said, heard, 3, steer_mpi.int64, steer_mpi.op_min, comm) !=
		    MPI_SUCCESS ||
	    !heard[2]) {
		way_fini(&s->now);
		return GIVEN_UP;
	}
	if (heard[0] == ~heard[1])
		return AGREED;
	way_fini(&s->now);
	return DIFFER;
}

static void steered_free(struct steered *s)
{
	way_fini(&s->now);
	way_fini(&s->next);
	free(s->requests);
	free(s->of);
	free(s->world);
	free(s->room);
	if (s != &none)
		free(s);
}

/* Is it one of this world's alone, of several members? Others, who may not steer, are not asked. */
static bool is_for_us(struct steered *s, MPI_Comm comm, bool *fit)
{
	int inter = 1, found;

	if (mpi.Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter ||
	    mpi.Comm_size(comm, &s->n) != MPI_SUCCESS || s->n < 2 ||
	    mpi.Comm_rank(comm, &s->me) != MPI_SUCCESS)
		return false;
	s->world = *fit ? calloc((size_t)s->n, sizeof(*s->world)) : NULL;
	found = s->world ? members_find(comm, s->world, s->n) : -1;
	*fit = *fit && found > 0;
	return found != 0;
}

/* Never NULL: who has no memory says so to the others. */
static struct steered *steered_new(MPI_Comm comm)
{
	struct steered *s = calloc(1, sizeof(*s));
	bool fit = s != NULL;
	enum agreed agreed;

	s = s ? s : &none;
	s->shadow = mpi.comm_null;
	if (!is_for_us(s, comm, &fit))
		return s;
	s->is_world = comm == mpi.world;
	if (fit) {
		s->requests = calloc(2 * (size_t)s->n, sizeof(*s->requests));
		s->of = calloc(2 * (size_t)s->n, sizeof(*s->of));
		fit = s->requests && s->of;
	}
	agreed = agree(s, comm, steer_set_newest(), fit);
	if (agreed == DIFFER)
		agreed = agree(s, comm, steer_set_start(), fit);
	if (agreed != AGREED || s->n_routes == 0 ||
	    steer_mpi.Comm_split(comm, 0, s->me, &s->shadow) != MPI_SUCCESS)
		return s;
	steer_mpi.Comm_set_errhandler(s->shadow, steer_mpi.errors_return);
	pthread_mutex_lock(&comms.lock);
	LIST_INSERT_HEAD(&comms.all, s, link);
	pthread_mutex_unlock(&comms.lock);
	return s;
}

struct steered *steer_comm_find(MPI_Comm comm)
{
	struct steered *s = NULL;
	int found = 0;

	if (!atomic_load_explicit(&is_on, memory_order_acquire) || comm == mpi.comm_null || !comm ||
	    steer_mpi.Comm_get_attr(comm, key, &s, &found) != MPI_SUCCESS)
		return NULL;
	if (!found) {
		s = steered_new(comm);
		steer_mpi.Comm_set_attr(comm, key, s);
	}
	return s->shadow != mpi.comm_null ? s : NULL;
}

/* ---- votes ---- */

static bool vote_end(struct steered *s)
{
	bool won;

	if (!s->votes)
		return false;
	s->votes = false;
	won = steer_mpi.Wait(&s->vote, MPI_STATUS_IGNORE) == MPI_SUCCESS && s->next.set &&
	      s->heard[0] == s->next.set->name && s->heard[0] == ~s->heard[1];
	if (!won) {
		way_fini(&s->next);
		return false;
	}
	way_fini(&s->now);
	s->now = s->next;
	s->next = (struct steer_way){0};
	return true;
}

static void vote_begin(struct steered *s)
{
	struct steer_set *newest = steer_set_newest();
	int64_t name = s->now.set->name;

	if (newest->name == name)
		steer_set_drop(newest);
	else if (way_make(&s->next, newest, s) < 0)
		way_fini(&s->next);
	else
		name = newest->name;
	s->said[0] = name;
	s->said[1] = ~name;
	s->votes = steer_mpi.Iallreduce(s->said, s->heard, 2, steer_mpi.int64, steer_mpi.op_min,
					s->shadow, &s->vote) == MPI_SUCCESS;
}

bool steer_comm_turn(struct steered *s)
{
	bool won;

	if (++s->calls % STEER_TURN != 0)
		return false;
	won = vote_end(s);
	vote_begin(s);
	return won;
}

/* ---- life ---- */

/* Only this communicator is steered, not its duplicates (MPI-3.1 6.7.2). */
static int state_copy(MPI_Comm comm, int keyval, void *extra, void *from, void *to, int *flag)
{
	(void)comm;
	(void)keyval;
	(void)extra;
	(void)from;
	(void)to;
	*flag = 0;
	return MPI_SUCCESS;
}

/* The communicator is being freed, which is collective. */
static int state_free(MPI_Comm comm, int keyval, void *state, void *extra)
{
	struct steered *s = state;

	(void)comm;
	(void)keyval;
	(void)extra;
	if (s->shadow != mpi.comm_null) {
		pthread_mutex_lock(&comms.lock);
		LIST_REMOVE(s, link);
		pthread_mutex_unlock(&comms.lock);
		if (is_on) {
			vote_end(s);
			steer_mpi.Comm_free(&s->shadow);
		}
	}
	steered_free(s);
	return MPI_SUCCESS;
}

bool steer_comms_begin(void)
{
	if (key != MPI_KEYVAL_INVALID ||
	    steer_mpi.Comm_create_keyval(state_copy, state_free, &key, NULL) != MPI_SUCCESS)
		return false;
	none.shadow = mpi.comm_null;
	atomic_store_explicit(&is_on, true, memory_order_release);
	return true;
}

void steer_comms_end(void)
{
	struct steered *s;

	/* all members have begun the same votes */
	pthread_mutex_lock(&comms.lock);
	LIST_FOREACH (s, &comms.all, link)
		vote_end(s);
	pthread_mutex_unlock(&comms.lock);
	is_on = false;
}
