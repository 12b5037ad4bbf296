/* SPDX-License-Identifier: BSD-3-Clause */
/* The columns of each kind of record that has any. */
#include "tree/data/columns-table.h"

#include <stddef.h>

static const struct column tuple_columns[] = {
	{offsetof(struct tuple, start), 8, false},	{offsetof(struct tuple, end), 8, true},
	{offsetof(struct tuple, bytes), 8, false},	{offsetof(struct tuple, peer), 4, false},
	{offsetof(struct tuple, seq_or_tag), 4, false}, {offsetof(struct tuple, comm), 4, false},
	{offsetof(struct tuple, op), 2, false},		{offsetof(struct tuple, flags), 2, false},
};

#define OF_NEWEST(field) offsetof(struct newest, tuple) + offsetof(struct tuple, field)

static const struct column newest_columns[] = {
	{OF_NEWEST(start), 8, false},
	{OF_NEWEST(end), 8, true},
	{OF_NEWEST(bytes), 8, false},
	{OF_NEWEST(peer), 4, false},
	{OF_NEWEST(seq_or_tag), 4, false},
	{OF_NEWEST(comm), 4, false},
	{OF_NEWEST(op), 2, false},
	{OF_NEWEST(flags), 2, false},
	{offsetof(struct newest, number), 8, false},
};

static const struct column meet_columns[COLUMNS_MOST] = {
	{offsetof(struct meet, start), 8, false},   {offsetof(struct meet, before), 8, true},
	{offsetof(struct meet, last), 8, true},	    {offsetof(struct meet, end), 8, true},
	{offsetof(struct meet, last_end), 8, true}, {offsetof(struct meet, waited), 8, false},
	{offsetof(struct meet, bytes), 8, false},   {offsetof(struct meet, comm), 4, false},
	{offsetof(struct meet, number), 4, false},  {offsetof(struct meet, count), 4, false},
	{offsetof(struct meet, who), 4, false},	    {offsetof(struct meet, signature), 4, false},
	{offsetof(struct meet, op), 2, false},	    {offsetof(struct meet, magnitude), 1, false},
	{offsetof(struct meet, flags), 1, false},
};

const struct columns_table columns_tables[RUN_KINDS] = {
	[RUN_TUPLES] = {tuple_columns, sizeof(tuple_columns) / sizeof(*tuple_columns)},
	[RUN_NEWEST] = {newest_columns, sizeof(newest_columns) / sizeof(*newest_columns)},
	[RUN_MEETS] = {meet_columns, COLUMNS_MOST},
};
