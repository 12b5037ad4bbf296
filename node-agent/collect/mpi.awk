# SPDX-License-Identifier: BSD-3-Clause
# Makes mpi-wrappers.c of ops.tab: one wrapper for each row, by its shape.

function fail(text)
{
	printf "%s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"
	failed = 1
	exit 1
}

# The names of C arguments: "int *argc, char ***argv" -> "argc, argv"; @from is called @to.
function names_of(args, from, to,    part, n, i, name, out)
{
	if (args == "void")
		return ""
	n = split(args, part, /, */)
	for (i = 1; i <= n; i++) {
		name = part[i]
		gsub(/\[\]/, "", name)
		sub(/^.*[ *]/, "", name)
		out = out (i > 1 ? ", " : "") (name == from ? to : name)
	}
	return out
}

function expression(key, otherwise)
{
	return (key in trait) ? trait[key] : otherwise
}

function line(text)
{
	print "\t" text
}

# The real call, with the program's status replaced by @status ("": as it is).
function call(status)
{
	line("rc = real_" name "(" names_of(args, status == "" ? "" : trait[status], status == "" ? "" : "where") ");")
	line("collect_stamp(&t);")
}

function variables()
{
	if (shape == "forget") {
		line("int rc;\n")
		return
	}
	if (shape != "test")
		line("struct tuple t;")
	if (shape != "init")
		line("enum collect_entry entry;")
	if (shape == "restart" || shape == "drop")
		line("struct mpi_start s;")
	if (shape == "wait" || shape == "test") {
		line("struct mpi_wait w;")
		line("struct mpi_wait_answer answer;")
		line("MPI_Status own" (("statuses" in trait) ? "[MPI_OWN_STATUSES]" : "") ", *where;")
	} else if ("status" in trait) {
		line("MPI_Status own, *where = mpi_status(" trait["status"] ", &own);")
	}
	if (shape == "receive" || (shape == "start" && ("message" in trait)))
		line("struct mpi_ranks ranks;")
	if (shape == "free") {
		line("MPI_Comm handle;")
		line("struct mpi_comm record;")
	}
	if ("comm" in trait)
		line("struct mpi_comm *at;")
	else if (shape == "probe")
		line("struct mpi_comm *at = mpi_comm_find(NULL);")
	line("int rc;\n")
}

function wrapper(    pass)
{
	pass = "real_" name "(" names_of(args) ")"
	print "\nstatic int late_" name "(" args ");"
	print "static int (*real_" name ")(" args ") = late_" name ";\n"
	print "static int late_" name "(" args ")\n{"
	line("mpi_wrappers_resolve();")
	line("return real_" name " == late_" name " ? MPI_ERR_INTERN : " pass ";")
	print "}\n"
	print "int " name "(" args ")\n{"
	variables()
	if (shape == "init") {
		line("mpi_init_begin(&t, OP_" toupper(name) ");")
		line("rc = " pass ";")
		line("mpi_init_end(&t, rc);")
	} else if (shape == "forget") {
		# before: the handle may be another thread's as soon as it is free; after: it may have been asked for
		line("atomic_fetch_add_explicit(&mpi_type_epoch, 1, memory_order_release);")
		line("rc = " pass ";")
		line("atomic_fetch_add_explicit(&mpi_type_epoch, 1, memory_order_release);")
	} else {
		if ("comm" in trait)
			line("at = mpi_comm_at(" trait["comm"] ");")
		line("entry = collect_enter(" classes() ", CHANNEL_" channel ");")
		line("if (entry != COLLECT_RECORD) {")
		line("\trc = " pass ";")
		if (shape == "finalize")
			line("\tmpi_finished();")
		line("\treturn rc;")
		line("}")
		body()
	}
	line("return rc;")
	print "}"
}

BEGIN {
	print "/* Generated from tree/ops.tab by node-agent/collect/mpi.awk. */"
	print "#include \"node-agent/collect/mpi-calls.h\""
	print "#include \"node-agent/collect/mpi-process.h\""
	print "#include \"node-agent/collect/mpi-start.h\""
	print "#include \"node-agent/collect/mpi-wait.h\""
	print "#include \"tree/op-table.h\""
}

/^[ \t]*(#|$)/ { next }
$2 !~ /^MPI_/ { next }

{
	bar = index($0, "|")
	if (!bar)
		fail("no \"|\" with the C arguments behind it")
	args = substr($0, bar + 1)
	gsub(/^ +| +$/, "", args)
	name = $2
	channel = toupper($3)
	shape = $4
	for (key in trait)
		delete trait[key]
	for (i = 5; i <= NF && $i != "|"; i++) {
		equals = index($i, "=")
		if (equals)
			trait[substr($i, 1, equals - 1)] = substr($i, equals + 1)
		else
			trait[$i] = ""
	}
	wrapper()
	all[++n] = name
}

END {
	if (failed)
		exit 1
	print "\nvoid mpi_wrappers_resolve(void)\n{"
	line("static const struct {")
	line("\tconst char *name;")
	line("\tvoid *real;")
	line("} all[] = {")
	for (i = 1; i <= n; i++)
		line("\t{ \"P" all[i] "\", &real_" all[i] " },")
	line("};\n")
	line("for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {")
	line("\tvoid *real = mpi_library_next(all[i].name);\n")
	line("\tif (real)")
	line("\t\t*(void **)all[i].real = real;")
	line("}")
	print "}"
}
