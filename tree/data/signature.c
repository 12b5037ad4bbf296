/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens signatures of collectives. */
#include "tree/data/signature.h"

#include <stddef.h>

#include "tree/data/op-table.h"
#include "tree/data/op.h"

#define REDUCTION_NAME(name, symbol) "MPI_" #name,
#define TYPE_ROW(name, symbol, size) {"MPI_" #name, size},

static const char *const reductions[] = {[SIGNATURE_OWN] = "own",
					 SIGNATURE_REDUCTIONS(REDUCTION_NAME)};

static const struct {
	const char *name;
	uint32_t bytes;
} types[] = {SIGNATURE_TYPES(TYPE_ROW)};

/* By their numbers in pvm3.h, which need not be here. */
static const struct {
	const char *name;
	uint32_t bytes;
} pvm_types[] = {
	{"PVM_STR", sizeof(char)},	{"PVM_BYTE", sizeof(char)},
	{"PVM_SHORT", sizeof(short)},	{"PVM_INT", sizeof(int)},
	{"PVM_FLOAT", sizeof(float)},	{"PVM_CPLX", 2 * sizeof(float)},
	{"PVM_DOUBLE", sizeof(double)}, {"PVM_DCPLX", 2 * sizeof(double)},
	{"PVM_LONG", sizeof(long)},	{"PVM_USHORT", sizeof(short)},
	{"PVM_UINT", sizeof(int)},	{"PVM_ULONG", sizeof(long)},
};

#define REDUCTIONS (sizeof(reductions) / sizeof(reductions[0]))
#define TYPES	   (sizeof(types) / sizeof(types[0]))
#define PVM_TYPES  (sizeof(pvm_types) / sizeof(pvm_types[0]))

_Static_assert(REDUCTIONS <= SIGNATURE_NO_REDUCTION, "reductions fit");
_Static_assert(TYPES <= SIGNATURE_MADE, "predefined types lie below those that are made");

static void type_open(struct signature *s, unsigned type)
{
	if (type < TYPES) {
		s->type = types[type].name;
		s->type_bytes = types[type].bytes;
	} else if (type >= SIGNATURE_MADE && type < SIGNATURE_NO_TYPE) {
		s->type = "made";
		s->type_bytes =
			type - SIGNATURE_MADE <= SIGNATURE_MADE_MOST ? type - SIGNATURE_MADE : 0;
	}
}

/* Of PVM, whose barriers count tasks. */
static struct signature pvm_signature_of(const struct tuple *t)
{
	struct signature s = {.root = -1};
	uint32_t word = (uint32_t)t->peer, root = word >> 12, type = word & SIGNATURE_NO_TYPE;

	if (root != SIGNATURE_NO_ROOT && t->op == OP_PVM_BARRIER) {
		s.tasks = root & ~SIGNATURE_HERE;
	} else if (root != SIGNATURE_NO_ROOT) {
		s.root = (int32_t)(root & ~SIGNATURE_HERE);
		s.here = root & SIGNATURE_HERE;
	}
	if (type < PVM_TYPES) {
		s.type = pvm_types[type].name;
		s.type_bytes = pvm_types[type].bytes;
	}
	return s;
}

struct signature signature_of(const struct tuple *t)
{
	struct signature s = {.root = -1};
	uint32_t word = (uint32_t)t->peer;
	unsigned reduction = word >> 8 & SIGNATURE_NO_REDUCTION;

	if (!op_is_collective(t->op))
		return s;
	if (op_is_pvm(t->op))
		return pvm_signature_of(t);
	if (word >> 12 != SIGNATURE_NO_ROOT)
		s.root = (int32_t)(word >> 12);
	if (reduction < REDUCTIONS)
		s.reduction = reductions[reduction];
	type_open(&s, word & SIGNATURE_NO_TYPE);
	return s;
}

int32_t signature_common(const struct tuple *t)
{
	uint32_t word = (uint32_t)t->peer;

	if (op_is_collective(t->op) && op_is_pvm(t->op) && word >> 12 != SIGNATURE_NO_ROOT)
		word &= ~(SIGNATURE_HERE << 12);
	return (int32_t)word;
}

int32_t signature_peer(const struct tuple *t)
{
	return op_is_collective(t->op) ? TUPLE_NO_PEER : t->peer;
}
