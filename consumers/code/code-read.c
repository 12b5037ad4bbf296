/* SPDX-License-Identifier: BSD-3-Clause */
/* Sources by their language: C and C++ by the program evspace-clang, Fortran by its statements. */
#include "consumers/code/code-read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "consumers/cli/module.h"
#include "consumers/cli/subprocess.h"
#include "consumers/code/code-fortran.h"
#include "pathmap/base/memory.h"

/* How long a source may take. */
#define SECONDS 60

static const struct {
	const char *end;
	enum code_language language;
} ends[] = {{".c", CODE_C},	  {".h", CODE_C},	{".cc", CODE_CXX},   {".cpp", CODE_CXX},
	    {".cxx", CODE_CXX},	  {".c++", CODE_CXX},	{".C", CODE_CXX},    {".hh", CODE_CXX},
	    {".hpp", CODE_CXX},	  {".hxx", CODE_CXX},	{".f", CODE_FIXED},  {".for", CODE_FIXED},
	    {".ftn", CODE_FIXED}, {".f77", CODE_FIXED}, {".f90", CODE_FREE}, {".f95", CODE_FREE},
	    {".f03", CODE_FREE},  {".f08", CODE_FREE},	{".f18", CODE_FREE}};

enum code_language code_language_of(const char *path)
{
	const char *end = strrchr(path, '.');

	/* "F90" is "f90" with a preprocessor */
	for (size_t i = 0; end && i < sizeof(ends) / sizeof(ends[0]); i++)
		if ((ends[i].language < CODE_FIXED ? strcmp : strcasecmp)(end, ends[i].end) == 0)
			return ends[i].language;
	return CODE_NONE;
}

enum code_language code_language_by(const char *path, const char *flags)
{
	enum code_language language = code_language_of(path);

	if (language < CODE_FIXED || !flags)
		return language;
	if (strstr(flags, "-ffree-form"))
		return CODE_FREE;
	return strstr(flags, "-ffixed-form") ? CODE_FIXED : language;
}

/* Does the line say a region that can be one of this text? */
static bool region_take(struct code_text *code, char *line)
{
	struct code_region r = {.name = NULL};
	int kind, closed, n = 0;

	if (sscanf(line, "%d %u %u %zu %zu %zu %d %n", &kind, &r.line, &r.last, &r.begin, &r.end,
		   &r.enter, &closed, &n) < 7 ||
	    n == 0 || kind < 0 || kind >= CODE_KINDS || r.begin >= r.end || r.end > code->n ||
	    r.enter > r.end || r.line == 0 || r.last < r.line)
		return false;
	r.kind = (enum code_kind)kind;
	r.closed = closed;
	r.name = line + n;
	code_add(code, &r);
	return true;
}

static int c_read(struct code_text *code, const char *flags, bool apart, struct error *e)
{
	char *program = module_program("clang"), *text, *rest, *line;
	char here[] = "--", alone[] = "--apart";
	char *argv[] = {program, apart ? alone : here, code->path, (char *)flags, NULL};
	int rc = -1;

	if (access(program, X_OK) < 0) {
		errorf(e,
		       "this evspace was built without libclang (libclang-14-dev), or there is "
		       "no %.300s; name an executable that was compiled with -g instead",
		       program);
	} else if ((text = subprocess_run(argv, SECONDS, e))) {
		rc = 0;
		for (rest = text; rc == 0 && (line = strsep(&rest, "\n"));) {
			if (line[0] == '?' && !code->doubt)
				code->doubt = memory_copy(line + strspn(line, "? "));
			else if (line[0] && !region_take(code, line))
				rc = errorf(e, "%.300s says no region: \"%.80s\"", program, line);
		}
		free(text);
	}
	free(program);
	return rc;
}

int code_read(struct code_text *code, const char *path, const char *flags, bool apart,
	      struct error *e)
{
	enum code_language language = code_language_by(path, flags);

	if (code_load(code, path, e) < 0)
		return -1;
	code->flags = flags;
	if (language >= CODE_FIXED) {
		code_fortran(code, language == CODE_FIXED, !flags || strstr(flags, "-fopenmp"));
	} else if (c_read(code, flags, apart, e) < 0) {
		code_fini(code);
		return -1;
	}
	code_settle(code);
	return 0;
}
