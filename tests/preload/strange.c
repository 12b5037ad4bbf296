/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI library that is neither Open MPI nor MPICH, and a program on it (-DPROGRAM). */
#ifdef PROGRAM
#include <stdio.h>

int MPI_Init(int *, char ***);
int MPI_Send(const void *, int, long, int, int, long);

int main(int argc, char **argv)
{
	printf("strange: %d", MPI_Init(&argc, &argv));
	printf(" %d\n", MPI_Send(argv, 1, 2, 3, 4, 5));
	return 0;
}
#else
int PMPI_Init(int *argc, char ***argv);
int PMPI_Send(const void *buf, int count, long datatype, int dest, int tag, long comm);
int PMPI_Get_library_version(char *version, int *length);
int MPI_Init(int *argc, char ***argv) __attribute__((weak, alias("PMPI_Init")));
int MPI_Send(const void *buf, int count, long datatype, int dest, int tag, long comm)
	__attribute__((weak, alias("PMPI_Send")));

int PMPI_Init(int *argc, char ***argv)
{
	return argc && argv ? 0 : 1;
}

int PMPI_Send(const void *buf, int count, long datatype, int dest, int tag, long comm)
{
	return buf ? (int)(count * 10000 + datatype * 1000 + dest * 100 + tag * 10 + comm) : 0;
}

int PMPI_Get_library_version(char *version, int *length)
{
	*version = '\0';
	*length = 0;
	return 0;
}
#endif
