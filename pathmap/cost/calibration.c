/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes the file of costs: a name and a number per line. */
#include "pathmap/cost/cost.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/config.h"

/* Measured on an idle server of 2020. */
static const struct calibration built_in = {
	.wake_us = 8,
	.frame_us = 6,
	.encrypt_ns = 0.5,
	.copy_ns = 0.1,
	.read_ns = 20,
	.stage_ns = 25,
	.cores = 8,
};

static const struct field {
	const char *name;
	size_t offset;
} fields[] = {
	{"wake_us", offsetof(struct calibration, wake_us)},
	{"frame_us", offsetof(struct calibration, frame_us)},
	{"encrypt_ns", offsetof(struct calibration, encrypt_ns)},
	{"copy_ns", offsetof(struct calibration, copy_ns)},
	{"read_ns", offsetof(struct calibration, read_ns)},
	{"stage_ns", offsetof(struct calibration, stage_ns)},
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* Greater values are not valid. */
#define VALUE_MOST 1e6
#define CORES_MOST 65536

/* Most lines of the file. */
#define LINES_MAX 1000u

char *calibration_path(void)
{
	return config_path("cost");
}

static bool line_read(struct calibration *c, const char *line)
{
	char name[32], rest;
	double value;

	if (*line == '#' || *line == '\n')
		return true;
	if (sscanf(line, "%31s %lf %c", name, &value, &rest) != 2 || !isfinite(value) ||
	    value <= 0 || value > VALUE_MOST)
		return false;
	if (strcmp(name, "cores") == 0) {
		c->cores = (unsigned)value;
		return value >= 1 && value <= CORES_MOST;
	}
	for (size_t i = 0; i < FIELDS; i++) {
		if (strcmp(fields[i].name, name) == 0) {
			memcpy((char *)c + fields[i].offset, &value, sizeof(value));
			return true;
		}
	}
	return false;
}

int calibration_read(struct calibration *c, const char *path, struct error *e)
{
	struct calibration read = built_in;
	FILE *in = fopen(path, "r");
	char line[128];
	unsigned number = 0;

	*c = built_in;
	if (in == NULL)
		return errno == ENOENT || errno == ENOTDIR
			       ? 0
			       : errorf(e, "%s: %s", path, strerror(errno));
	read.measured = true;
	while (fgets(line, sizeof(line), in) != NULL) {
		if (++number <= LINES_MAX && line_read(&read, line))
			continue;
		fclose(in);
		return errorf(e,
			      "%s:%u: not a line like `wake_us 7.5`; have it written anew by "
			      "`evspace doctor`",
			      path, number);
	}
	fclose(in);
	*c = read;
	return 0;
}

int calibration_write(const struct calibration *c, const char *path, struct error *e)
{
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	int result;

	if (out == NULL)
		abort();
	fputs("# What the parts of a wave cost here, measured by `evspace doctor`.\n", out);
	for (size_t i = 0; i < FIELDS; i++) {
		double value;

		memcpy(&value, (const char *)c + fields[i].offset, sizeof(value));
		fprintf(out, "%s %.4g\n", fields[i].name, value);
	}
	fprintf(out, "cores %u\n", c->cores);
	if (fclose(out) != 0)
		abort();
	result = config_write(path, text, bytes, e);
	free(text);
	return result;
}
