/* SPDX-License-Identifier: BSD-3-Clause */
/* Flags of compile_commands.json, or as they are said. */
#include "consumers/code/clang-flags.h"

#include <clang-c/CXCompilationDatabase.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pathmap/base/memory.h"

/* Whose value is behind it, or the next word. */
static const char *const with_value[] = {"-isystem", "-iquote", "-idirafter", "-include",
					 "-I",	     "-D",	"-U",	      "-x"};
/* All of it is the word. */
static const char *const whole[] = {"-std=", "-ansi", "-m64", "-m32", "-march=", "-pthread"};

/* Of these, those that name where headers are. */
static const char *const places[] = {"-isystem", "-iquote", "-idirafter", "-include", "-I"};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void word_add(struct clang_flags *f, char *word)
{
	f->words = memory_room(f->words, f->n, sizeof(*f->words));
	f->words[f->n++] = word;
}

static const char *begin_of(const char *word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(word, list[i], strlen(list[i])) == 0)
			return list[i];
	return NULL;
}

/* One word of a command line, the next one being @next (NULL: none). Returns whether that is its
 * value. */
static bool flag_take(struct clang_flags *f, const char *word, const char *next)
{
	const char *begin = begin_of(word, with_value, COUNT(with_value));

	if (begin && strcmp(begin, word) == 0) {
		if (!next)
			return false;
		word_add(f, memory_copy(word));
		word_add(f, memory_copy(next));
		return true;
	}
	if (strcmp(word, "-fopenmp") == 0) {
		f->openmp = true;
		word_add(f, memory_copy("-D_OPENMP=201511"));
	} else if (begin || begin_of(word, whole, COUNT(whole))) {
		word_add(f, memory_copy(word));
	}
	return false;
}

static void words_take(struct clang_flags *f, const char *said)
{
	char *text = memory_copy(said), *rest = text, *word = NULL, *next;

	while (rest || word) {
		next = rest ? strsep(&rest, " \t\n") : NULL;
		if (next && !*next)
			continue;
		if (word && flag_take(f, word, next))
			next = NULL;
		word = next;
	}
	free(text);
}

/* ---- compile_commands.json ---- */

static void command_take(struct clang_flags *f, CXCompileCommand command)
{
	CXString folder = clang_CompileCommand_getDirectory(command);
	unsigned n = clang_CompileCommand_getNumArgs(command);

	word_add(f, memory_format("-working-directory=%s", clang_getCString(folder)));
	for (unsigned i = 1; i < n; i++) {
		CXString word = clang_CompileCommand_getArg(command, i), next = {0};

		if (i + 1 < n)
			next = clang_CompileCommand_getArg(command, i + 1);
		if (flag_take(f, clang_getCString(word), i + 1 < n ? clang_getCString(next) : NULL))
			i++;
		clang_disposeString(word);
		if (next.data)
			clang_disposeString(next);
	}
	clang_disposeString(folder);
}

/* Of the database in that folder. Returns whether it knows the file. */
static bool database_take(struct clang_flags *f, const char *folder, const char *path)
{
	CXCompilationDatabase_Error error;
	CXCompilationDatabase database = clang_CompilationDatabase_fromDirectory(folder, &error);
	CXCompileCommands commands;
	bool knows;

	if (error != CXCompilationDatabase_NoError)
		return false;
	commands = clang_CompilationDatabase_getCompileCommands(database, path);
	knows = clang_CompileCommands_getSize(commands) > 0;
	if (knows)
		command_take(f, clang_CompileCommands_getCommand(commands, 0));
	clang_CompileCommands_dispose(commands);
	clang_CompilationDatabase_dispose(database);
	return knows;
}

static bool folders_take(struct clang_flags *f, const char *path)
{
	static const char *const below[] = {"", "/build"};
	char *folder = memory_copy(path), *slash;
	bool knows = false;

	while (!knows && (slash = strrchr(folder, '/'))) {
		*slash = '\0';
		for (size_t i = 0; i < COUNT(below) && !knows; i++) {
			char *at = memory_format("%s%s", folder, below[i]);
			char *file = memory_format("%s/compile_commands.json", at);

			if (access(file, R_OK) == 0)
				knows = database_take(f, at, path);
			free(file);
			free(at);
		}
	}
	free(folder);
	return knows;
}

void clang_flags_take(struct clang_flags *flags, const char *path, const char *said, bool apart)
{
	*flags = (struct clang_flags){.n = 0};
	if (said)
		words_take(flags, said);
	else if (apart || !folders_take(flags, path))
		words_take(flags, "-fopenmp");
	words_take(flags, CODE_FLAGS);
}

void clang_flags_add(struct clang_flags *flags, const char *word)
{
	word_add(flags, memory_copy(word));
}

char *clang_flags_place(const struct clang_flags *flags, size_t i, bool *file)
{
	const char *word = flags->words[i], *begin = begin_of(word, places, COUNT(places));

	if (!begin || (!word[strlen(begin)] && i + 1 == flags->n))
		return NULL;
	*file = strcmp(begin, "-include") == 0;
	return memory_copy(word[strlen(begin)] ? word + strlen(begin) : flags->words[i + 1]);
}

/* Neither may be what links make of it. */
static bool is_in(const char *file, const char *folder)
{
	char *real = realpath(file, NULL), *base = realpath(folder, NULL);
	size_t n = base ? strlen(base) : 0;
	bool in = real && base && strncmp(real, base, n) == 0 && real[n] == '/';

	free(real);
	free(base);
	return in;
}

/* Is it @included, or in the same folder, not below that? */
static bool is_beside(const char *file, const char *included)
{
	const char *slash = strrchr(included, '/');
	char *folder = slash ? memory_copy_bytes(included, (size_t)(slash + 1 - included))
			     : memory_copy(".");
	char *real = realpath(file, NULL), *its = realpath(included, NULL);
	char *base = realpath(folder, NULL), *last = real ? strrchr(real, '/') : NULL;
	bool beside = real && its && strcmp(real, its) == 0;

	if (last && base && !beside) {
		*last = '\0';
		beside = strcmp(real, strcmp(base, "/") == 0 ? "" : base) == 0;
	}
	free(folder);
	free(real);
	free(its);
	free(base);
	return beside;
}

bool clang_flags_have(const struct clang_flags *flags, const char *folder, const char *file)
{
	bool have = is_in(file, folder) || is_in(file, "/usr");

	for (size_t i = 0; i < flags->n && !have; i++) {
		bool of_file = false;
		char *its = clang_flags_place(flags, i, &of_file);

		have = its && (of_file ? is_beside(file, its) : is_in(file, its));
		free(its);
	}
	return have;
}

void clang_flags_fini(struct clang_flags *flags)
{
	for (size_t i = 0; i < flags->n; i++)
		free(flags->words[i]);
	free(flags->words);
}
