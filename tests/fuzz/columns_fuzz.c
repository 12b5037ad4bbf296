/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: columns off the wire, and whatever is in tuples through columns and back. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree/data/columns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(bool true_always, const char *what)
{
	if (!true_always) {
		fprintf(stderr, "broken: %s\n", what);
		abort();
	}
}

static void *room(size_t bytes)
{
	void *new = malloc(bytes);

	if (!new)
		abort();
	return new;
}

/* They come out as they went in; what is read lies in no more memory than it has. */
static void through(enum run_kind kind, const void *records, size_t n)
{
	size_t record = run_record_bytes(kind), most = columns_room(kind, n), bytes;
	unsigned char *to = room(most), *exact, *back = room(n * record);
	struct columns what;

	bytes = columns_put(kind, records, n, to);
	must(bytes <= most && bytes % 8 == 0, "the size of columns");
	exact = room(bytes);
	memcpy(exact, to, bytes);
	must(columns_get(exact, bytes, &what, NULL, NULL) == 0, "what is made is refused");
	must(what.kind == kind && what.count == n, "what they stand for");
	must(columns_get(exact, bytes, &what, back, NULL) == 0, "only looking says otherwise");
	must(memcmp(back, records, n * record) == 0, "records are others");
	free(back);
	free(exact);
	free(to);
}

static void from_wire(const uint8_t *data, size_t bytes)
{
	struct columns what;
	void *records;

	if (columns_get(data, bytes, &what, NULL, NULL) < 0)
		return;
	must(what.count > 0 && what.count <= UINT16_MAX, "how many there are");
	records = room(what.count * run_record_bytes(what.kind));
	must(columns_get(data, bytes, &what, records, NULL) == 0, "only looking says otherwise");
	through(what.kind, records, what.count);
	free(records);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	from_wire(data, bytes);
	if (bytes >= sizeof(struct tuple) && bytes / sizeof(struct tuple) <= UINT16_MAX)
		through(RUN_TUPLES, data, bytes / sizeof(struct tuple));
	if (bytes >= sizeof(struct newest) && bytes / sizeof(struct newest) <= UINT16_MAX)
		through(RUN_NEWEST, data, bytes / sizeof(struct newest));
	return 0;
}
