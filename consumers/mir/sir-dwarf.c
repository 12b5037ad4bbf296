/* SPDX-License-Identifier: BSD-3-Clause */
/* SIR from DWARF: a unit for each source that was compiled, in it its functions, and what was
 * inlined or calls MPI or PVM in these. Each function is read along its own lines alone. */
#include "consumers/mir/sir-write.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "consumers/code/code.h"
#include "consumers/mir/sir-ids.h"
#include "pathmap/base/memory.h"
#include "tree/data/op.h"

/* How deep blocks and functions may be in each other; libdw checks all else. */
#define DEPTH_MAX 64

struct sir {
	FILE *out; /* NULL: functions are only counted, for ids */
	struct sir_ids *ids;
	Dwarf_Lines *lines;
	size_t n_lines;
	Dwarf_Files *files;
	const char *folder; /* where it was compiled; NULL: not known */
	const char *source; /* of the unit */
	size_t functions;
};

/* ---- places ---- */

/* A source's whole name, the same from wherever it was compiled; NULL: not known. */
static char *source_name(const struct sir *s, const char *name)
{
	char *whole, *clean;

	if (!name)
		return NULL;
	whole = name[0] == '/' || !s->folder ? memory_copy(name)
					     : memory_format("%s/%s", s->folder, name);
	clean = code_path(whole);
	free(whole);
	return clean;
}

/* The number of the first of the unit's lines, which are in the order of addresses, that is not
 * before @at. */
static size_t lines_from(const struct sir *s, Dwarf_Addr at)
{
	size_t low = 0, high = s->n_lines;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		Dwarf_Addr its = 0;

		(void)dwarf_lineaddr(dwarf_onesrcline(s->lines, middle), &its);
		if (its < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The last line of a part of a function, of its own source; @last: it is that at least. */
static int part_last(const struct sir *s, Dwarf_Addr begin, Dwarf_Addr end, const char *source,
		     int last)
{
	for (size_t i = lines_from(s, begin); i < s->n_lines; i++) {
		Dwarf_Line *line = dwarf_onesrcline(s->lines, i);
		const char *name;
		Dwarf_Addr at;
		int number;

		if (!line || dwarf_lineaddr(line, &at) != 0 || at >= end)
			break;
		if (dwarf_lineno(line, &number) != 0 || number <= last)
			continue;
		name = dwarf_linesrc(line, NULL, NULL);
		if (name && strcmp(name, source) == 0)
			last = number;
	}
	return last;
}

/* The last line of the function, of its own source. */
static int last_line(const struct sir *s, Dwarf_Die *die, const char *source, int last)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	while (source && (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0)
		last = part_last(s, begin, end, source, last);
	return last;
}

/* ---- regions ---- */

/* Begin a region of the source @name, NULL: the unit's; @id is its id, or NULL: the next one of the
 * line. */
static void region_begin(struct sir *s, const char *type, const char *name, const char *source,
			 int first, int last, const char *id)
{
	char next[CODE_ID];
	char *whole = source_name(s, source);
	const char *of = whole ? whole : s->source;

	if (!id)
		sir_ids_other(s->ids, code_source_id(of), first, next);
	sir_region_begin(s->out, id ? id : next, type, name, (unsigned)first, (unsigned)last,
			 strcmp(of, s->source) != 0 ? of : NULL);
	free(whole);
}

/* A call that is recorded, as the compiler notes it when it optimises. */
static void call_write(struct sir *s, Dwarf_Die *unit, Dwarf_Die *die)
{
	static const unsigned origins[] = {DW_AT_call_origin, DW_AT_abstract_origin};
	static const unsigned returns[] = {DW_AT_call_return_pc, DW_AT_low_pc};
	Dwarf_Attribute attribute;
	const char *name = NULL;
	Dwarf_Addr at = 0;
	Dwarf_Die origin;
	Dwarf_Line *line;
	int number = 0;
	uint16_t op;

	for (unsigned i = 0; i < 2 && !name; i++)
		if (dwarf_attr(die, origins[i], &attribute) &&
		    dwarf_formref_die(&attribute, &origin))
			name = dwarf_diename(&origin);
	for (unsigned i = 0; i < 2 && at == 0; i++)
		if (dwarf_attr(die, returns[i], &attribute))
			(void)dwarf_formaddr(&attribute, &at);
	op = name ? op_find(name) : 0;
	/* whole: "send" is the C library's */
	if (at == 0 || op == 0 || op_channel(op) < 0 || strcasecmp(op_name(op), name) != 0)
		return;
	/* the call is before where it returns to */
	line = dwarf_getsrc_die(unit, at - 1);
	if (line)
		(void)dwarf_lineno(line, &number);
	region_begin(s, "call", name, line ? dwarf_linesrc(line, NULL, NULL) : NULL, number, number,
		     NULL);
	sir_region_end(s->out);
}

static void inside_write(struct sir *s, Dwarf_Die *unit, Dwarf_Die *die, unsigned depth);

static void function_write(struct sir *s, Dwarf_Die *unit, Dwarf_Die *die, unsigned depth)
{
	const char *name = dwarf_diename(die), *source = dwarf_decl_file(die);
	int line = 0, column = 0;
	char id[CODE_ID], *whole;
	uint32_t of;

	(void)dwarf_decl_line(die, &line);
	(void)dwarf_decl_column(die, &column);
	/* it is only declared here, or the compiler's own */
	if (!name || line == 0 ||
	    !(dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges)))
		return;
	whole = source_name(s, source);
	of = code_source_id(whole ? whole : s->source);
	free(whole);
	if (!s->out) {
		sir_ids_add(s->ids, of, line, column, name);
		inside_write(s, unit, die, depth + 1);
		return;
	}
	/* one of a header was there with another unit */
	if (!sir_ids_function(s->ids, of, line, name, id))
		return;
	s->functions++;
	region_begin(s, "subprogram", name, source, line, last_line(s, die, source, line), id);
	inside_write(s, unit, die, depth + 1);
	sir_region_end(s->out);
}

static void inlined_write(struct sir *s, Dwarf_Die *unit, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_diename(die), *source = NULL;
	Dwarf_Word line = 0, file = 0;

	if (dwarf_attr(die, DW_AT_call_line, &attribute))
		(void)dwarf_formudata(&attribute, &line);
	if (!name || line == 0 || line > INT32_MAX)
		return;
	if (s->files && dwarf_attr(die, DW_AT_call_file, &attribute) &&
	    dwarf_formudata(&attribute, &file) == 0)
		source = dwarf_filesrc(s->files, file, NULL, NULL);
	region_begin(s, "inlined", name, source, (int)line, (int)line, NULL);
	inside_write(s, unit, die, depth + 1);
	sir_region_end(s->out);
}

static void inside_write(struct sir *s, Dwarf_Die *unit, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die child;
	int rc = depth < DEPTH_MAX ? dwarf_child(die, &child) : 1;

	for (; rc == 0; rc = dwarf_siblingof(&child, &child)) {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			function_write(s, unit, &child, depth);
			break;
		case DW_TAG_inlined_subroutine:
			if (s->out)
				inlined_write(s, unit, &child, depth);
			break;
		case DW_TAG_call_site:
		case DW_TAG_GNU_call_site:
			if (s->out)
				call_write(s, unit, &child);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_module:
		case DW_TAG_namespace:
			inside_write(s, unit, &child, depth + 1);
			break;
		default:
			break;
		}
	}
}

/* ---- files ---- */

static void unit_write(struct sir *s, Dwarf_Die *unit)
{
	const char *name = dwarf_diename(unit);
	Dwarf_Attribute attribute;
	char *source;

	if (!name)
		return;
	s->folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	s->source = source = source_name(s, name);
	if (dwarf_getsrclines(unit, &s->lines, &s->n_lines) != 0)
		s->n_lines = 0;
	if (dwarf_getsrcfiles(unit, &s->files, NULL) != 0)
		s->files = NULL;
	if (s->out)
		sir_unit_begin(s->out, source);
	inside_write(s, unit, unit, 0);
	if (s->out)
		sir_unit_end(s->out);
	free(source);
}

static void units_write(struct sir *s, Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;

	while (dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0)
		if (dwarf_tag(&unit) == DW_TAG_compile_unit)
			unit_write(s, &unit);
}

size_t sir_dwarf_write(FILE *out, int fd)
{
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	struct sir s = {.ids = sir_ids_new()};

	if (dwarf) {
		units_write(&s, dwarf);
		s.out = out;
		units_write(&s, dwarf);
		dwarf_end(dwarf);
	}
	sir_ids_free(s.ids);
	return s.functions;
}
