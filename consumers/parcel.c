/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the files that hosts are to have, and takes their checksums. */
#include "consumers/parcel.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pathmap/memory.h"

/* Nothing that is copied is nearly as large. */
#define FILE_MOST ((off_t)1 << 30)

static void file_sum(struct parcel_file *file)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned length = 0;

	if (!EVP_Digest(file->bytes, file->size, digest, &length, EVP_sha256(), NULL))
		abort();
	for (unsigned i = 0; i < length && i < 32; i++)
		snprintf(file->sum + i * 2, 3, "%02x", digest[i]);
}

/* Takes @bytes over. */
static void file_add(struct parcel *parcel, const char *name, char *bytes, size_t size)
{
	struct parcel_file *file;

	parcel->files = memory_room(parcel->files, parcel->n, sizeof(*parcel->files));
	file = &parcel->files[parcel->n++];
	*file = (struct parcel_file){.name = memory_copy(name), .bytes = bytes, .size = size};
	file_sum(file);
}

void parcel_add_bytes(struct parcel *parcel, const char *name, const void *bytes, size_t size)
{
	file_add(parcel, name, memory_copy_bytes(bytes, size), size);
}

int parcel_add(struct parcel *parcel, const char *name, const char *path, struct error *e)
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
	file_add(parcel, name, bytes, got);
	return 0;
}

const struct parcel_file *parcel_find(const struct parcel *parcel, const char *name)
{
	for (size_t i = 0; i < parcel->n; i++)
		if (strcmp(parcel->files[i].name, name) == 0)
			return &parcel->files[i];
	return NULL;
}

void parcel_fini(struct parcel *parcel)
{
	for (size_t i = 0; i < parcel->n; i++) {
		OPENSSL_cleanse(parcel->files[i].bytes, parcel->files[i].size);
		free(parcel->files[i].bytes);
		free(parcel->files[i].name);
	}
	free(parcel->files);
	*parcel = (struct parcel){0};
}
