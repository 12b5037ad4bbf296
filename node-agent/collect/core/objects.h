/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects that are loaded in this process: libraries, also those of RTLD_LOCAL. */
#ifndef EVSPACE_OBJECTS_H
#define EVSPACE_OBJECTS_H

/**
 * Call @look with a handle of each loaded object but the program, in the order of loading, until it
 * returns something other than NULL. Returns that, and leaves the object open so that it stays
 * valid; or NULL: nothing was found, or there is no memory. Not for the collector's path.
 */
void *objects_search(void *(*look)(void *object, const char *path, void *arg), void *arg);

#endif
