# SPDX-License-Identifier: BSD-3-Clause
# Makes wrappers of ops.tab: one for each row, by its shape (mpi-shapes.awk), for the door that the
# program comes through: C (mpi-c.awk) or Fortran (mpi-fortran.awk). Rows: row.awk, mpi-row.awk.

# The names of the C arguments: "int *argc, char ***argv" -> "argc, argv"; @from is called @to.
function names_of(from, to,    part, n, i, argument, out)
{
	if (args == "void")
		return ""
	n = split(args, part, /, */)
	for (i = 1; i <= n; i++) {
		argument = argument_name(part[i])
		out = out (i > 1 ? ", " : "") (argument == from ? to : argument)
	}
	return out
}

# "const int counts[]" -> "counts"
function argument_name(text)
{
	gsub(/\[\]/, "", text)
	sub(/^.*[ *]/, "", text)
	return text
}

function expression(key, otherwise)
{
	return (key in trait) ? trait[key] : otherwise
}

function line(text)
{
	print "\t" indent text
}

function variables()
{
	if (shape == "forget") {
		line("int rc;\n")
		return
	}
	if (shape != "init" && !came)
		line("const struct collect_caller caller = COLLECT_CALLER;")
	line("struct tuple t;")
	if (swift)
		line("enum collect_way way;")
	if (shape != "init" && !swift)
		line("enum collect_entry entry;")
	if (shape == "restart" || shape == "drop")
		line("struct mpi_start s;")
	if (shape == "wait" || shape == "test") {
		line("struct mpi_wait w;")
		line("struct mpi_wait_answer answer;")
		line("MPI_Status own" (("statuses" in trait) ? "[MPI_OWN_STATUSES]" : "") ", *where;")
	} else if ("status" in trait && shape != "poll") {
		line("MPI_Status own, *where = mpi_status(" status("status") ", &own);")
	}
	if (shape ~ /^(receive|start)$/ && ("message" in trait))
		line("struct mpi_matched from;")
	if (shape == "start_exchange")
		line("struct tuple half;")
	if (shape == "spawn")
		line("struct mpi_spawn spawn;")
	if (shape == "free") {
		line("uintptr_t key;")
		line("struct mpi_comm record;")
	}
	if (record_of() != "")
		line("struct mpi_comm *at;")
	else if ((shape == "call" || shape == "start") && !("message" in trait))
		line("struct mpi_comm *at = &mpi_comm_none;")
	line("int rc;\n")
}

# The real call without recording; some shapes do their bookkeeping all the same.
function pass()
{
	open_block("if (entry != COLLECT_RECORD)")
	if (wanted() != "") {
		open_block("if (entry == COLLECT_NESTED || !" wanted() " || !collect_enter_quietly(caller))")
		pass_line()
		passed_line()
		close_block()
		door_arguments()
		quiet = 1
		body()
		quiet = 0
		line("collect_leave(caller);")
		leave_line()
	} else {
		pass_line()
		if (shape == "finalize")
			line("mpi_finished();")
		passed_line()
	}
	close_block()
}

function wrapper()
{
	door_open()
	variables()
	if (shape == "init") {
		line("mpi_init_begin(&t, " op ");")
		call_line()
		line("mpi_init_end(COLLECT_CALLER, &t, rc);")
	} else if (shape == "forget") {
		# before: another thread may reuse the handle as soon as it is free; after: a thread may have
		# asked for its size meanwhile
		line("atomic_fetch_add_explicit(&mpi_type_epoch, 1, memory_order_release);")
		call_line()
		line("atomic_fetch_add_explicit(&mpi_type_epoch, 1, memory_order_release);")
	} else {
		if (record_of() != "")
			line("at = " record_of() ";")
		line("entry = collect_enter(caller, " classes() ", CHANNEL_" channel ");")
		pass()
		door_arguments()
		body()
	}
	leave_line()
	door_close()
}

# The arguments of MPI-4's variant for counts beyond int: MPI_X_c.
function large_arguments(text,    part, n, i, out)
{
	n = split(text, part, /, */)
	for (i = 1; i <= n; i++) {
		if (part[i] ~ /^int [a-z_]*count$/ || part[i] == "int *size" || part[i] ~ /^const int [a-z_]*counts\[\]$/)
			sub(/int/, "MPI_Count", part[i])
		else if (part[i] ~ /^const int [a-z_]*displs\[\]$/ || part[i] == "int disp_unit")
			sub(/int/, "MPI_Aint", part[i])
		out = out (i > 1 ? ", " : "") part[i]
	}
	return out
}

# A function that not every MPI has.
function guarded(condition)
{
	guard = condition
	if (guard != "")
		print "\n#if " guard
	wrappers()
	if (guard != "")
		print "#endif"
	guard = ""
}

# The functions of a row: its own, that of earlier MPIs, and the one for large counts.
function functions(    own)
{
	own = name
	guarded(("since" in trait) ? "MPI_VERSION >= " trait["since"] : "")
	if ("before" in trait) {
		name = trait["before"]
		guarded("MPI_VERSION < " trait["since"] " && defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)")
	}
	if ("large" in trait) {
		name = own "_c"
		args = large_arguments(args)
		guarded("MPI_VERSION >= 4")
	}
}

# Writes the function @resolve, which looks up all that wrappers call; @prefix makes PMPI names.
function resolver(resolve, prefix,    i)
{
	print "\nvoid " resolve "(void)\n{"
	line("static const struct {")
	line("\tconst char *name;")
	line("\tvoid *real;")
	line("} all[] = {")
	for (i = 1; i <= n; i++) {
		if (guards[i] != guards[i - 1])
			print (guards[i - 1] == "" ? "" : "#endif\n") (guards[i] == "" ? "" : "#if " guards[i])
		line("\t{ \"" prefix doors[i] "\", &real_" doors[i] " },")
	}
	if (guards[n] != "")
		print "#endif"
	line("};\n")
	line("for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {")
	line("\tvoid *real = evspace_door_next(all[i].name);\n")
	line("\tif (real)")
	line("\t\t*(void **)all[i].real = real;")
	line("}")
	print "}"
}

BEGIN {
	print "/* Generated from tree/data/ops.tab by node-agent/collect/gen/mpi.awk. */"
	print "#include \"node-agent/collect/mpi/mpi-calls.h\""
	print "#include \"node-agent/collect/mpi/mpi-process.h\""
	print "#include \"node-agent/collect/mpi/mpi-request.h\""
	print "#include \"node-agent/collect/mpi/mpi-process.h\""
	print "#include \"node-agent/collect/mpi/mpi-wait.h\""
	print "#include \"tree/data/op-table.h\""
	print "#if MPI_VERSION < 4 && defined(OPEN_MPI)"
	print "#include <mpi-ext.h>"
	print "#endif"
	door_begin()
}

/^[ \t]*(#|$)/ { next }
$2 !~ /^MPI_/ { next }

{
	row_read()
	row_signature()
	op = "OP_" toupper(name)
	functions()
}

END {
	if (failed)
		exit 1
	door_end()
}
