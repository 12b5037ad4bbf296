/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a stack frame of this thread whose stack may be unmapped. */
#ifndef EVSPACE_COLLECT_STACK_H
#define EVSPACE_COLLECT_STACK_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

/* Stacks are mapped by pages, of this size at least. */
#define COLLECT_STACK_PAGE 4096

/* This much at the top of the main thread's stack is always stack: it never shrinks, and the
 * kernel keeps a guard gap of this size below its used part. */
#define COLLECT_STACK_MAIN (UINT64_C(1) << 20)

/** Is the word at @at certainly mapped, for a function that was called from @frame? Makes no
 * system call. */
static inline bool collect_stack_stays(uint64_t at, uint64_t frame)
{
	static uint64_t known;
	uint64_t top;

	/* this function's return address lies just below @frame */
	if (at / COLLECT_STACK_PAGE == (frame - sizeof(void *)) / COLLECT_STACK_PAGE)
		return true;
	top = __atomic_load_n(&known, __ATOMIC_RELAXED);
	if (!top) {
		/* the kernel puts AT_RANDOM's bytes above the first frame */
		top = getauxval(AT_RANDOM);
		__atomic_store_n(&known, top, __ATOMIC_RELAXED);
	}
	return at < top && top - at <= COLLECT_STACK_MAIN;
}

/** Is the word at @at, on a stack that may be unmapped, certainly not @what? */
static inline bool collect_stack_lacks(uint64_t at, const void *what)
{
	const void *found = what;
	struct iovec there = {(void *)(uintptr_t)at, sizeof(found)};
	struct iovec here = {(void *)&found, sizeof(found)};
	const int saved = errno;
	/* if seccomp(2) forbids the call, the word may still be there */
	bool gone = process_vm_readv(getpid(), &here, 1, &there, 1, 0) < 0 && errno == EFAULT;

	errno = saved;
	return gone || found != what;
}

#endif
