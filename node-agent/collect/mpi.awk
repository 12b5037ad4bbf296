# SPDX-License-Identifier: BSD-3-Clause
# Makes wrappers of ops.tab: one for each row, by its shape (mpi-shapes.awk), for the door that the
# program comes through: C (mpi-c.awk) or Fortran (mpi-fortran.awk).

function fail(text)
{
	printf "%s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"
	failed = 1
	exit 1
}

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

# The real call of one that is recorded, with @from replaced by @to, then the time.
function call(from, to)
{
	call_line(from, to)
	line("collect_stamp(&t);")
	door_results()
}

# The same of one that is in vain most times.
function call_untimed(from, to)
{
	call_line(from, to)
	door_results()
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
		line("struct mpi_comm *at = mpi_comm_find(mpi.comm_null);")
	line("int rc;\n")
}

function wrapper()
{
	door_open()
	variables()
	if (shape == "init") {
		line("mpi_init_begin(&t, OP_" toupper(name) ");")
		call_line()
		line("mpi_init_end(&t, rc);")
	} else if (shape == "forget") {
		# before: the handle may be another thread's as soon as it is free; after: it may have been asked for
		line("atomic_fetch_add_explicit(&mpi_type_epoch, 1, memory_order_release);")
		call_line()
		line("atomic_fetch_add_explicit(&mpi_type_epoch, 1, memory_order_release);")
	} else {
		if ("comm" in trait)
			line("at = mpi_comm_at(" handle("comm") ");")
		line("entry = collect_enter(" classes() ", CHANNEL_" channel ");")
		line("if (entry != COLLECT_RECORD) {")
		indent = "\t"
		call_line()
		if (shape == "finalize")
			line("mpi_finished();")
		leave_line()
		indent = ""
		line("}")
		door_arguments()
		body()
	}
	leave_line()
	door_close()
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
}

END {
	if (failed)
		exit 1
	door_end()
}
