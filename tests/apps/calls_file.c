/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: each way to read and write, alone and together, at once, in halves and by request. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/apps/calls.h"

enum { N = 24, NAME = 64 };

/* Bytes where the part of a rank begins, of files where each has N ints. */
static MPI_Offset part(int rank)
{
	return (MPI_Offset)(INTS(N) * (unsigned)rank);
}

static void sync_all(const struct calls *on, MPI_File fh)
{
	COUNT(MPI_File_sync, 0);
	MPI_File_sync(fh);
	COUNT(MPI_Barrier, 0);
	MPI_Barrier(on->comm);
}

static void seek(MPI_File fh, MPI_Offset offset)
{
	COUNT(MPI_File_seek, 0);
	MPI_File_seek(fh, offset, MPI_SEEK_SET);
}

static void seek_shared(MPI_File fh)
{
	COUNT(MPI_File_seek_shared, 0);
	MPI_File_seek_shared(fh, 0, MPI_SEEK_SET);
}

static void alone(const struct calls *on, MPI_File fh)
{
	int out[N], in[2 * N], came;
	MPI_Status status;

	calls_fill(out, N, on->rank, 1);
	seek(fh, part(on->rank));
	COUNT(MPI_File_write, INTS(N / 2));
	MPI_File_write(fh, out, N / 2, MPI_INT, &status);
	COUNT(MPI_File_write_at, INTS(N / 2));
	MPI_File_write_at(fh, part(on->rank) + (MPI_Offset)INTS(N / 2), out + N / 2, N / 2, MPI_INT,
			  MPI_STATUS_IGNORE);
	sync_all(on, fh);
	seek(fh, part(on->left));
	COUNT(MPI_File_read, INTS(N - 1));
	MPI_File_read(fh, in, N - 1, MPI_INT, MPI_STATUS_IGNORE);
	calls_check("MPI_File_read", in, N - 1, on->left, 1);
	/* there is less than is asked for */
	COUNT(MPI_File_read_at, INTS(N));
	MPI_File_read_at(fh, part(on->size - 1), in, 2 * N, MPI_INT, &status);
	MPI_Get_count(&status, MPI_INT, &came);
	calls_must(came == N, "MPI_File_read_at: %d numbers at the end of the file", came);
	calls_check("MPI_File_read_at", in, N, on->size - 1, 1);
	sync_all(on, fh);
}

static void together(const struct calls *on, MPI_File fh)
{
	int out[N], in[N];

	calls_fill(out, N, on->rank, 2);
	seek(fh, part(on->rank));
	COUNT(MPI_File_write_all, INTS(N));
	MPI_File_write_all(fh, out, N, MPI_INT, MPI_STATUS_IGNORE);
	sync_all(on, fh);
	seek(fh, part(on->right));
	COUNT(MPI_File_read_all, INTS(N));
	MPI_File_read_all(fh, in, N, MPI_INT, MPI_STATUS_IGNORE);
	calls_check("MPI_File_read_all", in, N, on->right, 2);
	sync_all(on, fh);
	calls_fill(out, N, on->rank, 3);
	COUNT(MPI_File_write_at_all, INTS(N));
	MPI_File_write_at_all(fh, part(on->rank), out, N, MPI_INT, MPI_STATUS_IGNORE);
	sync_all(on, fh);
	COUNT(MPI_File_read_at_all, INTS(N - 2));
	MPI_File_read_at_all(fh, part(on->right), in, N - 2, MPI_INT, MPI_STATUS_IGNORE);
	calls_check("MPI_File_read_at_all", in, N - 2, on->right, 3);
	sync_all(on, fh);
}

/* The shared pointer: who comes when is not known, or in the order of ranks. */
static void shared(const struct calls *on, MPI_File fh)
{
	int out[N], in[N];

	calls_fill(out, N, 0, 4);
	seek_shared(fh);
	COUNT(MPI_File_write_shared, INTS(N));
	MPI_File_write_shared(fh, out, N, MPI_INT, MPI_STATUS_IGNORE);
	sync_all(on, fh);
	seek_shared(fh);
	COUNT(MPI_File_read_shared, INTS(N));
	MPI_File_read_shared(fh, in, N, MPI_INT, MPI_STATUS_IGNORE);
	calls_check("MPI_File_read_shared", in, N, 0, 4);
	sync_all(on, fh);
	calls_fill(out, N, on->rank, 5);
	seek_shared(fh);
	COUNT(MPI_File_write_ordered, INTS(N));
	MPI_File_write_ordered(fh, out, N, MPI_INT, MPI_STATUS_IGNORE);
	sync_all(on, fh);
	seek_shared(fh);
	COUNT(MPI_File_read_ordered, INTS(N));
	MPI_File_read_ordered(fh, in, N, MPI_INT, MPI_STATUS_IGNORE);
	calls_check("MPI_File_read_ordered", in, N, on->rank, 5);
	sync_all(on, fh);
}

/* Begun by one call and ended by another, which alone knows how much it was. */
#define HALVES(name, ...)                               \
	do {                                            \
		COUNT(name##_begin, 0);                 \
		name##_begin(fh, __VA_ARGS__);          \
		COUNT(name##_end, INTS(N));             \
		name##_end(fh, buf, MPI_STATUS_IGNORE); \
	} while (0)

static void halves(const struct calls *on, MPI_File fh)
{
	int buf[N];

	calls_fill(buf, N, on->rank, 6);
	seek(fh, part(on->rank));
	HALVES(MPI_File_write_all, buf, N, MPI_INT);
	sync_all(on, fh);
	seek(fh, part(on->left));
	HALVES(MPI_File_read_all, buf, N, MPI_INT);
	calls_check("MPI_File_read_all_end", buf, N, on->left, 6);
	sync_all(on, fh);
	calls_fill(buf, N, on->rank, 7);
	HALVES(MPI_File_write_at_all, part(on->rank), buf, N, MPI_INT);
	sync_all(on, fh);
	HALVES(MPI_File_read_at_all, part(on->left), buf, N, MPI_INT);
	calls_check("MPI_File_read_at_all_end", buf, N, on->left, 7);
	sync_all(on, fh);
	calls_fill(buf, N, on->rank, 8);
	seek_shared(fh);
	HALVES(MPI_File_write_ordered, buf, N, MPI_INT);
	sync_all(on, fh);
	seek_shared(fh);
	HALVES(MPI_File_read_ordered, buf, N, MPI_INT);
	calls_check("MPI_File_read_ordered_end", buf, N, on->rank, 8);
	sync_all(on, fh);
}

/* By request. */
#define LATER(name, ...)                            \
	do {                                        \
		MPI_Request later;                  \
		COUNT(name, INTS(N));               \
		name(fh, __VA_ARGS__, &later);      \
		calls_wait(#name, &later, INTS(N)); \
	} while (0)

static void by_request(const struct calls *on, MPI_File fh)
{
	int buf[N];

	calls_fill(buf, N, on->rank, 9);
	seek(fh, part(on->rank));
	LATER(MPI_File_iwrite, buf, N, MPI_INT);
	sync_all(on, fh);
	seek(fh, part(on->left));
	LATER(MPI_File_iread, buf, N, MPI_INT);
	calls_check("MPI_File_iread", buf, N, on->left, 9);
	sync_all(on, fh);
	calls_fill(buf, N, on->rank, 10);
	LATER(MPI_File_iwrite_at, part(on->rank), buf, N, MPI_INT);
	sync_all(on, fh);
	LATER(MPI_File_iread_at, part(on->left), buf, N, MPI_INT);
	calls_check("MPI_File_iread_at", buf, N, on->left, 10);
	sync_all(on, fh);
	calls_fill(buf, N, 0, 11);
	seek_shared(fh);
	LATER(MPI_File_iwrite_shared, buf, N, MPI_INT);
	sync_all(on, fh);
	seek_shared(fh);
	LATER(MPI_File_iread_shared, buf, N, MPI_INT);
	calls_check("MPI_File_iread_shared", buf, N, 0, 11);
	sync_all(on, fh);
}

static void together_by_request(const struct calls *on, MPI_File fh)
{
	int buf[N];

	calls_fill(buf, N, on->rank, 12);
	seek(fh, part(on->rank));
	LATER(MPI_File_iwrite_all, buf, N, MPI_INT);
	sync_all(on, fh);
	seek(fh, part(on->left));
	LATER(MPI_File_iread_all, buf, N, MPI_INT);
	calls_check("MPI_File_iread_all", buf, N, on->left, 12);
	sync_all(on, fh);
	calls_fill(buf, N, on->rank, 13);
	LATER(MPI_File_iwrite_at_all, part(on->rank), buf, N, MPI_INT);
	sync_all(on, fh);
	LATER(MPI_File_iread_at_all, part(on->left), buf, N, MPI_INT);
	calls_check("MPI_File_iread_at_all", buf, N, on->left, 13);
	sync_all(on, fh);
}

static void settings(const struct calls *on, MPI_File fh)
{
	MPI_Offset size = -1;
	MPI_Info info;

	COUNT(MPI_File_preallocate, 0);
	MPI_File_preallocate(fh, 16);
	COUNT(MPI_File_set_size, 0);
	MPI_File_set_size(fh, 0);
	COUNT(MPI_File_get_size, 0);
	MPI_File_get_size(fh, &size);
	calls_must(size == 0, "MPI_File_get_size: %d", (int)size);
	COUNT(MPI_File_set_atomicity, 0);
	MPI_File_set_atomicity(fh, 0);
	MPI_Info_create(&info);
	COUNT(MPI_File_set_info, 0);
	MPI_File_set_info(fh, info);
	MPI_Info_free(&info);
	COUNT(MPI_File_set_view, 0);
	MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
	COUNT(MPI_File_get_position_shared, 0);
	MPI_File_get_position_shared(fh, &size);
	COUNT(MPI_Barrier, 0);
	MPI_Barrier(on->comm);
}

/* A name that is nobody's, made by the first rank. */
static void name_make(const struct calls *on, char name[NAME])
{
	if (on->rank == 0) {
		int fd;

		snprintf(name, NAME, "/tmp/evspace-calls-XXXXXX");
		fd = mkstemp(name);
		calls_must(fd >= 0, "cannot make %s", name);
		close(fd);
	}
	COUNT(MPI_Bcast, NAME);
	MPI_Bcast(name, NAME, MPI_CHAR, 0, on->comm);
}

void calls_file(const struct calls *on)
{
	char name[NAME];
	MPI_File fh;

	name_make(on, name);
	COUNT(MPI_File_open, 0);
	MPI_File_open(on->comm, name, MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
	settings(on, fh);
	alone(on, fh);
	together(on, fh);
	shared(on, fh);
	halves(on, fh);
	by_request(on, fh);
	together_by_request(on, fh);
	COUNT(MPI_File_close, 0);
	MPI_File_close(&fh);
	if (on->rank == 0) {
		COUNT(MPI_File_delete, 0);
		MPI_File_delete(name, MPI_INFO_NULL);
	}
}
