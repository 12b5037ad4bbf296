/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes collectives over from the library, and decides of each call whether it is steered. */
#include "node-agent/collect/mpi/mpi-steer.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/collect/core/door.h"
#include "node-agent/collect/mpi/mpi-calls.h"
#include "node-agent/collect/mpi/mpi-steer-move.h"

static struct steer_rules rules;
static int key = MPI_KEYVAL_INVALID;
static _Atomic bool is_on; /* between MPI_Init and MPI_Finalize of a world that rules are about */

/* ---- communicators ---- */

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

static void steered_free(struct steered *s)
{
	for (unsigned i = 0; i < rules.n; i++)
		steer_route_fini(&s->routes[i]);
	free(s->requests);
	free(s->of);
	free(s->room);
	free(s);
}

/* The communicator is being freed, which is collective. */
static int state_free(MPI_Comm comm, int keyval, void *state, void *extra)
{
	struct steered *s = state;

	(void)comm;
	(void)keyval;
	(void)extra;
	if (is_on && s->shadow != mpi.comm_null)
		steer_mpi.Comm_free(&s->shadow);
	steered_free(s);
	return MPI_SUCCESS;
}

/* The world ranks of all members. False: one is of another world. */
static bool members_find(MPI_Comm comm, int32_t *world, int n)
{
	MPI_Group group, all;
	int *ranks = calloc((size_t)n, sizeof(*ranks));
	bool right = false;

	if (!ranks || mpi.Comm_group(comm, &group) != MPI_SUCCESS) {
		free(ranks);
		return false;
	}
	for (int i = 0; i < n; i++)
		ranks[i] = i;
	if (mpi.Comm_group(mpi.world, &all) == MPI_SUCCESS) {
		right = mpi.Group_translate_ranks(group, n, ranks, all, world) == MPI_SUCCESS;
		mpi.Group_free(&all);
	}
	mpi.Group_free(&group);
	for (int i = 0; i < n; i++)
		right = right && world[i] != MPI_UNDEFINED;
	free(ranks);
	return right;
}

/* Make the routes of all rules that are for @comm. Returns whether there are any. */
static bool routes_make(struct steered *s, MPI_Comm comm, int n, int me)
{
	int32_t *world = calloc((size_t)n, sizeof(*world));
	bool any = false;

	if (world && members_find(comm, world, n)) {
		for (unsigned i = 0; i < rules.n; i++)
			if (!rules.items[i].world || comm == mpi.world)
				any |= steer_route_make(&s->routes[i], &rules.items[i].tree, world,
							n, me);
	}
	free(world);
	return any;
}

/* What is known of @comm; made at its first operation that could be steered, in which all members
 * are. NULL: there is no memory. */
static struct steered *steered_new(MPI_Comm comm)
{
	struct steered *s = calloc(1, sizeof(*s));
	int inter = 1, n = 0, me = 0;

	if (!s)
		return NULL;
	s->shadow = mpi.comm_null;
	if (mpi.Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter ||
	    mpi.Comm_size(comm, &n) != MPI_SUCCESS || n < 2 ||
	    mpi.Comm_rank(comm, &me) != MPI_SUCCESS || !routes_make(s, comm, n, me))
		return s;
	s->requests = calloc(2 * (size_t)n, sizeof(*s->requests));
	s->of = calloc(2 * (size_t)n, sizeof(*s->of));
	if (!s->requests || !s->of ||
	    steer_mpi.Comm_split(comm, 0, me, &s->shadow) != MPI_SUCCESS) {
		steered_free(s);
		return NULL;
	}
	steer_mpi.Comm_set_errhandler(s->shadow, steer_mpi.errors_return);
	return s;
}

static struct steered *steered_find(MPI_Comm comm)
{
	struct steered *s = NULL;
	int found = 0;

	if (steer_mpi.Comm_get_attr(comm, key, &s, &found) != MPI_SUCCESS)
		return NULL;
	if (found)
		return s;
	s = steered_new(comm);
	if (s)
		steer_mpi.Comm_set_attr(comm, key, s);
	return s;
}

/* ---- calls ---- */

/* May a call of this kind be steered at all? All members find the same. */
static bool is_wanted(enum steer_kind kind, MPI_Comm comm)
{
	bool any = false;

	for (unsigned i = 0; i < rules.n; i++)
		any |= rules.items[i].kinds >> kind & 1;
	return any && atomic_load_explicit(&is_on, memory_order_acquire) && comm != mpi.comm_null &&
	       comm;
}

/* What is recorded of the call belongs to an operation that is recorded whole. */
static void call_record(struct steer_call *c, MPI_Comm comm)
{
	if (collect_self.state <= COLLECT_IDLE || collect_mode_inside() != MODE_TRACE)
		return;
	c->at = mpi_comm_at(mpi_comm_key(comm));
	c->number = atomic_load_explicit(&c->at->classes.next, memory_order_relaxed) - 1;
}

/* Is this call of @bytes for each member steered? The first rule that is for it says how. */
static bool call_begin(struct steer_call *c, enum steer_kind kind, MPI_Comm comm, uint64_t bytes)
{
	*c = (struct steer_call){.on = steered_find(comm)};
	if (!c->on || c->on->shadow == mpi.comm_null)
		return false;
	for (unsigned i = 0; i < rules.n; i++) {
		const struct steer_route *route = &c->on->routes[i];

		if (!(rules.items[i].kinds >> kind & 1) || route->n == 0 ||
		    bytes > rules.items[i].most_bytes ||
		    bytes > (uint64_t)INT_MAX / (uint64_t)route->n)
			continue;
		c->route = route;
		c->in_order = rules.items[i].in_order;
		call_record(c, comm);
		return true;
	}
	return false;
}

/* The program's handler hears of an error, as if the library had found it. */
static int call_end(struct steer_call *c, MPI_Comm comm, int rc)
{
	steer_room_trim(c->on);
	if (rc != MPI_SUCCESS)
		steer_mpi.Comm_call_errhandler(comm, rc);
	return rc;
}

/* Values that the library reports as wrong are left to it. */
static bool is_sound(int count, MPI_Datatype type)
{
	return count >= 0 && type != mpi.datatype_null && mpi_type_is_one(type);
}

static bool is_member(MPI_Comm comm, int root)
{
	int n;

	return root >= 0 && mpi.Comm_size(comm, &n) == MPI_SUCCESS && root < n;
}

/* Operations that do not commute are reduced in the order of ranks. */
static bool reduction_begin(struct steer_call *c, enum steer_kind kind, int count,
			    MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	int commutes = 0;

	if (!is_wanted(kind, comm) || !is_sound(count, type) || op == steer_mpi.op_null || !op ||
	    !call_begin(c, kind, comm, mpi_bytes(count, type)))
		return false;
	if (steer_mpi.Op_commutative(op, &commutes) == MPI_SUCCESS && !commutes)
		c->in_order = true;
	return true;
}

static int take_barrier(MPI_Comm comm)
{
	struct steer_call c;

	if (!is_wanted(STEER_BARRIER, comm) || !call_begin(&c, STEER_BARRIER, comm, 0))
		return steer_mpi.Barrier(comm);
	return call_end(&c, comm, steer_barrier(&c));
}

static int take_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
	struct steer_call c;

	if (!is_wanted(STEER_BCAST, comm) || !is_sound(count, type) || !is_member(comm, root) ||
	    !call_begin(&c, STEER_BCAST, comm, mpi_bytes(count, type)))
		return steer_mpi.Bcast(buffer, count, type, root, comm);
	return call_end(&c, comm, steer_bcast(&c, buffer, count, type, root));
}

static int take_reduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
		       int root, MPI_Comm comm)
{
	struct steer_call c;

	if (!is_member(comm, root) || !reduction_begin(&c, STEER_REDUCE, count, type, op, comm))
		return steer_mpi.Reduce(send, recv, count, type, op, root, comm);
	return call_end(&c, comm, steer_reduce(&c, send, recv, count, type, op, root));
}

static int take_allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
			  MPI_Comm comm)
{
	struct steer_call c;

	if (!reduction_begin(&c, STEER_ALLREDUCE, count, type, op, comm))
		return steer_mpi.Allreduce(send, recv, count, type, op, comm);
	return call_end(&c, comm, steer_allreduce(&c, send, recv, count, type, op));
}

/* Begin one whose members have @own, in place of which @all may say what it is. */
static bool data_begin(struct steer_call *c, enum steer_kind kind, const struct steer_data *own,
		       const struct steer_data *all, MPI_Comm comm, uint64_t *bytes)
{
	const struct steer_data *said = own->at == MPI_IN_PLACE ? all : own;

	if (!is_wanted(kind, comm) || !is_sound(said->count, said->type))
		return false;
	*bytes = mpi_bytes(said->count, said->type);
	return call_begin(c, kind, comm, *bytes);
}

static int take_gather(const void *send, int count, MPI_Datatype type, void *recv, int count2,
		       MPI_Datatype type2, int root, MPI_Comm comm)
{
	struct steer_data own = {(void *)(uintptr_t)send, count, type}, all = {recv, count2, type2};
	struct steer_call c;
	uint64_t bytes;

	if (!is_member(comm, root) || !data_begin(&c, STEER_GATHER, &own, &all, comm, &bytes))
		return steer_mpi.Gather(send, count, type, recv, count2, type2, root, comm);
	return call_end(&c, comm, steer_gather(&c, own, all, bytes, root));
}

static int take_scatter(const void *send, int count, MPI_Datatype type, void *recv, int count2,
			MPI_Datatype type2, int root, MPI_Comm comm)
{
	struct steer_data all = {(void *)(uintptr_t)send, count, type}, own = {recv, count2, type2};
	struct steer_call c;
	uint64_t bytes;

	if (!is_member(comm, root) || !data_begin(&c, STEER_SCATTER, &own, &all, comm, &bytes))
		return steer_mpi.Scatter(send, count, type, recv, count2, type2, root, comm);
	return call_end(&c, comm, steer_scatter(&c, own, all, bytes, root));
}

static int take_allgather(const void *send, int count, MPI_Datatype type, void *recv, int count2,
			  MPI_Datatype type2, MPI_Comm comm)
{
	struct steer_data own = {(void *)(uintptr_t)send, count, type}, all = {recv, count2, type2};
	struct steer_call c;
	uint64_t bytes;

	if (!data_begin(&c, STEER_ALLGATHER, &own, &all, comm, &bytes))
		return steer_mpi.Allgather(send, count, type, recv, count2, type2, comm);
	return call_end(&c, comm, steer_allgather(&c, own, all, bytes));
}

/* ---- life ---- */

static bool functions_find(void)
{
	bool all = true;

#define STEER_FIND(name)                                                             \
	do {                                                                         \
		*(void **)(void *)&steer_mpi.name = evspace_door_own("PMPI_" #name); \
		all = all && steer_mpi.name;                                         \
	} while (0);
	STEER_FUNCTIONS(STEER_FIND)
	steer_mpi.op_null = MPI_HANDLE(MPI_OP_NULL, "ompi_mpi_op_null");
	steer_mpi.errors_return = MPI_HANDLE(MPI_ERRORS_RETURN, "ompi_mpi_errors_return");
	return all && steer_mpi.op_null && steer_mpi.errors_return;
}

void mpi_steer_take(void)
{
	const char *text = getenv("EVSPACE_STEER");

	if (!text || !*text || !steer_rules_read(&rules, text) || !functions_find())
		return;
	evspace_door_take("PMPI_Barrier", (void *)take_barrier);
	evspace_door_take("PMPI_Bcast", (void *)take_bcast);
	evspace_door_take("PMPI_Reduce", (void *)take_reduce);
	evspace_door_take("PMPI_Allreduce", (void *)take_allreduce);
	evspace_door_take("PMPI_Gather", (void *)take_gather);
	evspace_door_take("PMPI_Scatter", (void *)take_scatter);
	evspace_door_take("PMPI_Allgather", (void *)take_allgather);
}

void mpi_steer_begin(void)
{
	MPI_Comm parents = mpi.comm_null;

	/* worlds that were spawned are in no map */
	if (rules.n == 0 || key != MPI_KEYVAL_INVALID ||
	    mpi.Comm_get_parent(&parents) != MPI_SUCCESS || parents != mpi.comm_null ||
	    steer_mpi.Comm_create_keyval(state_copy, state_free, &key, NULL) != MPI_SUCCESS)
		return;
	atomic_store_explicit(&is_on, true, memory_order_release);
}

void mpi_steer_end(void)
{
	is_on = false;
}
