/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks operations and channels up in the table that tree/data/op.awk makes of
 * tree/data/ops.tab. */
#include "tree/data/op.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tree/data/op-table.h"

static const char *const channel_names[] = {
	[CHANNEL_P2P] = "p2p",	     [CHANNEL_COLLECTIVE] = "collective",
	[CHANNEL_WAIT] = "wait",     [CHANNEL_COMPLETION] = "completion",
	[CHANNEL_COMM] = "comm",     [CHANNEL_ENV] = "env",
	[CHANNEL_RMA] = "rma",	     [CHANNEL_IO] = "io",
	[CHANNEL_USER] = "user",     [CHANNEL_PACK] = "pack",
	[CHANNEL_GATHER] = "gather", [CHANNEL_HOP] = "hop",
	[CHANNEL_STAGE] = "stage",   [CHANNEL_CPU] = "cpu",
	[CHANNEL_SAMPLE] = "sample", [CHANNEL_STATE] = "state",
};

#define CHANNEL_NAMES (sizeof(channel_names) / sizeof(channel_names[0]))

struct op_row {
	const char *name;
	uint8_t channel;
	uint8_t synchronizes;
	uint8_t collective;
	uint8_t numbered;
	uint8_t alike;
};

#define OP_ROW(number, row_name, row_channel, row_sync, row_collective, row_numbered, row_alike) \
	[number] = {.name = row_name,                                                            \
		    .channel = row_channel,                                                      \
		    .synchronizes = row_sync,                                                    \
		    .collective = row_collective,                                                \
		    .numbered = row_numbered,                                                    \
		    .alike = row_alike},

static const struct op_row rows[] = {OP_TABLE(OP_ROW)};

#define OP_ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct op_row *op_row(uint16_t op)
{
	return op < OP_ROWS && rows[op].name ? &rows[op] : NULL;
}

const char *channel_name(unsigned channel)
{
	return channel < CHANNEL_NAMES && channel_names[channel] ? channel_names[channel] : "?";
}

int channel_find(const char *name)
{
	for (unsigned i = 0; i < CHANNEL_NAMES; i++)
		if (channel_names[i] && strcmp(channel_names[i], name) == 0)
			return (int)i;
	return -1;
}

/* Names of unknown operations that are valid at a time. */
#define UNKNOWN_NAMES 16u

const char *op_name(uint16_t op)
{
	/* in turn, for threads beside each other; thread-local memory is none of a collector's */
	static char names[UNKNOWN_NAMES][16];
	static _Atomic unsigned next;
	const struct op_row *row = op_row(op);
	char *unknown;

	if (row)
		return row->name;
	if (op == OP_NONE)
		return "unknown";
	unknown = names[atomic_fetch_add(&next, 1) % UNKNOWN_NAMES];
	snprintf(unknown, sizeof(names[0]), "op %u", op);
	return unknown;
}

uint16_t op_find(const char *name)
{
	for (unsigned i = 0; i < OP_ROWS; i++) {
		const char *own = rows[i].name;

		if (!own)
			continue;
		if (strcasecmp(own, name) == 0)
			return (uint16_t)i;
		if (strncmp(own, "MPI_", 4) == 0 && strcasecmp(own + 4, name) == 0)
			return (uint16_t)i;
	}
	return 0;
}

int op_channel(uint16_t op)
{
	const struct op_row *row = op_row(op);

	return row ? row->channel : -1;
}

int op_synchronizes(uint16_t op)
{
	const struct op_row *row = op_row(op);

	return row ? row->synchronizes : 0;
}

int op_is_collective(uint16_t op)
{
	const struct op_row *row = op_row(op);

	return row && (row->collective || row->channel == CHANNEL_COLLECTIVE ||
		       row->channel == CHANNEL_COMM);
}

int op_is_numbered(uint16_t op)
{
	const struct op_row *row = op_row(op);

	return row && row->numbered;
}

int op_is_labelled(uint16_t op)
{
	return op == OP_EVSPACE_REGION || op == OP_EVSPACE_PHASE || op == OP_EVSPACE_FUNCTION;
}

enum op_alike op_alike(uint16_t op)
{
	const struct op_row *row = op_row(op);

	return row ? row->alike : OP_ALIKE_NOT;
}

/* Whose operation it is, by its number. */
static unsigned op_library(uint16_t op)
{
	return op_is_pvm(op) ? 2
			     : op_channel(op) >= CHANNEL_PROGRAMS || op_channel(op) == CHANNEL_USER;
}

unsigned op_count(uint16_t op, int channel)
{
	unsigned library = op_library(op), n = 0;

	for (unsigned i = 1; i < OP_ROWS; i++)
		n += rows[i].name && op_library((uint16_t)i) == library &&
		     (channel < 0 || rows[i].channel == channel);
	return n;
}
