# SPDX-License-Identifier: BSD-3-Clause
# Makes what tests/apps/fcalls.c and fcalls.F90 include of fcalls.tab: the same calls in C (-v door=c),
# and in Fortran as mpif.h and "use mpi" want them (-v door=old), or mpi_f08 (-v door=f08).

function indented(text)
{
	printf "%*s%s\n", depth * 8, "", text
}

# What stands for itself in C, but for texts.
function c_of(args)
{
	gsub(/'/, "\"", args)
	gsub(/[{}]/, "", args)
	gsub(/YES/, "1", args)
	gsub(/NO,/, "0,", args)
	return args
}

function fortran_of(args)
{
	gsub(/{[^}]*}/, "", args)
	gsub(/&/, "", args)
	gsub(/\[/, "(1 + ", args)
	gsub(/\]/, ")", args)
	gsub(/YES/, ".true.", args)
	gsub(/NO,/, ".false.,", args)
	gsub(/MPI_INT,/, "MPI_INTEGER,", args)
	return args
}

# "MPI_Send(buf, 1)" -> name, args; whether it is a call of MPI, and its error is looked at.
function call_read(text)
{
	is_asked = sub(/ \?$/, "", text)
	is_mpi = text ~ /^MPI_/
	name = substr(text, 1, index(text, "(") - 1)
	args = substr(text, index(text, "(") + 1)
	sub(/\)$/, "", args)
}

function c_line(text)
{
	if (text == "end" || text == "else") {
		depth--
		indented(text == "end" ? "}" : "} else {")
	} else if (text ~ /^if /) {
		indented("if (" substr(text, 4) ") {")
	} else if (text ~ /^loop until /) {
		loops_until = substr(text, 12)
		indented(loops_until " = 0;")
		indented("while (!" loops_until ") {")
	} else if (text ~ /^loop /) {
		indented("for (int k = 0; k < " substr(text, 6) "; k++) {")
	} else {
		call_read(text)
		indented((is_mpi ? "ierror = " name : "say_" name) "(" c_of(args) ");")
	}
	if (text ~ /^(if|loop|else)/)
		depth++
}

function fortran_line(text)
{
	if (text == "end" || text == "else") {
		depth--
		indented(text == "end" ? "end " block[depth] : text)
	} else if (text ~ /^if /) {
		text = substr(text, 4)
		sub(/!=/, "/=", text)
		indented("if (" text ") then")
		block[depth++] = "if"
	} else if (text ~ /^loop until flag/) {
		indented("flag = .false.")
		indented("do while (.not. flag)")
		block[depth++] = "do"
	} else if (text ~ /^loop until /) {
		indented(substr(text, 12) " = 0")
		indented("do while (" substr(text, 12) " == 0)")
		block[depth++] = "do"
	} else if (text ~ /^loop /) {
		indented("do k = 0, " substr(text, 6) " - 1")
		block[depth++] = "do"
	} else {
		call_read(text)
		args = fortran_of(args)
		# mpi_f08's error is optional: every other call is without
		if (is_mpi && (door != "f08" || is_asked || ++lines % 2))
			args = args (args == "" ? "" : ", ") "ierror"
		indented("call " (is_mpi ? name : "say_" name) "(" args ")")
	}
	if (text == "else")
		depth++
}

BEGIN { depth = 1 }

/^[ \t]*(#|$)/ { next }

{
	gsub(/^[ \t]+/, "")
	if (door == "c")
		c_line($0)
	else
		fortran_line($0)
}
