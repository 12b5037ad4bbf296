/* SPDX-License-Identifier: BSD-3-Clause */
/* SIR from DWARF: a unit for each source that was compiled, in it its functions, and what was
 * inlined or calls MPI or PVM in these. */
#include "consumers/mir/sir.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "consumers/mir/answer.h"
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

/* FNV-1a: a name has the same one everywhere. */
static uint32_t source_id(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash;
}

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

	snprintf(id, sizeof(id), "%08x-%d", source ? source_id(source) : s->id, first);
	fputs("<codeRegion", s->out);
	answer_attribute(s->out, "id", id);
	answer_attribute(s->out, "type", type);
	answer_attribute(s->out, "name", name);
	fprintf(s->out, "><position startLine=\"%d\" endLine=\"%d\"", first, last);
	if (source && strcmp(source, s->source) != 0)
		answer_attribute(s->out, "file", source);
	fputs("/>", s->out);
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

	for (unsigned i = 0; i < 2 && !name; i++)
		if (dwarf_attr(die, origins[i], &attribute) &&
		    dwarf_formref_die(&attribute, &origin))
			name = dwarf_diename(&origin);
	for (unsigned i = 0; i < 2 && at == 0; i++)
		if (dwarf_attr(die, returns[i], &attribute))
			(void)dwarf_formaddr(&attribute, &at);
	if (!name || at == 0 || op_find(name) == 0 || op_channel(op_find(name)) < 0)
		return;
	/* the call is before where it returns to */
	region_begin(s, "call", name, NULL, address_line(unit, at - 1), address_line(unit, at - 1));
	fputs("</codeRegion>", s->out);
}

static void inside_write(struct sir *s, Dwarf_Die *unit, Dwarf_Die *die, unsigned depth);

static void function_write(struct sir *s, Dwarf_Die *unit, Dwarf_Die *die, unsigned depth)
{
	const char *name = dwarf_diename(die), *source = dwarf_decl_file(die);
	int line = 0;

	(void)dwarf_decl_line(die, &line);
	/* it is only declared here, or the compiler's own */
	if (!name || !dwarf_hasattr(die, DW_AT_low_pc) || line == 0)
		return;
	s->functions++;
	region_begin(s, "subprogram", name, source, line, last_line(s, die, source, line));
	inside_write(s, unit, die, depth + 1);
	fputs("</codeRegion>", s->out);
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
	fputs("</codeRegion>", s->out);
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
	char *source, id[16];

	if (!name)
		return;
	folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	source = name[0] == '/' || !folder ? memory_copy(name)
					   : memory_format("%s/%s", folder, name);
	s->source = source;
	s->id = source_id(source);
	if (dwarf_getsrclines(unit, &s->lines, &s->n_lines) != 0)
		s->n_lines = 0;
	snprintf(id, sizeof(id), "%08x", s->id);
	fputs("<unit", s->out);
	answer_attribute(s->out, "id", id);
	answer_attribute(s->out, "name", source);
	fputc('>', s->out);
	inside_write(s, unit, unit, 0);
	fputs("</unit>", s->out);
	free(source);
}

/* The path of a `file:` URI (RFC 8089), for the caller to free; NULL: it is none. */
static char *uri_path(const char *uri)
{
	char *path, *to;

	if (strncmp(uri, "file:", strlen("file:")) != 0)
		return NULL;
	uri += strlen("file:");
	if (strncmp(uri, "///", 3) == 0)
		uri += 2;
	if (uri[0] != '/' || uri[1] == '/')
		return NULL;
	path = to = memory_copy(uri);
	for (; *uri; uri++) {
		unsigned code;
		int n = 0;

		if (*uri == '%' && sscanf(uri, "%%%2x%n", &code, &n) == 1 && n == 3 && code > 0) {
			*to++ = (char)code;
			uri += 2;
		} else {
			*to++ = *uri;
		}
	}
	*to = '\0';
	return path;
}

static void units_write(struct sir *s, Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;

	while (dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0)
		if (dwarf_tag(&unit) == DW_TAG_compile_unit)
			unit_write(s, &unit);
}

static void resource_answer(struct sir *s, const struct mir_word *resource,
			    struct mir_request *request)
{
	char *path = uri_path(resource->text);
	size_t before = s->functions;
	struct stat file;
	Dwarf *dwarf = NULL;
	int fd = -1;

	if (!path) {
		request_complain(
			request, &resource->place,
			"%.200s is not read; write file:///PATH of an executable or library "
			"on this host",
			resource->text);
		return;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &file) < 0)
		request_complain(request, &resource->place, "%.200s: %s", path, strerror(errno));
	else if (S_ISREG(file.st_mode))
		dwarf = dwarf_begin(fd, DWARF_C_READ);
	if (dwarf)
		units_write(s, dwarf);
	if (fd >= 0 && s->functions == before)
		request_complain(
			request, &resource->place,
			"%.200s has no functions in DWARF; name an executable or library that "
			"was compiled with -g (sources are not read yet)",
			path);
	if (dwarf)
		dwarf_end(dwarf);
	if (fd >= 0)
		close(fd);
	free(path);
}

void sir_answer(struct mir_request *request, FILE *out)
{
	struct sir s = {.out = out};
	char *text = NULL;
	size_t n;

	s.out = open_memstream(&text, &n);
	if (!s.out)
		abort();
	for (size_t i = 0; i < request->n_resources; i++)
		resource_answer(&s, &request->resources[i], request);
	if (fclose(s.out) != 0)
		abort();
	if (request->n_faults == 0)
		fprintf(out, "<sir>%s</sir>\n", text);
	free(text);
}
