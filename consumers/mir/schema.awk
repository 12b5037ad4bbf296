# SPDX-License-Identifier: BSD-3-Clause
# Makes a C string of the schema of MIR.

BEGIN {
	print "/* Made by consumers/mir/schema.awk. */"
	print "static const char mir_schema[] ="
}

{
	gsub(/\\/, "&&")
	gsub(/"/, "\\\\&")
	gsub(/\t/, "")
	printf "\t\"%s\\n\"\n", $0
}

END {
	print "\t;"
}
