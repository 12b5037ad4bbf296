/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects that are loaded in this process: the program and its libraries, seen by all or not.
 */
#ifndef EVSPACE_OBJECTS_H
#define EVSPACE_OBJECTS_H

/**
 * Call @look with a handle of each loaded object (but the program), in the order of loading, until
 * it returns not NULL: that is returned, and the object stays open, so that what was found in it
 * stays. NULL: nothing was found, or there is no memory. Not part of any path.
 */
void *objects_search(void *(*look)(void *object, const char *path, void *arg), void *arg);

#endif
