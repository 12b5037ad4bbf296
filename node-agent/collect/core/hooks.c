/* SPDX-License-Identifier: BSD-3-Clause */
/* What functions compiled with -finstrument-functions call. */
#include "node-agent/collect/core/hooks.h"

#include <time.h>

#ifdef EVSPACE_PVM_WRAP

/* A program that is linked statically may have hooks of its own, of gcc(1)'s names. */
void evspace_door_hooks(struct segment_functions *functions, hooks_record *record)
{
	(void)functions;
	(void)record;
}

#else

static struct segment_functions all_off;
static struct segment_functions *_Atomic hooks_page = &all_off;
static hooks_record *_Atomic hooks_call;

/* In the door, as libraries that are loaded later get hardly any such memory (door.c). */
static __thread struct hook_open hooks_open[SEGMENT_REGIONS]
	__attribute__((tls_model("initial-exec")));

void evspace_door_hooks(struct segment_functions *functions, hooks_record *record)
{
	atomic_store_explicit(&hooks_call, record, memory_order_release);
	atomic_store_explicit(&hooks_page, functions, memory_order_release);
}

static __attribute__((noinline, cold)) void hook_note(const void *function, uint64_t frame,
						      int begin)
{
	struct segment_functions *page = atomic_load_explicit(&hooks_page, memory_order_acquire);
	hooks_record *record = atomic_load_explicit(&hooks_call, memory_order_acquire);
	char name[SEGMENT_FUNCTION_NAME];
	struct timespec now = {0, 0};
	uint64_t now_ns;
	size_t n;

	/* no system call; milliseconds do */
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	n = segment_function_read(page, (uintptr_t)function, now_ns, name);
	if (n > 0)
		record(name, n, hooks_open, frame, begin);
	else
		segment_function_rest(page, (uintptr_t)function, now_ns);
}

static inline int hook_may(const void *function)
{
	const struct segment_functions *page =
		atomic_load_explicit(&hooks_page, memory_order_relaxed);

	return __builtin_expect(segment_function_may(page, (uintptr_t)function), 0);
}

/* gcc(1) has these names. */
void __cyg_profile_func_enter(void *function, void *site) __attribute__((visibility("default")));
void __cyg_profile_func_exit(void *function, void *site) __attribute__((visibility("default")));

void __cyg_profile_func_enter(void *function, void *site)
{
	(void)site;
	if (hook_may(function))
		hook_note(function, (uintptr_t)__builtin_dwarf_cfa(), 1);
}

void __cyg_profile_func_exit(void *function, void *site)
{
	(void)site;
	if (hook_may(function))
		hook_note(function, (uintptr_t)__builtin_dwarf_cfa(), 0);
}

#endif
