/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of a wave cost on a machine: measured by `evspace doctor`, or built in. */
#ifndef EVSPACE_CALIBRATION_H
#define EVSPACE_CALIBRATION_H

#include <stdbool.h>

#include "pathmap/base/error.h"

/** CPU time of one thing each, on a host like the one that was measured. */
struct calibration {
	double wake_us;	   /* a process is woken by a message and goes back to sleep */
	double frame_us;   /* a frame is made and sent, or received and taken apart */
	double encrypt_ns; /* a byte is encrypted, or decrypted */
	double copy_ns;	   /* a byte is copied */
	double read_ns;	   /* a tuple is read from an element */
	double stage_ns;   /* a tuple goes through a stage */
	unsigned cores;
	bool measured; /* else built in */
};

/** Where it is kept: $XDG_CONFIG_HOME/evspace/cost, or ~/.config/evspace/cost; the caller's to
 * free(). */
char *calibration_path(void);

/**
 * Read what was measured from the file @path, lines "wake_us 7.5". Without the file, what is built
 * in. Returns 0, or -1 with @e (file, line, and what would be right) and what is built in.
 */
int calibration_read(struct calibration *c, const char *path, struct error *e);

/** Write it to the file @path, making its folder. Returns 0, or -1 with errno and @e. */
int calibration_write(const struct calibration *c, const char *path, struct error *e);

#endif
