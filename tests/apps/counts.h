/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts, at the call sites, of the MPI calls that a test program makes: the oracle for collectors.
 */
#ifndef EVSPACE_COUNTS_H
#define EVSPACE_COUNTS_H

#include <stdint.h>

/*
 * Counted are calls that communicate, wait, test or probe, that start, cancel or free requests,
 * that make, free or split communicators, windows, files and processes, and MPI_Init(_thread) and
 * MPI_Finalize; not calls that only ask or describe (Comm_rank, Get_count, Type_*, Group_*,
 * Buffer_attach, Errhandler_*).
 *
 * - "calls": how often.
 * - "polls": further calls, of Test*, Iprobe and Improbe, that found nothing.
 * - "bytes": what this rank puts in, or gets where it only gets, by the arguments of the call:
 * count x size of the type. See the table.
 * - "completions": how many requests that this operation made (for persistent ones: *_init) were
 *   seen to end by a Wait or Test call, once per start, cancelled ones too; not those given to
 *   Request_free. Of Sendrecv: its receiving half.
 * - "completed_bytes": what these moved: sends and collectives as in the table, receives what came.
 *
 * | calls                            | bytes                                                  |
 * |----------------------------------|--------------------------------------------------------|
 * | sends, blocking or not; Sendrecv | what is sent                                           |
 * | Recv, Mrecv                      | what came, not the room for it                         |
 * | Irecv, Imrecv                    | the room: nothing has come yet                         |
 * | Send_init, Recv_init, ...        | 0: nothing moves                                       |
 * | Start, Startall                  | the bytes of what they start; of receives the room     |
 * | Wait, Test, Probe, Comm_*        | 0                                                      |
 * | from, to or by MPI_PROC_NULL     | 0, but see Neighbor_alltoall                           |
 * | calls that fail                  | 0                                                      |
 * | Barrier                          | 0                                                      |
 * | Bcast, Reduce, Allreduce, scans  | the buffer                                             |
 * | Gather(v), Allgather(v)          | the send buffer                                        |
 * | Scatter(v)                       | the part that this rank gets                           |
 * | Alltoall(v, w)                   | the whole send buffer, of an intercommunicator for all |
 * |                                  | of the other side                                      |
 * | Reduce_scatter(_block)           | the whole send buffer                                  |
 * | Put, Get, Accumulate, ...        | what moves, at the target                              |
 * | Win_*, File_* without data       | 0                                                      |
 * | File_read_*, File_write_*        | what was moved, not the room for it                    |
 * | File_iread_*, File_iwrite_*      | the room, or what is given                             |
 * | File_*_begin                     | 0: the other half has them                             |
 * | Neighbor_allgather(v)            | the send buffer, once                                  |
 * | Neighbor_alltoall(v, w)          | the whole send buffer, also what goes to MPI_PROC_NULL |
 *
 * Nonblocking collectives count like blocking ones; MPI_IN_PLACE like the call without it would.
 * The calls of Waitsome and Testsome depend on timing, and so do polls; all else is the same in
 * each run of the same shape.
 */

/** Count a call of @op of @bytes; put it before or after the call. */
#define COUNT(op, bytes) counts_call(#op, (uint64_t)(bytes))

/** Count a call of @op that found nothing. */
#define COUNT_POLL(op) counts_poll(#op)

/** Set in processes that others have spawned: their lines say so ("spawned":1 after the rank). */
extern int counts_spawned;

/* By name; any thread. Names must live as long as the program. */
void counts_call(const char *op, uint64_t bytes);
void counts_poll(const char *op);
void counts_done(const char *op, uint64_t completions, uint64_t bytes);

/**
 * Print the counts of all ranks on rank 0's stdout, as JSON, one object a line and operation:
 * {"rank":0,"op":"MPI_Irecv","calls":12,"bytes":96,"completions":12,"completed_bytes":80}, "polls"
 * and "completions" only where there are any. Collective over MPI_COMM_WORLD; the MPI_Gather that
 * it makes, and the MPI_Finalize that must follow, are counted.
 */
void counts_print(void);

#endif
