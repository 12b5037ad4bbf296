# SPDX-License-Identifier: BSD-3-Clause
# The Fortran doors, for mpi.awk: wrappers of mpi_x_ (mpif.h, use mpi) and mpi_x_f08_ (use mpi_f08)
# that call the real ones with the program's own arguments. What the shapes need of these is
# converted: C variables with the names of the C arguments are made of f_NAME.
#
# -v library=mpich: there the Fortran library calls MPI_X, which is seen, but for mpi_f08's
# functions without choice buffers: these call PMPI_X.

# The kind of an argument: its C type without the name, "const" and blanks.
function kind_of(text,    array)
{
	array = text ~ /\[\]$/ ? "[]" : ""
	sub(/[a-z_0-9]*(\[\])?$/, "", text)
	sub(/^const /, "", text)
	gsub(/ /, "", text)
	return text array
}

function split_arguments(    text, i)
{
	text = args
	# Fortran's function takes no command line
	if (shape == "init")
		sub(/^int \*argc, char \*\*\*argv(, )?/, "", text)
	arguments = (text == "void") ? 0 : split(text, argument, /, */)
	for (i = 1; i <= arguments; i++) {
		what[i] = argument_name(argument[i])
		kind[i] = kind_of(argument[i])
	}
}

# What a pointer to an argument points to.
function fortran_type(i)
{
	if (kind[i] ~ /^(int|MPI_(Comm|Datatype|File|Group|Info|Message|Op|Request|Win))(\*|\[\])?$/)
		return "MPI_Fint"
	if (kind[i] ~ /^MPI_(Aint|Count|Offset)(\*|\[\])?$/) {
		sub(/(\*|\[\])$/, "", kind[i])
		return kind[i]
	}
	return (kind[i] ~ /^char/) ? "char" : "void"
}

# Arguments, or with @named their names; hidden lengths of texts come last.
function fortran_arguments(named, from, to,    i, out, lengths)
{
	for (i = 1; i <= arguments; i++) {
		out = out (named ? (what[i] == from ? to : "f_" what[i]) : fortran_type(i) " *f_" what[i]) ", "
		if (kind[i] ~ /^char/)
			lengths = lengths ", " (named ? "" : "size_t ") "length_" what[i]
	}
	return out (named ? named : "MPI_Fint *f_error") lengths
}

# Functions that do not exist, or that are seen when the library calls MPI_X.
function is_passed()
{
	if (name ~ /_c$/)
		return 1
	if (library != "mpich")
		return 0
	return args ~ /void \*/ && args !~ /\*(baseptr|extra_state)/ && name != "MPI_Buffer_detach"
}

# The names of one function of MPI: the doors that it can be called by.
function wrappers(    own, count, i, suffix)
{
	if (is_passed())
		return
	own = name
	# arrays of datatypes are not converted
	if (expression("bytes", "") ~ /^mpi_bytes_[a-z]*_w\(/)
		sub(/^mpi_/, "mpi_fortran_", trait["bytes"])
	split_arguments()
	count = split(library == "mpich" ? "_f08_" : "_f08_ _" (own ~ /^MPI_Win_allocate/ ? " _cptr_" : ""), suffix, " ")
	for (i = 1; i <= count; i++) {
		name = tolower(own) suffix[i]
		wrapper()
	}
	name = own
}

function door_begin()
{
	print "#include \"node-agent/collect/mpi/mpi-fortran.h\"\n"
	print "#define EXPORT __attribute__((visibility(\"default\")))"
}

function door_open()
{
	print "\nstatic void late_" name "(" fortran_arguments("") ");"
	print "static void (*real_" name ")(" fortran_arguments("") ") = late_" name ";\n"
	print "static void late_" name "(" fortran_arguments("") ")\n{"
	line("mpi_fortran_resolve();")
	line("if (real_" name " != late_" name ")")
	line("\treal_" name "(" fortran_arguments("f_error") ");")
	line("else if (f_error)")
	line("\t*f_error = MPI_ERR_INTERN;")
	print "}\n"
	print "EXPORT void " name "(" fortran_arguments("") ");"
	print "void " name "(" fortran_arguments("") ")\n{"
}

function door_close()
{
	print "}"
	doors[++n] = name
	guards[n] = guard
}

# The real call, with the program's argument @from replaced by the C variable @to if given.
function call_line(from, to)
{
	line("real_" name "(" fortran_arguments("&rc", from, "mpi_fortran_where(" to ", f_" from ")") ");")
}

# The real call with the program's arguments, for calls that are not recorded.
function pass_line()
{
	line("real_" name "(" fortran_arguments("f_error") ");")
}

function passed_line()
{
	line("return;")
}

function leave_line()
{
	line("if (f_error)")
	line("\t*f_error = rc;")
	line("return;")
}

# The position of the argument in the expression @text, with or without a star; 0: none.
function argument_of(text,    i)
{
	sub(/^\*/, "", text)
	for (i = 1; i <= arguments; i++)
		if (what[i] == text)
			return i
	return 0
}

# "MPI_Comm*" -> "Comm", "int" -> ""
function handle_kind(i,    text)
{
	if (kind[i] !~ /^MPI_(Comm|Datatype|File|Message|Request|Win)(\*|\[\])?$/)
		return ""
	text = kind[i]
	gsub(/^MPI_|\*|\[\]/, "", text)
	return text == "Datatype" ? "Type" : text
}

function handle(key,    i)
{
	i = argument_of(trait[key])
	return i ? "mpi_fortran_" tolower(handle_kind(i)) "(f_" what[i] ")" : trait[key]
}

function place(key)
{
	return "mpi_place_" (library == "mpich" ? "c" : "fortran") "(f_" trait[key] ")"
}

function status(key)
{
	return "mpi_fortran_status(f_" trait[key] ")"
}

function first_index()
{
	return "MPI_FORTRAN_FIRST"
}

# Is argument @i used in the expressions of the shape?
function is_used(i,    key)
{
	for (key in trait)
		if ((" " trait[key] " ") ~ ("[^a-z_0-9]" what[i] "[^a-z_0-9]"))
			return 1
	return 0
}

# Does the real call set the handle, which the shape then uses?
function is_result(i)
{
	return kind[i] ~ /\*$/ && (expression("new", "") == what[i] || expression("found", "") == what[i])
}

function door_arguments(    i, type, x)
{
	for (i = 1; i <= arguments; i++) {
		x = what[i]
		if (!is_used(i))
			continue
		type = kind[i]
		if (type ~ /^MPI_(Aint|Count|Offset)$/ || type == "int")
			line("const " type " " x " = *f_" x ";")
		else if (type == "int*" || type == "int[]")
			line("const int *" x " = f_" x ";")
		else if (type == "MPI_Datatype[]")
			line("const MPI_Fint *" x " = f_" x ";")
		else if (type ~ /^void/)
			line("const void *" x " = mpi_fortran_buffer(f_" x ");")
		else if (is_result(i) && shape != "start_make")
			line("MPI_" handle_kind(i) " c_" x " = (MPI_" handle_kind(i) ")0, *" x " = &c_" x ";")
		else if (type == "MPI_Message*")
			line("MPI_Message c_" x " = MPI_F2C(Message, *f_" x "), *" x " = &c_" x ";")
		else if (type == "char*")
			line("char c_" x "[MPI_FORTRAN_TEXT]; const char *" x " = mpi_fortran_text(c_" x ", f_" x ", length_" x ");")
		else if (type == "MPI_Datatype")
			line("const MPI_Datatype " x " = MPI_F2C(Type, *f_" x ");")
		else if (type == "MPI_Op")
			line("const MPI_Op " x " = MPI_F2C(Op, *f_" x ");")
	}
}

function door_results(    i)
{
	for (i = 1; i <= arguments; i++)
		if (is_result(i) && shape != "start_make") {
			line("if (rc == MPI_SUCCESS)")
			line("\tc_" what[i] " = MPI_F2C(" handle_kind(i) ", *f_" what[i] ");")
		}
}

function door_end()
{
	resolver("mpi_fortran_resolve", "p")
}
