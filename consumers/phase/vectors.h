/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops over processes of which the compiler makes vectors, as wide as the processor has them. */
#ifndef EVSPACE_VECTORS_H
#define EVSPACE_VECTORS_H

#include <features.h>

/** Before the function of such a loop. Each number is made by the same operations, however many are
 * made at once. (What chooses the function runs before sanitizers do.) */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && \
	!defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define VECTORS \
	__attribute__((optimize("O3", "no-trapping-math"), target_clones("avx2", "default")))
#else
#define VECTORS __attribute__((optimize("O3", "no-trapping-math")))
#endif

#endif
