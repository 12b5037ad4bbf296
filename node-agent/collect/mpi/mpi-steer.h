/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steered collectives: operations of an unmodified program that run over a tree of the pathmap, by
 * point-to-point messages of its MPI, instead of the library's own algorithm; what happens between
 * the tree's ranks is recorded (OP_EVSPACE_STEER_UP, _DOWN). The program must have all ranks under
 * one EVSPACE_STEER (steer-tree.h), as `evspace run` starts it. What cannot be steered goes to the
 * library untouched: other operations, larger calls, intercommunicators, communicators with ranks
 * that are not in the tree. Whether it can is decided by what all members know alike.
 */
#ifndef EVSPACE_MPI_STEER_H
#define EVSPACE_MPI_STEER_H

/** When this library is loaded, before wrappers are resolved: take over what EVSPACE_STEER says. */
void mpi_steer_take(void);

/** After MPI_Init. */
void mpi_steer_begin(void);

#endif
