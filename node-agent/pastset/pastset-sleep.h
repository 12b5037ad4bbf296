/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping on a word of an element until another process changes it. */
#ifndef EVSPACE_PASTSET_SLEEP_H
#define EVSPACE_PASTSET_SLEEP_H

#include <stdatomic.h>
#include <stdint.h>

#include "node-agent/pastset/pastset-layout.h"

/** As long as nobody is killed between his word and his call, sleepers are woken; whoever is not
 * looks again after this time. */
#define PASTSET_SLICE_NS 100000000u

/** The low half of the head, on which readers sleep. */
static inline _Atomic uint32_t *pastset_head_low(struct pastset_live *live)
{
	_Atomic uint32_t *half = (_Atomic uint32_t *)(void *)&live->head;

	return half + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/** When @timeout_ms from now are over, by CLOCK_MONOTONIC; -1: never. */
uint64_t pastset_until(int timeout_ms);

/**
 * Sleep while *@word is @value, until @until_ns or PASTSET_SLICE_NS at most. Returns 1 (woken, or
 * the value is another one), 0 (the slice is over), or -1 with errno: EINTR, or ETIMEDOUT at
 * @until_ns.
 */
int pastset_sleep(const _Atomic uint32_t *word, uint32_t value, uint64_t until_ns);

/** Wake all who sleep on @word. */
void pastset_wake(const _Atomic uint32_t *word);

#endif
