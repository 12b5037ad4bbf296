/* SPDX-License-Identifier: BSD-3-Clause */
/* Bundles: files that are copied to hosts, with the checksums that they are verified by there. */
#ifndef EVSPACE_BUNDLE_H
#define EVSPACE_BUNDLE_H

#include <stddef.h>

#include "pathmap/base/error.h"

/** A file as it arrives. */
struct bundle_file {
	char *name; /* its path there: "maps/cluster.map" */
	char *bytes;
	size_t size;
	char sum[65]; /* SHA-256, in hex */
};

/** Some files. Zero-initialise; bundle_fini() frees. */
struct bundle {
	struct bundle_file *files;
	size_t n;
};

/** Add what is in the file @path, as @name. Returns 0, or -1 with @e. */
int bundle_add(struct bundle *bundle, const char *name, const char *path, struct error *e);

/** Add @size bytes at @bytes (copied), as @name. */
void bundle_add_bytes(struct bundle *bundle, const char *name, const void *bytes, size_t size);

/** The file that has this name there, or NULL. */
const struct bundle_file *bundle_find(const struct bundle *bundle, const char *name);

/** Free the files; their bytes are overwritten first, as some are keys. */
void bundle_fini(struct bundle *bundle);

#endif
