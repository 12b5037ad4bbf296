/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: blocking reads and writes, at places, by all, by turns; views, sizes, errors. */
#include <stdio.h>

#include "tests/conformance/suite.h"

enum { N = 4, UNIT = sizeof(int) };

static void at_places(const struct suite *s, MPI_File file)
{
	int out[N], in[N] = {0};
	const MPI_Offset here = (MPI_Offset)s->rank * N;
	MPI_Status status;

	suite_fill(out, N, s->rank, 1);
	suite_mark(&status, 1);
	SUITE(MPI_File_write_at(file, here, out, N, MPI_INT, &status));
	suite_moved("MPI_File_write_at", &status, MPI_INT);
	SUITE(MPI_File_sync(file));
	SUITE(MPI_Barrier(s->comm));
	SUITE(MPI_File_read_at(file, (MPI_Offset)s->right * N, in, N, MPI_INT, &status));
	suite_moved("MPI_File_read_at", &status, MPI_INT);
	suite_ints("MPI_File_read_at", in, N);
	SUITE(MPI_Barrier(s->comm));
	suite_fill(out, N, s->rank, 2);
	SUITE(MPI_File_write_at_all(file, here, out, N, MPI_INT, MPI_STATUS_IGNORE));
	SUITE(MPI_File_read_at_all(file, here, in, s->rank ? N : 0, MPI_INT, &status));
	suite_moved("MPI_File_read_at_all", &status, MPI_INT);
	suite_ints("MPI_File_read_at_all", in, N);
	/* behind the end: fewer come */
	SUITE(MPI_File_read_at(file, (MPI_Offset)s->size * N - 1, in, N, MPI_INT, &status));
	suite_moved("at the end", &status, MPI_INT);
}

static void by_pointer(const struct suite *s, MPI_File file)
{
	int out[N], in[N] = {0};
	MPI_Offset position = -1;
	MPI_Status status;

	suite_fill(out, N, s->rank, 3);
	suite_mark(&status, 1);
	SUITE(MPI_File_seek(file, (MPI_Offset)s->rank * N, MPI_SEEK_SET));
	SUITE(MPI_File_write(file, out, 2, MPI_INT, &status));
	suite_moved("MPI_File_write", &status, MPI_INT);
	SUITE(MPI_File_write_all(file, out + 2, 2, MPI_INT, MPI_STATUS_IGNORE));
	SUITE(MPI_File_get_position(file, &position));
	suite_say("position %lld", (long long)position);
	SUITE(MPI_File_seek(file, -N, MPI_SEEK_CUR));
	SUITE(MPI_File_read(file, in, 2, MPI_INT, MPI_STATUS_IGNORE));
	SUITE(MPI_File_read_all(file, in + 2, 2, MPI_INT, &status));
	suite_moved("MPI_File_read_all", &status, MPI_INT);
	suite_ints("MPI_File_read", in, N);
}

/* By a pointer that all have in common; who comes first differs, so all write the same. */
static void by_turns(const struct suite *s, MPI_File file)
{
	const int same[N] = {1, 2, 3, 4};
	int in[N] = {0}, out[N];
	MPI_Status status;

	suite_mark(&status, 1);
	SUITE(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
	SUITE(MPI_File_write_shared(file, same, N, MPI_INT, &status));
	suite_moved("MPI_File_write_shared", &status, MPI_INT);
	SUITE(MPI_Barrier(s->comm));
	SUITE(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
	SUITE(MPI_File_read_shared(file, in, N, MPI_INT, MPI_STATUS_IGNORE));
	suite_ints("MPI_File_read_shared", in, N);
	SUITE(MPI_Barrier(s->comm));
	suite_fill(out, N, s->rank, 4);
	SUITE(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
	SUITE(MPI_File_write_ordered(file, out, N, MPI_INT, &status));
	suite_moved("MPI_File_write_ordered", &status, MPI_INT);
	SUITE(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
	SUITE(MPI_File_read_ordered(file, in, N, MPI_INT, &status));
	suite_ints("MPI_File_read_ordered", in, N);
}

/* Each sees every size-th number only. */
static void views(const struct suite *s, MPI_File file)
{
	int in[N] = {0};
	MPI_Datatype mine;
	MPI_Status status;

	SUITE(MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)s->size * UNIT, &mine));
	SUITE(MPI_Type_commit(&mine));
	SUITE(MPI_File_set_view(file, (MPI_Offset)s->rank * UNIT, MPI_INT, mine, "native",
				MPI_INFO_NULL));
	SUITE(MPI_Type_free(&mine));
	SUITE(MPI_File_read_all(file, in, N, MPI_INT, &status));
	suite_ints("view", in, N);
	SUITE(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
}

static void hints(MPI_File file)
{
	MPI_Offset position = -1;
	MPI_Info info;

	SUITE(MPI_Info_create(&info));
	SUITE(MPI_Info_set(info, "access_style", "sequential"));
	SUITE(MPI_File_set_info(file, info));
	SUITE(MPI_Info_free(&info));
	SUITE(MPI_File_set_atomicity(file, 1));
	SUITE(MPI_File_set_atomicity(file, 0));
	SUITE(MPI_File_get_position_shared(file, &position));
	suite_say("shared position %lld", (long long)position);
}

static void sizes(const struct suite *s, MPI_File file)
{
	MPI_Offset size = -1;

	SUITE(MPI_File_get_size(file, &size));
	suite_say("size %lld", (long long)size);
	SUITE(MPI_Barrier(s->comm));
	SUITE(MPI_File_preallocate(file, 1000));
	SUITE(MPI_File_get_size(file, &size));
	suite_say("size %lld", (long long)size);
	SUITE(MPI_Barrier(s->comm));
	SUITE(MPI_File_set_size(file, 100));
	SUITE(MPI_File_get_size(file, &size));
	suite_say("size %lld", (long long)size);
}

static void wrong(const struct suite *s, MPI_File file)
{
	int one = 0;
	MPI_File none = MPI_FILE_NULL;

	SUITE(MPI_File_open(s->comm, "/no/such/folder/at.all", MPI_MODE_RDONLY, MPI_INFO_NULL,
			    &none));
	suite_say("null: %d", none == MPI_FILE_NULL);
	SUITE(MPI_File_write(file, &one, -1, MPI_INT, MPI_STATUS_IGNORE));
	SUITE(MPI_File_read_at(file, -5, &one, 1, MPI_INT, MPI_STATUS_IGNORE));
}

void suite_files(const struct suite *s)
{
	char path[512];
	MPI_File file;

	snprintf(path, sizeof(path), "%s/numbers", s->folder);
	SUITE(MPI_File_open(s->comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
	SUITE(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	at_places(s, file);
	by_pointer(s, file);
	by_turns(s, file);
	hints(file);
	views(s, file);
	sizes(s, file);
	wrong(s, file);
	SUITE(MPI_File_close(&file));
	suite_say("null: %d", file == MPI_FILE_NULL);
	SUITE(MPI_Barrier(s->comm));
	if (s->rank == 0)
		SUITE(MPI_File_delete(path, MPI_INFO_NULL));
}
