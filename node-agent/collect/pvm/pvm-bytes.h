/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes of payload by the arguments of a PVM call. */
#ifndef EVSPACE_PVM_BYTES_H
#define EVSPACE_PVM_BYTES_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "node-agent/collect/pvm/pvm-library.h"
#include "tree/data/tuple.h"

/** Bytes of @n items of a type of pvm3.h (PVM_STR to PVM_ULONG). */
static inline uint64_t pvm_bytes(int n, int type)
{
	static const uint8_t sizes[] = {
		[PVM_STR] = 1,
		[PVM_BYTE] = 1,
		[PVM_SHORT] = sizeof(short),
		[PVM_INT] = sizeof(int),
		[PVM_FLOAT] = sizeof(float),
		[PVM_CPLX] = 2 * sizeof(float),
		[PVM_DOUBLE] = sizeof(double),
		[PVM_DCPLX] = 2 * sizeof(double),
		[PVM_LONG] = sizeof(long),
		[PVM_USHORT] = sizeof(short),
		[PVM_UINT] = sizeof(int),
		[PVM_ULONG] = sizeof(long),
	};

	if (n <= 0 || type < 0 || (size_t)type >= sizeof(sizes))
		return 0;
	return (uint64_t)(unsigned)n * sizes[type];
}

/** Bytes of a text with its final 0, as PVM packs and unpacks it. */
static inline uint64_t pvm_bytes_text(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

/** Bytes of the message in the buffer @mid, which exists. */
uint64_t pvm_bytes_buffer(int mid);

/** Bytes of the message in the send buffer; 0 if there is none. */
uint64_t pvm_bytes_sending(void);

/** Set sender, tag and bytes of @t from the message in the buffer @mid, which exists. */
void pvm_tuple_received(struct tuple *t, int mid);

/** Set @t to what pvm_precv says of its message. */
void pvm_tuple_placed(struct tuple *t, int tid, int tag, int bytes);

/** Bytes that a successful pvm_packf (@packs) or pvm_unpackf has packed or unpacked, by @format
 * and @args (pvm_pack(3)). */
uint64_t pvm_bytes_format(const char *format, va_list args, bool packs);

#endif
