/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds functions, handles and special addresses of the MPI library through the door, and asks it
 * for sizes of datatypes. */
#include "node-agent/collect/mpi/mpi-library.h"

#include <stddef.h>
#include <string.h>

#include "node-agent/collect/core/door.h"
#include "node-agent/collect/mpi/mpi-bytes.h"
#include "node-agent/collect/mpi/mpi-fortran.h"

struct mpi_library mpi;

static bool functions_find(void)
{
	bool all = true;

#define MPI_LIBRARY_FIND(name)                                                 \
	do {                                                                   \
		*(void **)(void *)&mpi.name = evspace_door_own("PMPI_" #name); \
		all = all && mpi.name;                                         \
	} while (0);
	MPI_LIBRARY_FUNCTIONS(MPI_LIBRARY_FIND)
	return all;
}

struct mpi_fortran mpi_fortran;

/* The address that the library's variable @symbol holds. */
static const void *pointer_find(const char *symbol)
{
	void *const *pointer = evspace_door_own(symbol);

	return pointer ? *pointer : NULL;
}

const char *mpi_fortran_text(char out[MPI_FORTRAN_TEXT], const char *text, size_t n)
{
	while (n > 0 && text[n - 1] == ' ')
		n--;
	while (n > 0 && *text == ' ') {
		text++;
		n--;
	}
	if (n >= MPI_FORTRAN_TEXT)
		n = MPI_FORTRAN_TEXT - 1;
	memcpy(out, text, n);
	out[n] = '\0';
	return out;
}

/* Find the addresses. Call it when the library was found. */
static void mpi_fortran_find(void)
{
#if defined(OPEN_MPI)
	mpi_fortran.status_ignore = pointer_find("MPI_F_STATUS_IGNORE");
	mpi_fortran.statuses_ignore = pointer_find("MPI_F_STATUSES_IGNORE");
	mpi_fortran.in_place = evspace_door_own("mpi_fortran_in_place_");
#else
	/* only mpi_f08's functions without choice buffers (mpi-fortran.awk) */
	mpi_fortran.status_ignore = pointer_find("MPI_F08_STATUS_IGNORE");
	mpi_fortran.statuses_ignore = pointer_find("MPI_F08_STATUSES_IGNORE");
#endif
}

bool mpi_library_find(void)
{
	mpi.world = MPI_HANDLE(MPI_COMM_WORLD, "ompi_mpi_comm_world");
	mpi.self = MPI_HANDLE(MPI_COMM_SELF, "ompi_mpi_comm_self");
	mpi.comm_null = MPI_HANDLE(MPI_COMM_NULL, "ompi_mpi_comm_null");
	mpi.byte = MPI_HANDLE(MPI_BYTE, "ompi_mpi_byte");
	mpi.datatype_null = MPI_HANDLE(MPI_DATATYPE_NULL, "ompi_mpi_datatype_null");
	mpi.request_null = MPI_HANDLE(MPI_REQUEST_NULL, "ompi_request_null");
	mpi.message_null = MPI_HANDLE(MPI_MESSAGE_NULL, "ompi_message_null");
	mpi.message_no_proc = MPI_HANDLE(MPI_MESSAGE_NO_PROC, "ompi_message_no_proc");
	/* without it, such completions are not attributed */
	mpi.request_shared = MPI_REQUEST_SHARED;
	mpi_fortran_find();
	mpi.ready = functions_find() && mpi.world && mpi.self && mpi.comm_null && mpi.byte &&
		    mpi.datatype_null && mpi.request_null && mpi.message_null;
	return mpi.ready;
}

_Atomic uint32_t mpi_type_epoch = 1;

/* What @type of @size bytes is in signatures. */
static unsigned type_code(MPI_Datatype type, MPI_Count size)
{
#define TYPE_HANDLE(name, symbol, bytes) {MPI_HANDLE(MPI_##name, "ompi_mpi_" #symbol), bytes},
	const struct {
		MPI_Datatype type;
		MPI_Count size;
	} known[] = {SIGNATURE_TYPES(TYPE_HANDLE)};

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].type == type && known[i].size == size)
			return i;
	return signature_made((uint64_t)size);
}

unsigned mpi_op_ask(MPI_Op op)
{
#define OP_HANDLE(name, symbol) MPI_HANDLE(MPI_##name, "ompi_mpi_op_" #symbol),
	const MPI_Op known[] = {SIGNATURE_REDUCTIONS(OP_HANDLE)};
	unsigned code = SIGNATURE_OWN;

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i] == op)
			code = i + 1;
	mpi_types.op = op;
	mpi_types.op_code = (uint8_t)code;
	return code;
}

uint64_t mpi_type_ask(MPI_Datatype type, struct mpi_type_cache *entry)
{
	uint32_t epoch = atomic_load_explicit(&mpi_type_epoch, memory_order_acquire);
	MPI_Count size = 0;

	/* The real call reports an invalid type to the program's error handler; our question
	 * would report it to that of MPI_COMM_WORLD, so do not ask. */
	if (type == mpi.datatype_null || !mpi_type_is_one(type))
		return 0;
	if (mpi.Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
		return 0;
	/* larger ones are rare, and asked for each time */
	if (size <= UINT32_MAX) {
		*entry = (struct mpi_type_cache){
			.type = type, .epoch = epoch, .size = (uint32_t)size};
		mpi_types.codes[entry - mpi_types.of] = (uint8_t)type_code(type, size);
	}
	return (uint64_t)size;
}
