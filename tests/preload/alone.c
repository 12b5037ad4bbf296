/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that nothing can be seen of: linked statically, or with an MPI library in it. */
#include <stdio.h>

int PMPI_Init(int *argc, char ***argv);

/* What the static library would have brought. */
int PMPI_Init(int *argc, char ***argv)
{
	return argc && argv ? 0 : 1;
}

int main(int argc, char **argv)
{
	printf("alone: %d\n", PMPI_Init(&argc, &argv));
	return 7;
}
