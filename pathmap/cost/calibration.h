/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs of the parts of a wave on a machine: measured by `evspace doctor`, or built in. */
#ifndef EVSPACE_CALIBRATION_H
#define EVSPACE_CALIBRATION_H

#include <stdbool.h>

#include "pathmap/base/error.h"

/** CPU times on the measured host. */
struct calibration {
	double wake_us;	   /* to wake a process by a message, until it sleeps again */
	double frame_us;   /* to make and send a frame, or to receive and parse it */
	double encrypt_ns; /* to encrypt or decrypt a byte */
	double copy_ns;	   /* to copy a byte */
	double read_ns;	   /* to read a tuple from an element */
	double stage_ns;   /* to run a stage on a tuple */
	unsigned cores;
	bool measured; /* else built in */
};

/** The path of the file: $XDG_CONFIG_HOME/evspace/cost, or ~/.config/evspace/cost; for the
 * caller to free(). */
char *calibration_path(void);

/** Read the file @path with lines "wake_us 7.5". Without the file, use the built-in values.
 * Returns 0, or -1 with @e (file, line, and what would be right) and the built-in values. */
int calibration_read(struct calibration *c, const char *path, struct error *e);

/** Write it to the file @path, making its folder. Returns 0, or -1 with errno and @e. */
int calibration_write(const struct calibration *c, const char *path, struct error *e);

#endif
