/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the PVM library's functions: those behind us when preloaded, by name when linked. */
#ifndef EVSPACE_PVM_LIBRARY_H
#define EVSPACE_PVM_LIBRARY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#pragma GCC visibility push(default)
#include <pvm3.h>
#pragma GCC visibility pop

/*
 * One source makes two libraries: libevspace-pvm.so, whose wrappers have PVM's own names and find
 * the real functions behind them, and libevspace-pvm-wrap.a for programs that are linked
 * statically, where the linker's --wrap gives them names.
 */
#ifdef EVSPACE_PVM_WRAP
#define PVM_WRAPPER(name) __wrap_##name
#define PVM_REAL(name)	  __real_##name
#else
#define PVM_WRAPPER(name) name
#define PVM_REAL(name)	  real_##name
#endif

/** What the collector itself uses of the library. */
struct pvm_library {
	int *tid; /* this process's task id, -1: it is no task (libpvm3's pvmmytid) */
	int *top; /* is the next call the program's own, for PVM's tracing (pvmtoplvl) */
	int (*bufinfo)(int, int *, int *, int *);
	int (*getsbuf)(void);
	int (*vpackf)(char *, va_list);
	int (*vunpackf)(char *, va_list);
	bool ready; /* all of the above was found, and no other collector is in this program */
};

extern struct pvm_library pvm;

/** Find all of these. */
void pvm_library_find(void);

/** The function called @name behind us in the order of loading, or NULL. @own: our wrapper. */
void *pvm_library_next(const char *name, const void *own);

/** Is PVM in this process when it is loaded, and not wrapped by the linker? (Else it is found when
 * it is first called.) */
bool pvm_library_here(void);

/** Set the generated wrappers' pointers to the real functions (pvm-wrappers.c). */
void pvm_wrappers_resolve(void);

#endif
