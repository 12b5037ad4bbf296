/* SPDX-License-Identifier: BSD-3-Clause */
/* Parcels: files that are copied to hosts, with the checksums that they are verified by there. */
#ifndef EVSPACE_PARCEL_H
#define EVSPACE_PARCEL_H

#include <stddef.h>

#include "pathmap/error.h"

/** A file as it arrives. */
struct parcel_file {
	char *name; /* its path there: "maps/cluster.map" */
	char *bytes;
	size_t size;
	char sum[65]; /* SHA-256, in hex */
};

/** Some files. Zero-initialise; parcel_fini() frees. */
struct parcel {
	struct parcel_file *files;
	size_t n;
};

/** Add what is in the file @path, as @name. Returns 0, or -1 with @e. */
int parcel_add(struct parcel *parcel, const char *name, const char *path, struct error *e);

/** Add @size bytes at @bytes (copied), as @name. */
void parcel_add_bytes(struct parcel *parcel, const char *name, const void *bytes, size_t size);

/** The file that has this name there, or NULL. */
const struct parcel_file *parcel_find(const struct parcel *parcel, const char *name);

/** Free the files; their bytes are overwritten first, as some are keys. */
void parcel_fini(struct parcel *parcel);

#endif
