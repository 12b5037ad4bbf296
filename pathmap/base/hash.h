/* SPDX-License-Identifier: BSD-3-Clause */
/* Hash tables whose keys others choose: uthash, with hashes that nobody can foresee. Include this
 * instead of <uthash.h>. */
#ifndef EVSPACE_HASH_H
#define EVSPACE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

/* For whoever has included <uthash.h> before, too. */
#undef HASH_FUNCTION
#define HASH_FUNCTION(key, bytes, value) ((value) = hash_bytes((key), (bytes)))

/** The hash of @bytes at @key: another one in each process, of which peers learn nothing. */
uint32_t hash_bytes(const void *key, size_t bytes);

/** The same for one number, faster; all bits are as good as the others. */
uint32_t hash_number(uint32_t number);

#endif
