/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles: addresses in Open MPI, numbers in MPICH. All that differs between the two is here. */
#ifndef EVSPACE_MPI_HANDLE_H
#define EVSPACE_MPI_HANDLE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "node-agent/collect/core/door.h"

/*
 * mpi_X_key(handle): what tables of handles (mpi-table.h) know it by; neither 0 nor 1.
 * mpi_type_hash(type): a few bits that differ between types that are used together.
 * mpi_type_is_one(type): can the library be asked about it, so that no error handler hears of that?
 * mpi_request_like(request, shared): this handle stands for several requests at the same time, as
 * MPI_REQUEST_SHARED does. Both libraries give such a one for what is complete when the call
 * returns, as most small sends are.
 * MPI_HANDLE(NAME, symbol): the predefined handle, for mpi_library_find().
 * MPI_F2C(Kind, number): the handle of which Fortran has the number, with MPI_F2C_FUNCTIONS.
 */

#if defined(OPEN_MPI)

_Static_assert(OMPI_MAJOR_VERSION >= 3, "this collector knows the handles of Open MPI 3 and later");

/** Predefined handles are addresses of the library's data, which we are not linked with. */
#define MPI_HANDLE(name, symbol) evspace_door_own(symbol)

/** The library has tables of its handles by number. */
#define MPI_F2C(kind, number) mpi.kind##_f2c(number)
#define MPI_F2C_FUNCTIONS(X) \
	X(Comm_f2c)          \
	X(File_f2c)          \
	X(Message_f2c)       \
	X(Op_f2c)            \
	X(Request_f2c)       \
	X(Type_f2c)          \
	X(Win_f2c)

/** The one handle of all requests that are complete at once, for mpi_library_find(). */
#define MPI_REQUEST_SHARED MPI_HANDLE(, "ompi_request_empty")

static inline uintptr_t mpi_comm_key(MPI_Comm comm)
{
	return (uintptr_t)comm;
}

static inline uintptr_t mpi_request_key(MPI_Request request)
{
	return (uintptr_t)request;
}

static inline uintptr_t mpi_message_key(MPI_Message message)
{
	return (uintptr_t)message;
}

static inline uintptr_t mpi_win_key(MPI_Win win)
{
	return (uintptr_t)win;
}

static inline uintptr_t mpi_type_hash(MPI_Datatype type)
{
	/* predefined types lie 512 bytes apart, others anywhere */
	return (uintptr_t)type >> 9 ^ (uintptr_t)type >> 4;
}

static inline bool mpi_type_is_one(MPI_Datatype type)
{
	return type != (MPI_Datatype)0;
}

static inline bool mpi_request_like(MPI_Request request, MPI_Request shared)
{
	return request == shared && request;
}

#elif defined(MPICH_VERSION)

_Static_assert(MPICH_NUMVERSION >= 30100000 && MPICH_NUMVERSION < 50000000,
	       "this collector knows the handles of MPICH 3.1 to 4 (libmpich.so.12)");

#define MPI_HANDLE(name, symbol) (name)

/** Fortran has the same numbers, but for files, which are addresses. */
#define MPI_F2C(kind, number)	 MPI_F2C_##kind(number)
#define MPI_F2C_Comm		 PMPI_Comm_f2c
#define MPI_F2C_File		 mpi.File_f2c
#define MPI_F2C_Message		 PMPI_Message_f2c
#define MPI_F2C_Op		 PMPI_Op_f2c
#define MPI_F2C_Request		 PMPI_Request_f2c
#define MPI_F2C_Type		 PMPI_Type_f2c
#define MPI_F2C_Win		 PMPI_Win_f2c
#define MPI_F2C_FUNCTIONS(X)	 X(File_f2c)

/** Requests that are built into the library, one for each kind of operation (0x6c000001: a send):
 * "lightweight" in its src/include/mpir_request.h. The upper six bits say so. */
#define MPI_REQUEST_SHARED	 ((MPI_Request)0x6c000000)

/* Numbers are consecutive; shift them, since tables ignore the lowest bits, as of addresses. */
static inline uintptr_t mpi_comm_key(MPI_Comm comm)
{
	return (uintptr_t)(unsigned)comm << 3;
}

static inline uintptr_t mpi_request_key(MPI_Request request)
{
	return (uintptr_t)(unsigned)request << 3;
}

static inline uintptr_t mpi_message_key(MPI_Message message)
{
	return (uintptr_t)(unsigned)message << 3;
}

static inline uintptr_t mpi_win_key(MPI_Win win)
{
	return (uintptr_t)(unsigned)win << 3;
}

static inline uintptr_t mpi_type_hash(MPI_Datatype type)
{
	return (unsigned)type;
}

/* The upper two bits say where it is (0: nowhere), the next four that it is a datatype
 * (src/include/mpir_objects.h); the library itself looks no further. */
static inline bool mpi_type_is_one(MPI_Datatype type)
{
	return (unsigned)type >> 30 != 0 && ((unsigned)type >> 26 & 15) == 3;
}

static inline bool mpi_request_like(MPI_Request request, MPI_Request shared)
{
	return ((unsigned)request ^ (unsigned)shared) >> 26 == 0;
}

#else
_Static_assert(0, "EventSpace knows the handles of Open MPI and MPICH");
#endif

/** An open file: an address in both. */
static inline uintptr_t mpi_file_key(MPI_File file)
{
	return (uintptr_t)file;
}

#endif
