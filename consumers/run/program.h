/* SPDX-License-Identifier: BSD-3-Clause */
/* Executable files: can a collector be preloaded into what they are? */
#ifndef EVSPACE_PROGRAM_H
#define EVSPACE_PROGRAM_H

/**
 * Why nothing can be preloaded into @command: it is statically linked, has its MPI linked into it
 * (libmpich.a), or gets another user's rights; of a script, that it names such a program. Returns a
 * text for the caller to free(), or NULL: nothing speaks against it, or that cannot be told.
 */
char *program_complaint(const char *command);

#endif
