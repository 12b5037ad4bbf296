# SPDX-License-Identifier: BSD-3-Clause
# Makes mpi-door.c of ops.tab: for each function of MPI the names that programs call, in C and
# Fortran, with and without P. They just jump on; door.c says where to. Handles are numbers in one
# MPI and addresses in another: to a jump all arguments are words. Rows: row.awk, mpi-row.awk.

# "a1, a2, a3", or with @what before each: "word a1, word a2, word a3"
function words(n, what,    i, out)
{
	for (i = 1; i <= n; i++)
		out = out (i > 1 ? ", " : "") what "a" i
	return out
}

function add(name, n)
{
	if (name in length_of)
		return
	length_of[name] = n
	quiet_of[name] = is_quiet() ? "CHANNEL_" channel : ""
	names[++count] = name
}

# By name, for door.c to find them (insertion sort).
function sort(    i, j, name)
{
	for (i = 2; i <= count; i++) {
		name = names[i]
		for (j = i - 1; j > 0 && names[j] > name; j--)
			names[j + 1] = names[j]
		names[j + 1] = name
	}
}

function jump(type, name, n, to)
{
	print type " " name "(" (n ? words(n, "word ") : "void") ")\n{"
	print "\treturn ((call" n " *)" to ")(" words(n) ");"
	print "}"
}

function way(i,    name, n, type)
{
	name = names[i]
	n = length_of[name]
	if (!(n in declared)) {
		print "\ntypedef word call" n "(" (n ? words(n, "word ") : "void") ");"
		declared[n] = 1
	}
	i--
	print "\n/* " substr(name, 2) " */"
	jump("static word", "find_" i, n, "door_find(" i ")")
	jump("static word", "find_profiling_" i, n, "door_find_profiling(" i ")")
	jump("static word", "inner_" i, n, "(door_inner((uintptr_t)__builtin_dwarf_cfa()) ? door_ways[" i "].wrapper : door_ways[" i "].real)")
	print "static word onward_" i "(" (n ? words(n, "word ") : "void") ")\n{"
	print "\tcall" n " *to = door_onward(&door_ways[" i "]);"
	print "\tword rc = to(" words(n) ");\n"
	print "\tcollect_self.place = DOOR_OUTSIDE;"
	print "\treturn rc;"
	print "}"
	type = "__attribute__((visibility(\"default\"))) word"
	print type " " substr(name, 2) "(" (n ? words(n, "word ") : "void") ");"
	print type " " name "(" (n ? words(n, "word ") : "void") ");"
	if (quiet_of[name] != "") {
		print "word " substr(name, 2) "(" (n ? words(n, "word ") : "void") ")\n{"
		print "\tif (door_is_quiet(" quiet_of[name] "))"
		print "\t\treturn ((call" n " *)door_ways[" i "].quiet)(" words(n) ");"
		print "\treturn ((call" n " *)door_ways[" i "].enter)(" words(n) ");"
		print "}"
	} else {
		jump("word", substr(name, 2), n, "door_ways[" i "].enter")
	}
	jump("word", name, n, "door_ways[" i "].profiling")
}

# The names of @own in C and in Fortran, which adds the error code and the lengths of texts.
function function_of(own,    text, n, part, fortran)
{
	text = args
	n = text == "void" ? 0 : split(text, part, ",")
	add("P" own, n)
	fortran = "p" tolower(own)
	if (text ~ /^int \*argc, char \*\*\*argv/)
		n -= 2
	else
		n += gsub(/(^|[^a-z])char[^a-z]/, "", text)
	add(fortran "_", n + 1)
	add(fortran "_f08_", n + 1)
	if (own ~ /^MPI_Win_(allocate|shared_query)/)
		add(fortran "_cptr_", n + 1)
}

/^[ \t]*(#|$)/ { next }
$2 !~ /^MPI_/ { next }

{
	row_read()
	function_of(name)
	if ("before" in trait)
		function_of(trait["before"])
	if ("large" in trait)
		add("P" name "_c", split(args, part, ","))
}

END {
	if (failed)
		exit 1
	print "/* Generated from tree/data/ops.tab by node-agent/collect/gen/mpi-door.awk. */"
	print "#include \"node-agent/collect/core/door.h\""
	print "\n/* A frame of ours would hide from where the program calls. */"
	print "#pragma GCC optimize(\"O2\", \"optimize-sibling-calls\")"
	print "\n/* As wide as a register: whatever an argument is, it passes as it is. */"
	print "typedef uintptr_t word;"
	sort()
	for (i = 1; i <= count; i++)
		way(i)
	print "\nstruct door_way door_ways[] = {"
	for (i = 1; i <= count; i++)
		print "\t{\"" names[i] "\", find_" (i - 1) ", find_" (i - 1) ", find_profiling_" (i - 1) \
			", inner_" (i - 1) ", onward_" (i - 1) ", NULL, NULL, NULL, NULL},"
	print "};"
	print "const unsigned door_ways_n = " count ";"
}
