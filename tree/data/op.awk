# SPDX-License-Identifier: BSD-3-Clause
# Makes op-table.h of ops.tab: the operations' numbers as an enum, and lists of them and of the kinds of stages.

function fail(text)
{
	printf "%s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"
	failed = 1
	exit 1
}

BEGIN {
	split("p2p collective wait completion comm env rma io user pack gather hop stage cpu", names, " ")
	for (i in names)
		channels[names[i]] = 1
}

/^[ \t]*(#|$)/ { next }
$1 == "-" { next } # wrapped, but not recorded

{
	if ($1 !~ /^[1-9][0-9]*$/ || $1 + 0 > 65535)
		fail("\"" $1 "\" is not an operation number; they are 1 to 65535")
	if (($1 + 0) in taken)
		fail("number " $1 " is taken by " taken[$1 + 0])
	if ($2 !~ /^[A-Za-z_][A-Za-z0-9_]*$/ || ($2 in numbers))
		fail("\"" $2 "\" is not a name, or is there twice")
	if (!($3 in channels))
		fail("there is no channel \"" $3 "\"")
	taken[$1 + 0] = $2
	numbers[$2] = $1
	sync = 0
	for (i = 5; i <= NF && $i != "|"; i++)
		if ($i == "sync")
			sync = 1
	# all of a communicator, window or file take part: mpi-shapes.awk numbers these
	all = $2 ~ /^MPI_/ && $4 ~ /^(collect|start_all|prepare_all|transfer_all|split|make|start_make|spawn|free)$/
	# of these, all but those that only the members of a group make, or processes alone
	numbered = all && $0 !~ / (how=GROUP|comm=mpi\.[a-z]+) /
	# one count and datatype for all buffers are those of all members; of neighbours each pair has its own
	alike = !all || $3 != "collective" || $2 ~ /[Nn]eighbor_|lltoallw/ ? "NOT" : / bytes=[a-z_]+\(count,datatype[,)]/ ? "BYTES" : "TYPE"
	if ($4 == "stage")
		stages = stages " \\\n\tKIND(" substr($2, length("evspace_") + 1) ")"
	n++
	id[n] = "OP_" toupper($2)
	row[n] = sprintf("\"%s\", CHANNEL_%s, %d, %d, %d, %s", $2, toupper($3), sync, all, numbered, "OP_ALIKE_" alike)
	number[n] = $1
}

END {
	if (failed)
		exit 1
	print "/* Generated from tree/data/ops.tab by tree/data/op.awk. */"
	print "#ifndef EVSPACE_OP_TABLE_H\n#define EVSPACE_OP_TABLE_H\n"
	print "/** Operation numbers. */\nenum op {\n\tOP_NONE = 0,"
	for (i = 1; i <= n; i++)
		printf "\t%s = %s,\n", id[i], number[i]
	print "};\n"
	print "/** ROW(number, name, channel, synchronizes, collective, numbered, alike) for every operation. */"
	printf "#define OP_TABLE(ROW)"
	for (i = 1; i <= n; i++)
		printf " \\\n\tROW(%s, %s)", id[i], row[i]
	print "\n\n/** KIND(kind) for every kind of stage. */"
	printf "#define STAGE_TABLE(KIND)%s", stages
	print "\n\n#endif"
}
