/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions, loops, calls, and regions that the program begins and ends itself. */
#include "consumers/code/clang-walk.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"

/* How deep statements and expressions may be in each other: libclang has no bound for long sums. */
#define DEPTH_MAX 1000

/* A begin or an end of a region of evspace.h. */
struct clang_mark {
	char *label;
	bool begins;
	struct code_span span;
};

/* One cursor with those around it. */
struct clang_at {
	struct clang_walk *walk;
	struct clang_at *above;
	enum CXCursorKind kind;
	unsigned depth;
	size_t loop;		  /* its region, from 1; 0: it is no loop */
	struct clang_mark *marks; /* of the function */
	size_t n_marks;
};

static enum CXChildVisitResult on_cursor(CXCursor cursor, CXCursor parent, CXClientData data);

/* ---- places ---- */

unsigned clang_line(const struct clang_walk *walk, size_t at)
{
	size_t low = 0, high = walk->n_lines;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (walk->lines[middle] <= at)
			low = middle;
		else
			high = middle;
	}
	return (unsigned)low + 1;
}

static bool offset_of(const struct clang_walk *w, CXSourceLocation location, size_t *at)
{
	CXFile file;
	unsigned offset;

	clang_getFileLocation(location, &file, NULL, NULL, &offset);
	*at = offset;
	return file && clang_File_isEqual(file, w->file) && offset <= w->code->n;
}

/* Returns false if it is not of this file. */
static bool span_of(const struct clang_walk *w, CXCursor cursor, struct code_span *span)
{
	CXSourceRange range = clang_getCursorExtent(cursor);

	return offset_of(w, clang_getRangeStart(range), &span->begin) &&
	       offset_of(w, clang_getRangeEnd(range), &span->end) && span->begin < span->end;
}

/* Does that word stand there? If not, a macro makes what does. */
static bool is_word_at(const struct clang_walk *w, size_t at, const char *word)
{
	size_t n = strlen(word);
	unsigned char next;

	if (w->code->n - at < n || strncmp(w->code->text + at, word, n) != 0)
		return false;
	next = (unsigned char)w->code->text[at + n];
	return !isalnum(next) && next != '_';
}

static char *text_take(CXString string)
{
	const char *text = clang_getCString(string);
	char *copy = memory_copy(text ? text : "");

	clang_disposeString(string);
	return copy;
}

/* ---- ends of statements ---- */

static enum CXChildVisitResult on_child(CXCursor cursor, CXCursor parent, CXClientData data)
{
	CXCursor *last = data;

	(void)parent;
	*last = cursor;
	return CXChildVisit_Continue;
}

/* Is there no ";" behind what libclang has of the statement? */
static bool ends_itself(CXCursor cursor)
{
	for (unsigned i = 0; i < DEPTH_MAX; i++) {
		CXCursor last = clang_getNullCursor();

		switch (clang_getCursorKind(cursor)) {
		case CXCursor_CompoundStmt:
		case CXCursor_NullStmt:
		case CXCursor_DeclStmt:
		case CXCursor_CXXTryStmt:
			return true;
		case CXCursor_ForStmt:
		case CXCursor_WhileStmt:
		case CXCursor_CXXForRangeStmt:
		case CXCursor_IfStmt:
		case CXCursor_SwitchStmt:
		case CXCursor_LabelStmt:
		case CXCursor_CaseStmt:
		case CXCursor_DefaultStmt:
			clang_visitChildren(cursor, on_child, &last);
			cursor = last;
			break;
		default:
			return false;
		}
	}
	return false;
}

/* Behind blanks and comments. */
static size_t blanks_skip(const struct code_text *code, size_t at)
{
	for (;;) {
		const char *text = code->text + at, *end;

		if (isspace((unsigned char)*text))
			end = text + 1;
		else if (strncmp(text, "//", 2) == 0)
			end = text + strcspn(text, "\n");
		else if (strncmp(text, "/*", 2) == 0 && (end = strstr(text + 2, "*/")))
			end += 2;
		else
			return at;
		at = (size_t)(end - code->text);
	}
}

/* Let it end behind its ";". Returns false if that is not there. */
static bool statement_settle(const struct clang_walk *w, CXCursor cursor, struct code_span *span)
{
	size_t at;

	if (ends_itself(cursor))
		return strchr(";}", w->code->text[span->end - 1]) != NULL;
	at = blanks_skip(w->code, span->end);
	if (w->code->text[at] != ';')
		return false;
	span->end = at + 1;
	return true;
}

/* ---- regions ---- */

static size_t region_add(struct clang_walk *w, enum code_kind kind, const char *name,
			 const struct code_span *span, bool closed)
{
	code_add(w->code, &(struct code_region){.kind = kind,
						.name = (char *)name,
						.line = clang_line(w, span->begin),
						.last = clang_line(w, span->end - 1),
						.begin = span->begin,
						.end = span->end,
						.closed = closed});
	return w->code->n_regions;
}

static enum CXChildVisitResult on_first(CXCursor cursor, CXCursor parent, CXClientData data)
{
	CXCursor *first = data;

	(void)parent;
	*first = cursor;
	return CXChildVisit_Break;
}

static const char *loop_word(enum CXCursorKind kind)
{
	switch (kind) {
	case CXCursor_ForStmt:
	case CXCursor_CXXForRangeStmt:
		return "for";
	case CXCursor_WhileStmt:
		return "while";
	case CXCursor_DoStmt:
		return "do";
	default:
		return NULL;
	}
}

/* Is what a call has returned called? What is referenced is who returns it, then. */
static bool calls_returned(CXCursor cursor)
{
	CXCursor callee = cursor;

	do {
		cursor = callee;
		callee = clang_getNullCursor();
		clang_visitChildren(cursor, on_first, &callee);
	} while (clang_getCursorKind(callee) == CXCursor_UnexposedExpr ||
		 clang_getCursorKind(callee) == CXCursor_ParenExpr);
	return clang_getCursorKind(callee) == CXCursor_CallExpr;
}

/* Who is called by a name that functions have, for the caller to free; NULL: nobody. */
static char *callee_of(CXCursor cursor)
{
	char *name;

	if (calls_returned(cursor))
		return NULL;
	switch (clang_getCursorKind(clang_getCursorReferenced(cursor))) {
	case CXCursor_FunctionDecl:
	case CXCursor_FunctionTemplate:
	case CXCursor_CXXMethod:
		break;
	default:
		return NULL;
	}
	name = text_take(clang_getCursorSpelling(cursor));
	if (name[0] && strncmp(name, "operator", strlen("operator")) != 0)
		return name;
	free(name);
	return NULL;
}

static struct clang_at *function_around(struct clang_at *at)
{
	while (at->above)
		at = at->above;
	return at;
}

/* evspace_region("label", EVSPACE_BEGIN) */
static void mark_take(struct clang_at *function, CXCursor cursor, const struct code_span *span)
{
	CXEvalResult label = clang_Cursor_Evaluate(clang_Cursor_getArgument(cursor, 0));
	CXEvalResult begin = clang_Cursor_Evaluate(clang_Cursor_getArgument(cursor, 1));

	if (label && clang_EvalResult_getKind(label) == CXEval_StrLiteral && begin &&
	    clang_EvalResult_getKind(begin) == CXEval_Int) {
		function->marks =
			memory_room(function->marks, function->n_marks, sizeof(*function->marks));
		function->marks[function->n_marks++] =
			(struct clang_mark){memory_copy(clang_EvalResult_getAsStr(label)),
					    clang_EvalResult_getAsInt(begin) != 0, *span};
	}
	if (label)
		clang_EvalResult_dispose(label);
	if (begin)
		clang_EvalResult_dispose(begin);
}

/* An end is that of the innermost open one with its label. */
static void marks_settle(struct clang_at *function)
{
	struct clang_mark *marks = function->marks;

	for (size_t i = 0; i < function->n_marks; i++) {
		for (size_t k = i; !marks[i].begins && k-- > 0;) {
			struct code_span span = {marks[k].span.begin, marks[i].span.end};

			if (!marks[k].begins || !marks[k].label ||
			    strcmp(marks[k].label, marks[i].label) != 0)
				continue;
			region_add(function->walk, CODE_USER, marks[k].label, &span, true);
			free(marks[k].label);
			marks[k].label = NULL;
			break;
		}
	}
	for (size_t i = 0; i < function->n_marks; i++)
		free(marks[i].label);
	free(marks);
}

static void call_take(struct clang_at *at, CXCursor cursor, const struct code_span *span)
{
	struct clang_walk *w = at->walk;
	char *name = callee_of(cursor);

	if (!name)
		return;
	if (strcmp(name, "evspace_region") == 0)
		mark_take(function_around(at), cursor, span);
	else
		region_add(w, CODE_CALL, name, span,
			   !is_word_at(w, span->begin, name) ||
				   w->code->text[span->end - 1] != ')');
	free(name);
}

/* Whoever jumps to a label must not come into what is written around a loop. */
static void label_take(struct clang_at *at, enum CXCursorKind kind)
{
	bool of_switch = kind != CXCursor_LabelStmt;

	for (; at && !(of_switch && at->kind == CXCursor_SwitchStmt); at = at->above)
		if (at->loop > 0)
			at->walk->code->regions[at->loop - 1].closed = true;
}

static enum CXChildVisitResult on_body(CXCursor cursor, CXCursor parent, CXClientData data)
{
	CXCursor *body = data;

	(void)parent;
	if (clang_getCursorKind(cursor) != CXCursor_CompoundStmt)
		return CXChildVisit_Continue;
	*body = cursor;
	return CXChildVisit_Break;
}

static bool is_function(enum CXCursorKind kind)
{
	return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod ||
	       kind == CXCursor_Constructor || kind == CXCursor_Destructor ||
	       kind == CXCursor_ConversionFunction || kind == CXCursor_FunctionTemplate;
}

static void function_take(struct clang_walk *w, CXCursor cursor, const struct code_span *span)
{
	struct clang_at function = {.walk = w, .kind = clang_getCursorKind(cursor)};
	CXCursor body = clang_getNullCursor();
	struct code_span of_body = {0, 0};
	size_t region, named;
	char *name;

	if (!clang_isCursorDefinition(cursor))
		return;
	clang_visitChildren(cursor, on_body, &body);
	name = text_take(clang_getCursorSpelling(cursor));
	region = region_add(w, CODE_SUBPROGRAM, name, span, true);
	free(name);
	if (offset_of(w, clang_getCursorLocation(cursor), &named))
		w->code->regions[region - 1].line = clang_line(w, named);
	if (!clang_Cursor_isNull(body) && span_of(w, body, &of_body) &&
	    w->code->text[of_body.begin] == '{' && w->code->text[of_body.end - 1] == '}') {
		w->code->regions[region - 1].enter = of_body.begin + 1;
		w->code->regions[region - 1].closed = false;
	}
	clang_visitChildren(cursor, on_cursor, &function);
	marks_settle(&function);
}

/* ---- the walk ---- */

static void statement_take(struct clang_at *here, CXCursor cursor, struct code_span span)
{
	struct clang_walk *w = here->walk;
	const char *word = loop_word(here->kind);
	bool whole = statement_settle(w, cursor, &span);

	w->statements = memory_room(w->statements, w->n_statements, sizeof(*w->statements));
	w->statements[w->n_statements++] = span;
	if (word)
		here->loop = region_add(w, CODE_LOOP, word, &span,
					!whole || !is_word_at(w, span.begin, word));
}

static enum CXChildVisitResult on_cursor(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct clang_at *above = data;
	struct clang_at here = {.walk = above->walk,
				.above = above,
				.kind = clang_getCursorKind(cursor),
				.depth = above->depth + 1};
	struct clang_walk *w = here.walk;
	struct code_span span;

	if (!span_of(w, cursor, &span))
		return CXChildVisit_Continue;
	if (here.depth > DEPTH_MAX) {
		if (!w->code->doubt)
			w->code->doubt = memory_format("line %u: more than %d deep",
						       clang_line(w, span.begin), DEPTH_MAX);
		return CXChildVisit_Continue;
	}
	if (is_function(here.kind)) {
		function_take(w, cursor, &span);
		return CXChildVisit_Continue;
	}
	if (here.kind == CXCursor_CallExpr)
		call_take(&here, cursor, &span);
	else if (here.kind == CXCursor_LabelStmt || here.kind == CXCursor_CaseStmt ||
		 here.kind == CXCursor_DefaultStmt)
		label_take(above, here.kind);
	if (clang_isStatement(clang_getCursorKind(parent)))
		statement_take(&here, cursor, span);
	clang_visitChildren(cursor, on_cursor, &here);
	return CXChildVisit_Continue;
}

void clang_walk(struct clang_walk *walk)
{
	struct clang_at top = {.walk = walk, .kind = CXCursor_TranslationUnit};

	clang_visitChildren(clang_getTranslationUnitCursor(walk->unit), on_cursor, &top);
	/* marks outside of functions: there are none */
	marks_settle(&top);
}
