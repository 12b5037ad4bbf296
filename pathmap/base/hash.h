/* SPDX-License-Identifier: BSD-3-Clause */
/* Hash tables whose keys peers choose: uthash with unpredictable hashes. Include this instead of
 * <uthash.h>. */
#ifndef EVSPACE_HASH_H
#define EVSPACE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

/* also if <uthash.h> was included before */
#undef HASH_FUNCTION
#define HASH_FUNCTION(key, bytes, value) ((value) = hash_bytes((key), (bytes)))

/** The hash of @bytes at @key; differs between processes, and peers cannot learn it. */
uint32_t hash_bytes(const void *key, size_t bytes);

/** The same for one number, faster; all bits are equally good. */
uint32_t hash_number(uint32_t number);

#endif
