/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads files of blocks. */
#include "consumers/phase/entries.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 256

/* A pipe is read once. */
static FILE *file_copy(FILE *in, struct error *e)
{
	FILE *copy = tmpfile();
	char buffer[1 << 16];
	size_t n;

	if (!copy) {
		errorf(e, "there is no place for a copy of standard input: %s", strerror(errno));
		return NULL;
	}
	while ((n = fread(buffer, 1, sizeof(buffer), in)) > 0)
		if (fwrite(buffer, 1, n, copy) < n)
			break;
	if (!ferror(in) && !ferror(copy) && fflush(copy) == 0) {
		rewind(copy);
		return copy;
	}
	errorf(e, "standard input cannot be copied: %s", strerror(errno));
	fclose(copy);
	return NULL;
}

int entries_open(struct entries *entries, const char *name, struct error *e)
{
	*entries = (struct entries){.name = name};
	if (strcmp(name, "-") == 0) {
		entries->name = "standard input";
		entries->in = file_copy(stdin, e);
		return entries->in ? 0 : -1;
	}
	entries->in = fopen(name, "re");
	if (!entries->in)
		return errorf(e, "%.200s: %s", name, strerror(errno));
	if (fseek(entries->in, 0, SEEK_SET) == 0)
		return 0;
	errorf(e, "%.200s is no file that can be read twice; --file - reads it from standard input",
	       name);
	entries_close(entries);
	return -1;
}

void entries_rewind(struct entries *entries)
{
	if (entries->in)
		rewind(entries->in);
	else
		entries->source.again(entries->source.arg);
	entries->line = 0;
}

void entries_close(struct entries *entries)
{
	if (entries->in)
		fclose(entries->in);
	entries->in = NULL;
}

/* The next word of *@text is a whole number. */
static int number_next(char **text, const char *what, unsigned long most, unsigned long *number,
		       struct error *e)
{
	char *end;

	*text += strspn(*text, " \t");
	errno = 0;
	*number = strtoul(*text, &end, 10);
	if (!isdigit((unsigned char)**text) || (*end && !isspace((unsigned char)*end)))
		return errorf(e, "it has no %s; a line is: time block process", what);
	if (errno || *number > most)
		return errorf(e, "the %s is more than %lu", what, most);
	*text = end;
	return 0;
}

/* The word at @text is a number from 0 on; @end is behind it. */
static int time_read(const char *text, double *number, char **end)
{
	*number = strtod(text, end);
	return *end > text && (!**end || isspace((unsigned char)**end)) && isfinite(*number) &&
			       *number >= 0
		       ? 0
		       : -1;
}

static int entry_read(char *text, struct entry *entry, struct error *e)
{
	unsigned long block, process;
	char *end;

	entry->bound = 0;
	if (time_read(text, &entry->time, &end))
		return errorf(e, "it has no time from 0 on; a line is: time block process");
	if (number_next(&end, "block", ENTRIES_BLOCKS_MAX - 1, &block, e) ||
	    number_next(&end, "process", ENTRIES_PROCESSES_MAX - 1, &process, e))
		return -1;
	end += strspn(end, " \t\r\n");
	if (*end && time_read(end, &entry->bound, &end))
		return errorf(e, "the bound of its time is no number from 0 on");
	if (end[strspn(end, " \t\r\n")])
		return errorf(e, "there is more in it than time, block, process and bound");
	entry->block = (uint32_t)block;
	entry->process = (unsigned)process;
	return 0;
}

static int line_next(struct entries *entries, struct entry *entry, struct error *e)
{
	char line[LINE_BYTES];

	while (fgets(line, sizeof(line), entries->in)) {
		entries->line++;
		if (!strchr(line, '\n') && !feof(entries->in)) {
			errorf(e, "it has more than %u bytes, or a byte 0", LINE_BYTES - 2);
			return error_prefix(e, "%.200s:%llu", entries->name,
					    (unsigned long long)entries->line);
		}
		line[strcspn(line, "#")] = '\0';
		if (!line[strspn(line, " \t\r\n")])
			continue;
		if (entry_read(line, entry, e))
			return error_prefix(e, "%.200s:%llu", entries->name,
					    (unsigned long long)entries->line);
		return 1;
	}
	if (ferror(entries->in))
		return errorf(e, "%.200s cannot be read: %s", entries->name, strerror(errno));
	return 0;
}

int entries_next(struct entries *entries, struct entry *entry, struct error *e)
{
	if (entries->in)
		return line_next(entries, entry, e);
	entries->line++;
	return entries->source.next(entries->source.arg, entry, e);
}

int entries_unsorted(const struct entries *entries, unsigned processes, struct error *e)
{
	if (!entries->in)
		return errorf(e,
			      "in one of the archives not all of the %u processes have entered a "
			      "block: several archives are runs of one program",
			      processes);
	return errorf(e,
		      "%.200s:%llu: the time falls back before all %u processes have entered a "
		      "block; sort each run by time (sort -n)",
		      entries->name, (unsigned long long)entries->line, processes);
}
