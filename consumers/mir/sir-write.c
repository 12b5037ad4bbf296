/* SPDX-License-Identifier: BSD-3-Clause */
/* SIR as text, and that of sources. */
#include "consumers/mir/sir-write.h"

#include "consumers/mir/answer.h"

void sir_unit_begin(FILE *out, const char *path)
{
	fprintf(out, "<unit id=\"%08x\"", code_source_id(path));
	answer_attribute(out, "name", path);
	fputc('>', out);
}

void sir_unit_end(FILE *out)
{
	fputs("</unit>", out);
}

void sir_region_begin(FILE *out, const char *id, const char *type, const char *name, unsigned first,
		      unsigned last, const char *file)
{
	fputs("<codeRegion", out);
	answer_attribute(out, "id", id);
	answer_attribute(out, "type", type);
	answer_attribute(out, "name", name);
	fprintf(out, "><position startLine=\"%u\" endLine=\"%u\"", first, last);
	if (file)
		answer_attribute(out, "file", file);
	fputs("/>", out);
}

void sir_region_end(FILE *out)
{
	fputs("</codeRegion>", out);
}

void sir_code_write(FILE *out, const struct code_text *code)
{
	static const char *const types[CODE_KINDS] = {[CODE_SUBPROGRAM] = "subprogram",
						      [CODE_LOOP] = "loop",
						      [CODE_CALL] = "call",
						      [CODE_USER] = "userRegion",
						      [CODE_OPENMP] = "openmp"};
	unsigned open = 0;

	sir_unit_begin(out, code->path);
	for (size_t i = 0; i < code->n_regions; i++) {
		const struct code_region *r = &code->regions[i];
		char id[CODE_ID];

		for (; open > r->depth; open--)
			sir_region_end(out);
		code_id(code, r, id);
		sir_region_begin(out, id, types[r->kind], r->name, r->line, r->last, NULL);
		open = r->depth + 1;
	}
	for (; open > 0; open--)
		sir_region_end(out);
	sir_unit_end(out);
	if (code->doubt)
		answer_comment(out, "not understood", code->doubt);
}
