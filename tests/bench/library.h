/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI library itself: what a program's call costs when nothing preloaded is asked. */
#ifndef EVSPACE_BENCH_LIBRARY_H
#define EVSPACE_BENCH_LIBRARY_H

#include <dlfcn.h>
#include <stddef.h>

/** The library's own @name (PMPI_X), past whatever is preloaded and has that name as well. */
static inline void *library_find(const char *name)
{
	/* a function that every Open MPI has, and nobody else */
	void *own = dlsym(RTLD_DEFAULT, "ompi_mpi_init"), *object;
	Dl_info info;

	if (!own || !dladdr(own, &info))
		return dlsym(RTLD_DEFAULT, name);
	object = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	return object ? dlsym(object, name) : dlsym(RTLD_DEFAULT, name);
}

#endif
