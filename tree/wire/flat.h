/* SPDX-License-Identifier: BSD-3-Clause */
/* Flat headers: those whose message has numbers alone, as asks and answers mostly have. They are
 * packed and unpacked here in a small part of the time that protobuf-c takes, into the same. */
#ifndef EVSPACE_FLAT_H
#define EVSPACE_FLAT_H

#include <stddef.h>

#include "tree/wire/wire.pb-c.h"

/** Room that flat_put() needs. */
#define FLAT_BYTES 168u

/** Pack @header to @to. Returns how many bytes it takes, or 0 for one that is not flat, or has 128
 * bytes or more: protobuf-c packs it. */
size_t flat_put(const Evspace__Frame *header, unsigned char *to);

/** Unpack a header into memory from @allocator (NULL: malloc()), for
 * evspace__frame__free_unpacked(). Returns NULL for one that is not flat, which says nothing about
 * whether protobuf-c can unpack it. */
Evspace__Frame *flat_get(ProtobufCAllocator *allocator, const unsigned char *data, size_t bytes);

#endif
