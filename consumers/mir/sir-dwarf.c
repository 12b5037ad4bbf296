/* SPDX-License-Identifier: BSD-3-Clause */
/* SIR from DWARF: a unit for each source that was compiled, in it its functions, and what was
 * inlined or calls MPI or PVM in these. */
#include "consumers/mir/sir-write.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "consumers/code/code.h"
#include "pathmap/base/memory.h"
#include "tree/data/op.h"

/* How deep blocks and functions may be in each other; libdw checks all else. */
#define DEPTH_MAX 64

struct sir {
	FILE *out;
	Dwarf_Lines *lines;
	size_t n_lines;
	const char *source; /* of the unit */
	uint32_t id;	    /* of that: of its name, so that it is the same for other programs */
	size_t functions;
};

/* ---- places ---- */

/* Where a call returns to, or where a block is: the line of the source. */
static int address_line(Dwarf_Die *unit, Dwarf_Addr at)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, at);
	int number = 0;

	return line && dwarf_lineno(line, &number) == 0 ? number : 0;
}

/* The last line of the function, of its own source. */
static int last_line(const struct sir *s, Dwarf_Die *die, const char *source, int first)
{
	int last = first;

	for (size_t i = 0; i < s->n_lines; i++) {
		Dwarf_Line *line = dwarf_onesrcline(s->lines, i);
		const char *name;
		Dwarf_Addr at;
		int number;

		if (!source || !line || dwarf_lineno(line, &number) != 0 || number <= last ||
		    dwarf_lineaddr(line, &at) != 0 || dwarf_haspc(die, at) <= 0)
			continue;
		name = dwarf_linesrc(line, NULL, NULL);
		if (name && strcmp(name, source) == 0)
			last = number;
	}
	return last;
}

/* ---- regions ---- */

static void region_begin(struct sir *s, const char *type, const char *name, const char *source,
			 int first, int last)
{
	char id[32];

	snprintf(id, sizeof(id), "%08x-%d", source ? code_source_id(source) : s->id, first);
	sir_region_begin(s->out, id, type, name, (unsigned)first, (unsigned)last,
			 source && strcmp(source, s->source) != 0 ? source : NULL);
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
	region_begin(s, "call", name, NULL, address_line(unit, at - 1), address_line(unit, at - 1));
	sir_region_end(s->out);
}

static void inside_write(struct sir *s, Dwarf_Die *unit, Dwarf_Die *die, unsigned depth);

static void function_write(struct sir *s, Dwarf_Die *unit, Dwarf_Die *die, unsigned depth)
{
	const char *name = dwarf_diename(die), *source = dwarf_decl_file(die);
	int line = 0;

	(void)dwarf_decl_line(die, &line);
	/* it is only declared here, or the compiler's own */
	if (!name || line == 0 ||
	    !(dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges)))
		return;
	s->functions++;
	region_begin(s, "subprogram", name, source, line, last_line(s, die, source, line));
	inside_write(s, unit, die, depth + 1);
	sir_region_end(s->out);
}

static void inlined_write(struct sir *s, Dwarf_Die *unit, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_diename(die);
	Dwarf_Word line = 0;

	if (dwarf_attr(die, DW_AT_call_line, &attribute))
		(void)dwarf_formudata(&attribute, &line);
	if (!name || line == 0 || line > INT32_MAX)
		return;
	region_begin(s, "inlined", name, NULL, (int)line, (int)line);
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
			inlined_write(s, unit, &child, depth);
			break;
		case DW_TAG_call_site:
		case DW_TAG_GNU_call_site:
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
	const char *name = dwarf_diename(unit), *folder;
	Dwarf_Attribute attribute;
	char *source;

	if (!name)
		return;
	folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	source = name[0] == '/' || !folder ? memory_copy(name)
					   : memory_format("%s/%s", folder, name);
	s->source = source;
	s->id = code_source_id(source);
	if (dwarf_getsrclines(unit, &s->lines, &s->n_lines) != 0)
		s->n_lines = 0;
	sir_unit_begin(s->out, source);
	inside_write(s, unit, unit, 0);
	sir_unit_end(s->out);
	free(source);
}

size_t sir_dwarf_write(FILE *out, int fd)
{
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	struct sir s = {.out = out};
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;

	if (!dwarf)
		return 0;
	while (dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0)
		if (dwarf_tag(&unit) == DW_TAG_compile_unit)
			unit_write(&s, &unit);
	dwarf_end(dwarf);
	return s.functions;
}
