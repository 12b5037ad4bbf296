# SPDX-License-Identifier: BSD-3-Clause
# Makes pvm-wrappers.c of ops.tab: one wrapper for each row of PVM's, by its shape. Rows: row.awk.

# The names of C arguments: "int *tids, int (*handler)(int)" -> "tids, handler".
function names_of(args,    part, n, i, name, out)
{
	if (args == "void")
		return ""
	gsub(/\([^*()][^()]*\)/, "", args) # argument lists of functions
	n = split(args, part, /, */)
	for (i = 1; i <= n; i++) {
		name = part[i]
		gsub(/[()]/, "", name)
		sub(/^.*[ *]/, "", name)
		out = out (i > 1 ? ", " : "") name
	}
	return out
}

function line(text)
{
	print indent "\t" text
}

# The operation's group: all tasks, or the one that it names.
function group()
{
	return ("group" in trait) ? "at" : channel == "P2P" ? "&pvm_world" : "NULL"
}

function classes()
{
	return ("group" in trait) ? "&at->classes" : channel == "P2P" ? "&pvm_world.classes" : "&collect_none"
}

function op()
{
	return "OP_" toupper(name)
}

function trait_or(key, otherwise)
{
	return (key in trait) ? trait[key] : otherwise
}

function enter()
{
	line("if (!pvm_enter(caller, " classes() ", CHANNEL_" channel "))")
	line("\treturn " real ";")
}

function begin(peer, tag, bytes)
{
	line("pvm_begin(&t, " op() ", " group() ", " peer ", (uint32_t)" tag ", " bytes ");")
}

function call()
{
	line("rc = " real ";")
	line("pvm_stamp(&t);")
}

function end()
{
	line("pvm_end(caller, &t, " group() ", CHANNEL_" channel ", rc);")
}

function shape_call()
{
	enter()
	begin(trait_or("peer", "TUPLE_NO_PEER"), trait_or("tag", "0"), ("later" in trait) ? "0" : trait_or("bytes", "0"))
	call()
	if ("later" in trait) {
		line("if (rc >= 0)")
		line("\tt.bytes = " trait["bytes"] ";")
	}
	if ("count" in trait)
		line("t.seq_or_tag = rc > 0 ? (uint32_t)rc : 0;")
	end()
}

function from()
{
	return ("peer" in trait) ? "pvm_peer(" trait["peer"] ")" : "TUPLE_NO_PEER"
}

function vain()
{
	line("if (rc == 0) {")
	line("\tpvm_vain(caller, CHANNEL_" channel ");")
	line("\treturn rc;")
	line("}")
}

function received()
{
	line("if (rc > 0)")
	line("\tpvm_tuple_received(&t, rc);")
	if ("empty" in trait)
		line("t.bytes = 0;")
	end()
}

function shape_receive()
{
	enter()
	begin(from(), trait_or("tag", "0"), "0")
	call()
	vain()
	received()
}

function shape_poll()
{
	enter()
	line("rc = " real ";")
	vain()
	line("pvm_found(&t, " op() ", " group() ", " from() ", (uint32_t)" trait_or("tag", "0") ");")
	received()
}

function shape_place()
{
	line("int from, number, length;\n")
	line("rtid = rtid ? rtid : &from;")
	line("rtag = rtag ? rtag : &number;")
	line("rlen = rlen ? rlen : &length;")
	enter()
	begin(from(), trait_or("tag", "0"), "0")
	call()
	line("if (rc >= 0)")
	line("\tpvm_tuple_placed(&t, *rtid, *rtag, *rlen);")
	end()
}

function shape_format(    real_call)
{
	real_call = "pvm." trait["by"] "((char *)(uintptr_t)format, args)"
	line("va_list args, again;\n")
	line("if (!pvm." trait["by"] ")")
	line("\tpvm_wrappers_resolve();")
	line("if (!pvm." trait["by"] ")")
	line("\treturn PvmNotImpl;")
	line("va_start(args, format);")
	line("if (!pvm_enter(caller, " classes() ", CHANNEL_" channel ")) {")
	line("\trc = " real_call ";")
	line("\tva_end(args);")
	line("\treturn rc;")
	line("}")
	line("va_copy(again, args);")
	begin("TUPLE_NO_PEER", "0", "0")
	line("rc = " real_call ";")
	line("pvm_stamp(&t);")
	line("if (rc >= 0)")
	line("\tt.bytes = pvm_bytes_format(format, again, " (("packs" in trait) ? "true" : "false") ");")
	line("va_end(again);")
	line("va_end(args);")
	end()
}

# What its arguments say (tree/data/signature.h).
function signature()
{
	if (channel != "COLLECTIVE")
		return "TUPLE_NO_PEER"
	if (args ~ /int root(,|$)/)
		return "signature_instances(root, at->instance, type)"
	return "signature_tasks(count)"
}

function shape_collect()
{
	line("number = pvm_number(caller, at);")
	enter()
	begin(signature(), "number", trait_or("bytes", "0"))
	call()
	end()
}

function shape_join()
{
	enter()
	begin("TUPLE_NO_PEER", "0", "0")
	call()
	end()
	line("if (rc >= 0 && pvm_process.task)")
	line("\tpvm_group_join(at, pvm_process.tid, rc);")
}

function shape_exit()
{
	line("if (pvm_enter(caller, " classes() ", CHANNEL_" channel ")) {")
	indent = "\t"
	begin("TUPLE_NO_PEER", "0", "0")
	call()
	end()
	indent = ""
	line("} else {")
	line("\trc = " real ";")
	line("}")
	line("if (rc >= 0)")
	line("\tpvm_process_left();")
}

function shape_spawn()
{
	line("struct pvm_exports exports;\n")
	line("if (pvm_is_nested(caller) || pvm_process.never)")
	line("\treturn " real ";")
	line("pvm_exports_add(&exports);")
	line("if (pvm_enter(caller, " classes() ", CHANNEL_" channel ")) {")
	indent = "\t"
	begin("TUPLE_NO_PEER", "0", "0")
	call()
	line("t.seq_or_tag = rc > 0 ? (uint32_t)rc : 0;")
	end()
	indent = ""
	line("} else {")
	line("\trc = " real ";")
	line("}")
	line("pvm_exports_remove(&exports);")
}

function shape_ask()
{
	line("if (!pvm_ask_enter(caller, &ask))")
	line("\treturn " real ";")
	line("rc = " real ";")
	line("pvm_ask_leave(caller, &ask, " op() ");")
}

function declare()
{
	print "\n#ifdef EVSPACE_PVM_WRAP"
	print "int __wrap_" name "(" args ");"
	if (shape != "format")
		print "int __real_" name "(" args ");"
	print "#else"
	if (shape != "format") {
		print "static int late_" name "(" args ");"
		print "static int (*real_" name ")(" args ") = late_" name ";\n"
		print "static int late_" name "(" args ")\n{"
		line("pvm_wrappers_resolve();")
		line("return real_" name " == late_" name " ? PvmNotImpl : real_" name "(" names_of(args) ");")
		print "}"
	}
	print "#endif\n"
}

function wrapper()
{
	declare()
	real = "PVM_REAL(" name ")(" names_of(args) ")"
	print "int PVM_WRAPPER(" name ")(" args ")\n{"
	if ("group" in trait)
		line("struct pvm_group *at = pvm_group_at(" trait["group"] ");")
	line("const struct collect_caller caller = COLLECT_CALLER;")
	line(shape == "ask" ? "struct pvm_ask ask;" : "struct tuple t;")
	if (shape == "collect")
		line("uint32_t number;")
	line("int rc;" (shape ~ /^(place|format|spawn)$/ ? "" : "\n"))
	if (shape == "call") shape_call()
	else if (shape == "receive") shape_receive()
	else if (shape == "poll") shape_poll()
	else if (shape == "place") shape_place()
	else if (shape == "format") shape_format()
	else if (shape == "collect" || shape == "leave") shape_collect()
	else if (shape == "join") shape_join()
	else if (shape == "exit") shape_exit()
	else if (shape == "spawn") shape_spawn()
	else if (shape == "ask") shape_ask()
	else fail("there is no shape \"" shape "\"")
	line("return rc;")
	print "}"
}

BEGIN {
	print "/* Generated from tree/data/ops.tab by node-agent/collect/gen/pvm.awk. */"
	print "#include \"node-agent/collect/pvm/pvm-calls.h\""
	print "#include \"tree/data/op-table.h\""
	print "#include \"tree/data/signature.h\""
	print "\n#pragma GCC visibility push(default)"
}

/^[ \t]*(#|$)/ { next }
$2 !~ /^pvm_/ { next }

{
	row_read()
	if (shape == "leave")
		shape = "collect"
	wrapper()
	if (shape != "format")
		all[++n] = name
}

END {
	if (failed)
		exit 1
	print "\n#pragma GCC visibility pop"
	print "\n#ifndef EVSPACE_PVM_WRAP"
	print "void pvm_wrappers_resolve(void)\n{"
	line("static const struct {")
	line("\tconst char *name;")
	line("\tvoid *real, *own;")
	line("} all[] = {")
	for (i = 1; i <= n; i++)
		line("\t{\"" all[i] "\", &real_" all[i] ", " all[i] "},")
	line("};\n")
	line("for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {")
	line("\tvoid *next = pvm_library_next(all[i].name, all[i].own);\n")
	line("\tif (next)")
	line("\t\t*(void **)all[i].real = next;")
	line("}")
	line("pvm_library_find();")
	print "}"
	print "#else"
	print "void pvm_wrappers_resolve(void)\n{\n}"
	print "#endif"
}
