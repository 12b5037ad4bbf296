/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of labels, which programs give to their regions and phases: hashes of their texts. */
#ifndef EVSPACE_LABEL_ID_H
#define EVSPACE_LABEL_ID_H

#include <stddef.h>
#include <stdint.h>

/** The number of the label @text of @length bytes: FNV-1a (Fowler, Noll, Vo), never 0. */
static inline uint32_t label_id(const char *text, size_t length)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash ? hash : 1;
}

#endif
