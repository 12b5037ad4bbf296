# SPDX-License-Identifier: BSD-3-Clause
# The C door: wrappers of MPI_X that call the real one, for mpi.awk.

function door_begin() {}

# The function that programs call. What is not on the fast path is in a function of its own.
function wrappers()
{
	unresolved()
	if (is_swift()) {
		frame = "\nstatic __attribute__((noinline)) int slow_"
		came = 1
		wrapper()
		came = 0
		frame = "\nint "
		swift_wrapper()
	} else {
		frame = "int "
		wrapper()
	}
	doors[++n] = name
	guards[n] = guard
}

function unresolved()
{
	print "\nstatic int late_" name "(" args ");"
	print "static int (*real_" name ")(" args ") = late_" name ";\n"
	print "static int late_" name "(" args ")\n{"
	line("mpi_wrappers_resolve();")
	line("return real_" name " == late_" name " ? MPI_ERR_INTERN : " real() ";")
	print "}\n"
}

# Frequent shapes have a fast path: for an idle thread whose class is traced, on the communicator
# that it has used last.
function is_swift()
{
	return shape ~ /^(call|collect|exchange|receive|start|start_all|test)$/ && !("message" in trait)
}

function swift_wrapper()
{
	swift = 1
	door_open()
	variables()
	ways()
	line("collect_swift_enter(caller);")
	if (late() == "") {
		line("if (!collect_swift_room(CHANNEL_" channel ")) {")
		line("\tcollect_swift_leave();")
		line("\treturn slow_" name "(caller, " names_of() ");")
		line("}")
	}
	body()
	leave_line()
	door_close()
	swift = 0
}

# The path of a call: the fast one goes on here, and calls nothing but the real function, so that
# few registers need be saved.
function ways(    key, on, type, i)
{
	key = record_of()
	on = "collect_none"
	if (key != "") {
		gsub(/^mpi_comm_at\(|\)$/, "", key)
		on = "at->classes"
		line("at = mpi_comm_last.at;")
		slowly("!mpi_comm_is_last(" key ")")
	}
	for (i = 1; i <= 2; i++) {
		type = type_of(i == 1 ? "bytes" : "bytes2")
		if (type != "")
			slowly("!mpi_type_is_known(" type ")")
	}
	if ("reduction" in trait)
		slowly("!mpi_op_is_known(" trait["reduction"] ")")
	if (shape == "test")
		slowly("!mpi_test_is_late(" trait["n"] ", " place("requests") ")")
	line("way = collect_way(&" on ", CHANNEL_" channel ");")
	if (wanted() == "") {
		line("if (way == COLLECT_NOT)")
		line("\treturn " real() ";")
	}
	slowly("way != COLLECT_SWIFTLY")
}

function slowly(condition)
{
	line("if (__builtin_expect(" condition ", 0))")
	line("\treturn slow_" name "(caller, " names_of() ");")
}

function door_open()
{
	print frame name "(" (came ? "struct collect_caller caller, " : "") args ")\n{"
}

function door_close()
{
	print "}"
}

# The expression of the real call, with the program's argument @from replaced by @to if given.
function real(from, to)
{
	return "real_" name "(" names_of(from, to) ")"
}

# The real call, as a statement.
function call_line(from, to)
{
	line("rc = " real(from, to) ";")
}

# C needs no conversions, neither before the real call nor after it.
function door_arguments() {}
function door_results() {}

# The real call with the program's arguments, for calls that are not recorded.
function pass_line()
{
	call_line()
}

function passed_line()
{
	leave_line()
}

function leave_line()
{
	line("return rc;")
}

# The handle of trait @key, and where the program keeps it.
function handle(key,    what)
{
	what = trait[key]
	# an invalid address is left to the real call to report
	return sub(/^\*/, "", what) ? "(" what " ? *" what " : 0)" : what
}

function place(key)
{
	return "mpi_place_c(" trait[key] ")"
}

function status(key)
{
	return trait[key]
}

# Index of the first element of an array.
function first_index()
{
	return "0"
}

function door_end()
{
	resolver("mpi_wrappers_resolve", "P")
}
