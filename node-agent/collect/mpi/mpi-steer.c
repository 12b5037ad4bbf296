/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes collectives over from the library, and decides of each call whether it is steered. */
#include "node-agent/collect/mpi/mpi-steer.h"

#include <limits.h>
#include <stdlib.h>

#include "node-agent/collect/core/door.h"
#include "node-agent/collect/core/settings.h"
#include "node-agent/collect/mpi/mpi-calls.h"
#include "node-agent/collect/mpi/mpi-steer-comm.h"
#include "node-agent/collect/mpi/mpi-steer-move.h"
#include "tree/data/op-table.h"

static bool taken; /* collectives come here */

/* ---- calls ---- */

/* What is recorded of the call belongs to an operation that is recorded whole. */
static void call_record(struct steer_call *c, MPI_Comm comm)
{
	if (collect_self.state <= COLLECT_IDLE || collect_mode_inside() != MODE_TRACE)
		return;
	c->at = mpi_comm_at(mpi_comm_key(comm));
	c->number = atomic_load_explicit(&c->at->classes.next, memory_order_relaxed) - 1;
}

/* From this call on other rules are in force: record how many. */
static void change_record(const struct steer_call *c)
{
	struct tuple t;

	if (!c->at)
		return;
	collect_fill(&t, OP_EVSPACE_STEER_NEW, c->at->id, TUPLE_NO_PEER, c->number,
		     c->on->now.set->rules.n);
	t.start = t.end = collect_now();
	collect_extra(&t, &c->at->classes, CHANNEL_USER);
}

/* Is this call of @bytes for each member steered? The first rule that is for it says how. */
static bool call_begin(struct steer_call *c, enum steer_kind kind, MPI_Comm comm, uint64_t bytes)
{
	const struct steer_rules *rules;

	*c = (struct steer_call){.on = steer_comm_find(comm)};
	if (!c->on)
		return false;
	call_record(c, comm);
	if (steer_comm_turn(c->on))
		change_record(c);
	rules = &c->on->now.set->rules;
	for (unsigned i = 0; i < rules->n; i++) {
		const struct steer_route *route = &c->on->now.routes[i];

		if (!(rules->items[i].kinds >> kind & 1) || route->n == 0 ||
		    bytes > rules->items[i].most_bytes ||
		    bytes > (uint64_t)INT_MAX / (uint64_t)route->n)
			continue;
		c->route = route;
		c->in_order = rules->items[i].in_order;
		c->collected = c->at ? rules->items[i].collected : 0;
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

	if (!is_sound(count, type) || op == steer_mpi.op_null || !op ||
	    !call_begin(c, kind, comm, mpi_bytes(count, type)))
		return false;
	if (steer_mpi.Op_commutative(op, &commutes) == MPI_SUCCESS && !commutes)
		c->in_order = true;
	return true;
}

static int take_barrier(MPI_Comm comm)
{
	struct steer_call c;

	if (!call_begin(&c, STEER_BARRIER, comm, 0))
		return steer_mpi.Barrier(comm);
	return call_end(&c, comm, steer_barrier(&c));
}

static int take_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
	struct steer_call c;

	if (!is_sound(count, type) || !is_member(comm, root) ||
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

	if (!is_sound(said->count, said->type))
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

static int take_finalize(void)
{
	steer_comms_end();
	return steer_mpi.Finalize();
}

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
	steer_mpi.op_min = MPI_HANDLE(MPI_MIN, "ompi_mpi_op_min");
	steer_mpi.int64 = MPI_HANDLE(MPI_INT64_T, "ompi_mpi_int64_t");
	return all && steer_mpi.op_null && steer_mpi.errors_return && steer_mpi.op_min &&
	       steer_mpi.int64;
}

void mpi_steer_take(void)
{
	const char *text = getenv("EVSPACE_STEER");
	struct settings settings;

	if (!text || !*text || !functions_find())
		return;
	settings_read(&settings);
	taken = steer_sets_begin(text, settings.dir);
	if (!taken)
		return;
	evspace_door_take("PMPI_Finalize", (void *)take_finalize);
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
	if (taken && mpi.Comm_get_parent(&parents) == MPI_SUCCESS && parents == mpi.comm_null)
		(void)steer_comms_begin();
}
