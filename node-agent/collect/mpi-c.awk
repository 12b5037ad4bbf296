# SPDX-License-Identifier: BSD-3-Clause
# The C door: wrappers of MPI_X that call the real one, for mpi.awk.

function door_begin() {}

# The name by which programs call a function: one. What it does is in functions of their own: what
# is off then costs a question and a jump, and what is traced asks nothing more.
function wrappers()
{
	late()
	if (shape ~ /^(init|forget|abort|finalize)$/ || !is_swift() && wanted() != "") {
		frame = "int "
		wrapper()
	} else {
		frame = "\nstatic __attribute__((noinline)) int slow_"
		wrapper()
		frame = "\nstatic __attribute__((noinline)) int swift_"
		if (is_swift())
			swift_wrapper()
		frame = "\nint "
		ways()
	}
	doors[++n] = name
	guards[n] = guard
}

function late()
{
	print "\nstatic int late_" name "(" args ");"
	print "static int (*real_" name ")(" args ") = late_" name ";\n"
	print "static int late_" name "(" args ")\n{"
	line("mpi_wrappers_resolve();")
	line("return real_" name " == late_" name " ? MPI_ERR_INTERN : " real() ";")
	print "}\n"
}

# Which way a call goes.
function ways(    key, classes_at)
{
	key = record_of()
	classes_at = "&collect_none"
	door_open()
	line("enum collect_way way;\n")
	if (key != "") {
		gsub(/^mpi_comm_at\(|\)$/, "", key)
		classes_at = "&mpi_comm_last.at->classes"
		line("if (!mpi_comm_is_last(" key "))")
		line("\treturn slow_" name "(" names_of() ");")
	}
	if (shape == "test") {
		line("if (__builtin_expect(!mpi_test_is_late(" trait["n"] "), 0))")
		line("\treturn slow_" name "(" names_of() ");")
	}
	line("way = collect_way(" classes_at ", CHANNEL_" channel ");")
	if (is_swift()) {
		line("if (__builtin_expect(way == COLLECT_SWIFTLY, 1))")
		line("\treturn swift_" name "(" names_of() ");")
	}
	if (wanted() == "") {
		line("if (way == COLLECT_NOT)")
		line("\treturn " real() ";")
	}
	line("return slow_" name "(" names_of() ");")
	door_close()
}

function door_open()
{
	print frame name "(" args ")\n{"
}

function door_close()
{
	print "}"
}

# The value of the real call, with the program's argument @from replaced by @to if there is one.
function real(from, to)
{
	return "real_" name "(" names_of(from, to) ")"
}

# The real call, as a statement.
function call_line(from, to)
{
	line("rc = " real(from, to) ";")
}

# Nothing is to be converted, neither before the real call nor after it.
function door_arguments() {}
function door_results() {}

# The program's own call, when nothing is done around it.
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

# The handle that trait @key means, and where the program keeps it.
function handle(key)
{
	return trait[key]
}

function place(key)
{
	return "mpi_place_c(" trait[key] ")"
}

function status(key)
{
	return trait[key]
}

# What the first of an array has for an index.
function first_index()
{
	return "0"
}

function door_end()
{
	resolver("mpi_wrappers_resolve", "P")
}
