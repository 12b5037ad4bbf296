/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: nonblocking reads and writes, and the split collective ones (MPI-3.1 13.4). */
#include <stdio.h>

#include "tests/conformance/suite.h"

enum { N = 4 };

static void finish(const char *name, MPI_Request *r)
{
	MPI_Status status;

	suite_mark(&status, 1);
	suite_rc(name, MPI_Wait(r, &status));
	suite_requests(name, r, 1);
	suite_moved(name, &status, MPI_INT);
}

static void nonblocking(const struct suite *s, MPI_File file)
{
	const MPI_Offset here = (MPI_Offset)s->rank * N;
	const int same[N] = {5, 6, 7, 8};
	int out[N], in[N] = {0};
	MPI_Request r;

	suite_fill(out, N, s->rank, 1);
	SUITE(MPI_File_iwrite_at(file, here, out, N, MPI_INT, &r));
	finish("MPI_File_iwrite_at", &r);
	SUITE(MPI_File_iread_at(file, here, in, N, MPI_INT, &r));
	finish("MPI_File_iread_at", &r);
	suite_ints("MPI_File_iread_at", in, N);
	SUITE(MPI_File_seek(file, here, MPI_SEEK_SET));
	SUITE(MPI_File_iwrite(file, out, 2, MPI_INT, &r));
	finish("MPI_File_iwrite", &r);
	SUITE(MPI_File_iread(file, in, 2, MPI_INT, &r));
	finish("MPI_File_iread", &r);
	suite_ints("MPI_File_iread", in, N);
	SUITE(MPI_Barrier(s->comm));
	SUITE(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
	SUITE(MPI_File_iwrite_shared(file, same, N, MPI_INT, &r));
	finish("MPI_File_iwrite_shared", &r);
	SUITE(MPI_Barrier(s->comm));
	SUITE(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
	SUITE(MPI_File_iread_shared(file, in, N, MPI_INT, &r));
	finish("MPI_File_iread_shared", &r);
	suite_ints("MPI_File_iread_shared", in, N);
	SUITE(MPI_Barrier(s->comm));
}

static void nonblocking_by_all(const struct suite *s, MPI_File file)
{
	const MPI_Offset here = (MPI_Offset)s->rank * N;
	int out[N], in[N] = {0};
	MPI_Request r;

	suite_fill(out, N, s->rank, 2);
	SUITE(MPI_File_iwrite_at_all(file, here, out, N, MPI_INT, &r));
	finish("MPI_File_iwrite_at_all", &r);
	SUITE(MPI_File_iread_at_all(file, here, in, N, MPI_INT, &r));
	finish("MPI_File_iread_at_all", &r);
	suite_ints("MPI_File_iread_at_all", in, N);
	SUITE(MPI_File_seek(file, here, MPI_SEEK_SET));
	SUITE(MPI_File_iwrite_all(file, out, 2, MPI_INT, &r));
	finish("MPI_File_iwrite_all", &r);
	SUITE(MPI_File_iread_all(file, in, 2, MPI_INT, &r));
	finish("MPI_File_iread_all", &r);
	suite_ints("MPI_File_iread_all", in, N);
}

static void ended(const char *name, int rc, const MPI_Status *status, const int *buf)
{
	suite_rc(name, rc);
	suite_moved(name, status, MPI_INT);
	suite_ints(name, buf, N);
}

static void split(const struct suite *s, MPI_File file)
{
	const MPI_Offset here = (MPI_Offset)s->rank * N;
	int out[N], in[N] = {0};
	MPI_Status st;

	suite_fill(out, N, s->rank, 3);
	suite_mark(&st, 1);
	SUITE(MPI_File_write_at_all_begin(file, here, out, N, MPI_INT));
	ended("MPI_File_write_at_all_end", MPI_File_write_at_all_end(file, out, &st), &st, out);
	SUITE(MPI_File_read_at_all_begin(file, here, in, N, MPI_INT));
	ended("MPI_File_read_at_all_end", MPI_File_read_at_all_end(file, in, &st), &st, in);
	SUITE(MPI_File_seek(file, here, MPI_SEEK_SET));
	SUITE(MPI_File_write_all_begin(file, out, 2, MPI_INT));
	SUITE(MPI_File_write_all_end(file, out, MPI_STATUS_IGNORE));
	SUITE(MPI_File_read_all_begin(file, in, 2, MPI_INT));
	ended("MPI_File_read_all_end", MPI_File_read_all_end(file, in, &st), &st, in);
	SUITE(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
	SUITE(MPI_File_write_ordered_begin(file, out, N, MPI_INT));
	ended("MPI_File_write_ordered_end", MPI_File_write_ordered_end(file, out, &st), &st, out);
	SUITE(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
	SUITE(MPI_File_read_ordered_begin(file, in, N, MPI_INT));
	ended("MPI_File_read_ordered_end", MPI_File_read_ordered_end(file, in, &st), &st, in);
}

void suite_split_files(const struct suite *s)
{
	char path[512];
	MPI_File file;

	snprintf(path, sizeof(path), "%s/split", s->folder);
	SUITE(MPI_File_open(s->comm, path,
			    MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
			    MPI_INFO_NULL, &file));
	SUITE(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	nonblocking(s, file);
	nonblocking_by_all(s, file);
	split(s, file);
	SUITE(MPI_File_close(&file));
}
