/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads files to copy to hosts, and computes their checksums. */
#include "consumers/deploy/target.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pathmap/base/memory.h"

/* Nothing that is copied comes near this size. */
#define FILE_MOST ((off_t)1 << 30)

static void file_sum(struct bundle_file *file)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned length = 0;

	if (!EVP_Digest(file->bytes, file->size, digest, &length, EVP_sha256(), NULL))
		abort();
	for (unsigned i = 0; i < length && i < 32; i++)
		snprintf(file->sum + i * 2, 3, "%02x", digest[i]);
}

/* Takes ownership of @bytes. */
static void file_add(struct bundle *bundle, const char *name, char *bytes, size_t size)
{
	struct bundle_file *file;

	bundle->files = memory_room(bundle->files, bundle->n, sizeof(*bundle->files));
	file = &bundle->files[bundle->n++];
	*file = (struct bundle_file){.name = memory_copy(name), .bytes = bytes, .size = size};
	file_sum(file);
}

void bundle_add_bytes(struct bundle *bundle, const char *name, const void *bytes, size_t size)
{
	file_add(bundle, name, memory_copy_bytes(bytes, size), size);
}

int bundle_add(struct bundle *bundle, const char *name, const char *path, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st = {0};
	char *bytes;
	size_t got = 0;
	ssize_t n = 1;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MOST) {
		errorf(e, "cannot read %s: %s", path, fd < 0 ? strerror(errno) : "no usual file");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	bytes = memory_new((size_t)st.st_size + 1, 1);
	while (got < (size_t)st.st_size &&
	       (n = read(fd, bytes + got, (size_t)st.st_size - got)) > 0)
		got += (size_t)n;
	close(fd);
	if (n < 0) {
		free(bytes);
		return errorf(e, "cannot read %s: %s", path, strerror(errno));
	}
	file_add(bundle, name, bytes, got);
	return 0;
}

const struct bundle_file *bundle_find(const struct bundle *bundle, const char *name)
{
	for (size_t i = 0; i < bundle->n; i++)
		if (strcmp(bundle->files[i].name, name) == 0)
			return &bundle->files[i];
	return NULL;
}

void bundle_fini(struct bundle *bundle)
{
	for (size_t i = 0; i < bundle->n; i++) {
		OPENSSL_cleanse(bundle->files[i].bytes, bundle->files[i].size);
		free(bundle->files[i].bytes);
		free(bundle->files[i].name);
	}
	free(bundle->files);
	*bundle = (struct bundle){0};
}
