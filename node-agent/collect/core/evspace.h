/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions, phases and iterations that a program records among its communication, and what it is
 * told about itself (evspace-figures.h).
 *
 *	evspace_phase("solve");
 *	for (i = 0; i < n; i++) {
 *		evspace_region("exchange", EVSPACE_BEGIN);
 *		...
 *		evspace_region("exchange", EVSPACE_END);
 *		evspace_iteration(i);
 *	}
 *	evspace_phase(NULL);
 *
 * A program whose state is a block of code at each time (docs/phase.md) says which it enters:
 * evspace_block(7).
 *
 * Each is a tuple of the channel "user", with the time that it took: of a region at its end, of a
 * phase when the next one begins, of an iteration at its end. They are recorded by the collector
 * that `evspace run` preloads; without it, each call costs a load and a branch. No library is
 * linked, except with -ldl before glibc 2.34. The functions may be called from any thread, also
 * before MPI_Init and after MPI_Finalize, when nothing is recorded. For C11 and C++11; Fortran has
 * evspace.f90.
 */
#ifndef EVSPACE_H
#define EVSPACE_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Values of `begin` for evspace_region(). */
#define EVSPACE_END   0
#define EVSPACE_BEGIN 1

/** The collector's functions for programs, exported as evspace_calls_1. All are NULL before
 * MPI_Init. Once set they stay, since other threads may be about to call them. */
struct evspace_calls {
	void (*region)(const char *name, size_t length, int begin);
	void (*phase)(const char *name, size_t length);
	void (*iteration)(uint64_t number);
	void (*block)(uint32_t number);
};

/* found once in each program or library, and shared by all its files */
__attribute__((weak, visibility("hidden"))) const struct evspace_calls *evspace_found;
__attribute__((weak, visibility("hidden"))) struct evspace_calls evspace_absent = {NULL, NULL, NULL,
										   NULL};

static __attribute__((unused, noinline, cold)) const void *evspace_symbol_find(const char *name)
{
	void *program = dlopen(NULL, RTLD_LAZY), *symbol = NULL;

	if (program) {
		symbol = dlsym(program, name);
		/* the program itself is never unloaded */
		dlclose(program);
	}
	return symbol;
}

static __attribute__((unused, noinline, cold)) const struct evspace_calls *evspace_find(void)
{
	const struct evspace_calls *calls =
		(const struct evspace_calls *)evspace_symbol_find("evspace_calls_1");

	calls = calls ? calls : &evspace_absent;
	__atomic_store_n(&evspace_found, calls, __ATOMIC_RELEASE);
	return calls;
}

static inline const struct evspace_calls *evspace_calls(void)
{
	const struct evspace_calls *calls = __atomic_load_n(&evspace_found, __ATOMIC_ACQUIRE);

	return __builtin_expect(calls != NULL, 1) ? calls : evspace_find();
}

/**
 * Begin or end a region on this thread. Regions may be nested, 8 deep at most; an end closes the
 * innermost open region with this name, and those in it that were left open. Only the first 55
 * bytes of a name are kept, and only the first 255 names.
 */
static inline void evspace_region(const char *name, int begin)
{
	void (*region)(const char *, size_t, int) =
		__atomic_load_n(&evspace_calls()->region, __ATOMIC_ACQUIRE);

	if (__builtin_expect(region != NULL, 0))
		region(name, strlen(name), begin);
}

static __attribute__((unused)) void evspace_scope_end(const char *const *name)
{
	evspace_region(*name, EVSPACE_END);
}

#define EVSPACE_SCOPE_NAME(line) evspace_scope_##line
#define EVSPACE_SCOPE_AT(name, line)                                  \
	const char *const EVSPACE_SCOPE_NAME(line)                    \
		__attribute__((cleanup(evspace_scope_end), unused)) = \
			(evspace_region(name, EVSPACE_BEGIN), (name))

/** A region from here to the end of the block, however that is left. Of GCC and Clang. */
#define EVSPACE_SCOPE(name) EVSPACE_SCOPE_AT(name, __LINE__)
/** Enter a phase on this thread, and leave the one before. NULL: enter none. */
static inline void evspace_phase(const char *name)
{
	void (*phase)(const char *, size_t) =
		__atomic_load_n(&evspace_calls()->phase, __ATOMIC_ACQUIRE);

	if (__builtin_expect(phase != NULL, 0))
		phase(name, name ? strlen(name) : 0);
}

/** End iteration @number (32 bits are kept) on this thread. Its time is that since the iteration
 * before, or since the phase began. */
static inline void evspace_iteration(uint64_t number)
{
	void (*iteration)(uint64_t) =
		__atomic_load_n(&evspace_calls()->iteration, __ATOMIC_ACQUIRE);

	if (__builtin_expect(iteration != NULL, 0))
		iteration(number);
}

/** Enter block @number of the program on this thread, and leave the one before: its state in the
 * phase space of all processes, for `evspace phase`, which takes the first thread of each. 0 is
 * before the first. */
static inline void evspace_block(uint32_t number)
{
	void (*block)(uint32_t) = __atomic_load_n(&evspace_calls()->block, __ATOMIC_ACQUIRE);

	if (__builtin_expect(block != NULL, 0))
		block(number);
}

#ifdef __cplusplus
}
#endif

/* evspace_budget(), evspace_view_latest() */
#include "evspace-figures.h"

#endif
