/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes the functions that are on. */
#include "node-agent/segment/segment-function.h"

#include <string.h>

uint64_t segment_functions_place(const struct segment_layout *layout)
{
	return segment_told_place(layout) + SEGMENT_PAGE;
}

struct segment_functions *segment_functions_own(const struct segment *s)
{
	return (struct segment_functions *)(void *)((char *)s->header +
						    segment_functions_place(&s->layout));
}

static uint64_t function_address(const struct segment_function *f)
{
	return atomic_load_explicit(&f->address, memory_order_acquire);
}

static uint64_t function_until(const struct segment_function *f)
{
	return atomic_load_explicit(&f->until_mono_ns, memory_order_relaxed);
}

size_t segment_function_read(const struct segment_functions *functions, uint64_t address,
			     uint64_t now_ns, char name[SEGMENT_FUNCTION_NAME])
{
	for (unsigned i = 0; i < SEGMENT_FUNCTIONS; i++) {
		const struct segment_function *f = &functions->slots[i];
		size_t n = 0;

		if (function_address(f) != address || function_until(f) <= now_ns)
			continue;
		while (n < SEGMENT_FUNCTION_NAME - 1 &&
		       (name[n] = (char)atomic_load_explicit(&f->name[n], memory_order_relaxed)))
			n++;
		name[n] = '\0';
		/* another one may have got the place meanwhile */
		atomic_thread_fence(memory_order_acquire);
		return function_address(f) == address ? n : 0;
	}
	return 0;
}

void segment_function_rest(struct segment_functions *functions, uint64_t address, uint64_t now_ns)
{
	unsigned bit = segment_function_bit(address);

	for (unsigned i = 0; i < SEGMENT_FUNCTIONS; i++) {
		const struct segment_function *f = &functions->slots[i];
		uint64_t its = function_address(f);

		if (its && segment_function_bit(its) == bit && function_until(f) > now_ns)
			return;
	}
	/* an agent that has just had one be on sets the bit again when it says so next */
	atomic_fetch_and_explicit(&functions->mask[bit / 64], ~(UINT64_C(1) << bit % 64),
				  memory_order_relaxed);
}

static void function_put(struct segment_function *f, const char *name, uint64_t address)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < SEGMENT_FUNCTION_NAME; i++)
		atomic_store_explicit(
			&f->name[i],
			(uint8_t)(i < n && i + 1 < SEGMENT_FUNCTION_NAME ? name[i] : '\0'),
			memory_order_relaxed);
	atomic_store_explicit(&f->address, address, memory_order_release);
}

/* What no function has goes, what one has comes: at no time a bit is missing. */
static void mask_settle(struct segment_functions *functions)
{
	uint64_t mask[SEGMENT_FUNCTION_BITS / 64] = {0};

	for (unsigned i = 0; i < SEGMENT_FUNCTIONS; i++) {
		uint64_t address = function_address(&functions->slots[i]);
		unsigned bit = segment_function_bit(address);

		if (address)
			mask[bit / 64] |= UINT64_C(1) << bit % 64;
	}
	for (unsigned i = 0; i < SEGMENT_FUNCTION_BITS / 64; i++)
		atomic_store_explicit(&functions->mask[i], mask[i], memory_order_release);
}

int segment_function_switch(struct segment_functions *functions, const char *name, uint64_t address,
			    uint64_t until_ns, uint64_t now_ns)
{
	struct segment_function *place = NULL;
	int rc = 0;

	for (unsigned i = 0; i < SEGMENT_FUNCTIONS; i++) {
		struct segment_function *f = &functions->slots[i];
		uint64_t its = function_address(f);

		/* one that goes on is not off for a moment */
		if (its == address && until_ns > 0) {
			atomic_store_explicit(&f->until_mono_ns, until_ns, memory_order_relaxed);
			mask_settle(functions);
			return 0;
		}
		if (its && (its == address || function_until(f) <= now_ns))
			atomic_store_explicit(&f->address, 0, memory_order_release);
		if (!place && !function_address(f))
			place = f;
	}
	if (until_ns > 0 && place) {
		atomic_thread_fence(memory_order_release);
		atomic_store_explicit(&place->until_mono_ns, until_ns, memory_order_relaxed);
		function_put(place, name, address);
	} else if (until_ns > 0) {
		rc = -1;
	}
	mask_settle(functions);
	return rc;
}
