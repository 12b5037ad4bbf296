# SPDX-License-Identifier: BSD-3-Clause
# Makes mpi-door.c of ops.tab: for each function of MPI the names that programs call, in C and
# Fortran, with and without P. They just jump on; door.c says where to. Handles are numbers in one
# MPI and addresses in another: to a jump all arguments are words.

# "a1, a2, a3", or with @what in front of each: "word a1, word a2, word a3"
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
	jump("static word", "inner_" i, n, "(door_inner() ? door_ways[" i "].wrapper : door_ways[" i "].real)")
	print "static word onward_" i "(" (n ? words(n, "word ") : "void") ")\n{"
	print "\tcall" n " *to = door_onward(&door_ways[" i "]);"
	print "\tword rc = to(" words(n) ");\n"
	print "\tdoor_place = DOOR_OUTSIDE;"
	print "\treturn rc;"
	print "}"
	type = "__attribute__((visibility(\"default\"))) word"
	print type " " substr(name, 2) "(" (n ? words(n, "word ") : "void") ");"
	print type " " name "(" (n ? words(n, "word ") : "void") ");"
	jump("word", substr(name, 2), n, "door_ways[" i "].enter")
	jump("word", name, n, "door_ways[" i "].profiling")
}

# What is called @name in C, and in Fortran: there follow the error code, and the lengths of texts.
function function_of(name, args,    n, part, own)
{
	n = args ~ /^ *void *$/ ? 0 : split(args, part, ",")
	add("P" name, n)
	own = "p" tolower(name)
	if (args ~ /^ *int \*argc, char \*\*\*argv/)
		n -= 2
	else
		n += gsub(/(^|[^a-z])char[^a-z]/, "", args)
	add(own "_", n + 1)
	add(own "_f08_", n + 1)
	if (name ~ /^MPI_Win_(allocate|shared_query)/)
		add(own "_cptr_", n + 1)
}

/^[ \t]*(#|$)/ { next }
$2 !~ /^MPI_/ { next }

{
	args = substr($0, index($0, "|") + 1)
	function_of($2, args)
	for (i = 5; i <= NF && $i != "|"; i++)
		if ($i ~ /^before=/)
			function_of(substr($i, 8), args)
		else if ($i == "large")
			add("P" $2 "_c", split(args, part, ","))
}

END {
	print "/* Generated from tree/ops.tab by node-agent/collect/mpi-door.awk. */"
	print "#include \"node-agent/collect/door.h\""
	print "\n/* A frame of ours would hide from where the program calls. */"
	print "#pragma GCC optimize(\"O2\", \"optimize-sibling-calls\")"
	print "\n/* As wide as a register: whatever an argument is, it passes as it is. */"
	print "typedef uintptr_t word;"
	sort()
	for (i = 1; i <= count; i++)
		way(i)
	print "\nstruct door_way door_ways[] = {"
	for (i = 1; i <= count; i++)
		print "\t{\"" names[i] "\", find_" (i - 1) ", find_profiling_" (i - 1) \
			", inner_" (i - 1) ", onward_" (i - 1) ", NULL, NULL, NULL},"
	print "};"
	print "const unsigned door_ways_n = " count ";"
}
