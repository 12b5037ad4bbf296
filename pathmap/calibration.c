/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of what the parts of a wave cost: a name and a number a line. */
#include "pathmap/calibration.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pathmap/memory.h"

/* Of a server of 2020, undisturbed. */
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

/* Values beyond are no measurements. */
#define VALUE_MOST 1e6
#define CORES_MOST 65536

/* Of a file of so few figures. */
#define LINES_MAX 1000u

char *calibration_path(void)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (config != NULL && *config == '/')
		return memory_format("%s/evspace/cost", config);
	return memory_format("%s/.config/evspace/cost", home != NULL ? home : "");
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

/* Make the folders above the file; what is there is fine. */
static void folders_make(const char *path)
{
	char *folder = memory_copy(path);

	for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(folder, 0700);
		*slash = '/';
	}
	free(folder);
}

int calibration_write(const struct calibration *c, const char *path, struct error *e)
{
	/* Beside it first: who reads it meanwhile finds all or nothing. */
	char *beside = memory_format("%s.new", path);
	FILE *out;
	int result = 0;

	folders_make(path);
	out = fopen(beside, "w");
	if (out == NULL) {
		free(beside);
		return errorf(e, "%s cannot be written: %s", path, strerror(errno));
	}
	fputs("# What the parts of a wave cost here, measured by `evspace doctor`.\n", out);
	for (size_t i = 0; i < FIELDS; i++) {
		double value;

		memcpy(&value, (const char *)c + fields[i].offset, sizeof(value));
		fprintf(out, "%s %.4g\n", fields[i].name, value);
	}
	fprintf(out, "cores %u\n", c->cores);
	if (ferror(out) != 0)
		result = -1;
	if (fclose(out) != 0 || result < 0 || rename(beside, path) < 0) {
		result = errorf(e, "%s cannot be written: %s", path, strerror(errno));
		remove(beside);
	}
	free(beside);
	return result;
}
