/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects that single commands load, and programs that they run, so that others, and agents, need
 * not have their libraries. */
#ifndef EVSPACE_MODULE_H
#define EVSPACE_MODULE_H

#include "pathmap/base/error.h"

/**
 * The function @symbol of the object @object, which lies beside the collector and stays loaded.
 * @needs names the library that it is built with, and its package. Returns NULL with @e (ENOTSUP)
 * if it is not there.
 */
void *module_function(const char *object, const char *symbol, const char *needs, struct error *e);

/** The path of the program "evspace-@name", which is no command of its own: beside this one in a
 * build, else where it is installed. For the caller to free(); it may not be there. */
char *module_program(const char *name);

#endif
