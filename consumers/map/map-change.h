/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of evspace map that are commands of their own: diff, apply, rollback. */
#ifndef EVSPACE_MAP_CHANGE_H
#define EVSPACE_MAP_CHANGE_H

/** Runs the command whose words are from "diff", "apply" or "rollback" on. Returns its exit code.
 */
int map_change_main(int argc, char **argv);

#endif
