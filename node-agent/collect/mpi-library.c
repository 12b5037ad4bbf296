/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the MPI library's functions and handles, also when a program loads it late (mpi4py). */
#include "node-agent/collect/mpi-library.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

struct mpi_library mpi;

static int object_look(struct dl_phdr_info *info, size_t size, void *arg)
{
	void **found = arg, *handle;

	(void)size;
	if (!info->dlpi_name || !info->dlpi_name[0])
		return 0;
	handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return 0;
	/* not for a wrapper of somebody else: only the library itself has the profiling name */
	if (dlsym(handle, "PMPI_Init"))
		*found = handle;
	else
		dlclose(handle);
	return *found != NULL;
}

/* The library as an object of its own: it may have been loaded with RTLD_LOCAL. */
static void *object_find(void)
{
	static void *object;

	if (!object)
		dl_iterate_phdr(object_look, &object);
	return object;
}

static void *late_symbol(const char *name)
{
	void *object = object_find();

	return object ? dlsym(object, name) : NULL;
}

void *mpi_library_next(const char *name)
{
	/* the PMPI name without its P is the name that other preloaded libraries have, too */
	void *symbol = dlsym(RTLD_NEXT, name + 1);

	if (!symbol)
		symbol = dlsym(RTLD_DEFAULT, name);
	return symbol ? symbol : late_symbol(name);
}

/* RTLD_DEFAULT: a program that is not position independent may hold the copy that counts. */
void *mpi_library_data(const char *symbol)
{
	void *data = dlsym(RTLD_DEFAULT, symbol);

	return data ? data : late_symbol(symbol);
}

static bool functions_find(void)
{
	bool all = true;

#define MPI_LIBRARY_FIND(name)                                                 \
	do {                                                                   \
		*(void **)(void *)&mpi.name = mpi_library_data("PMPI_" #name); \
		all = all && mpi.name;                                         \
	} while (0);
	MPI_LIBRARY_FUNCTIONS(MPI_LIBRARY_FIND)
	return all;
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
	/* without it its completions are just not attributed */
	mpi.request_shared = MPI_REQUEST_SHARED;
	mpi.ready = functions_find() && mpi.world && mpi.self && mpi.comm_null && mpi.byte &&
		    mpi.datatype_null && mpi.request_null && mpi.message_null;
	return mpi.ready;
}
