# SPDX-License-Identifier: BSD-3-Clause
# Makes a C string called NAME of a file, without tabs: awk -v NAME=... -f text.awk FILE.

BEGIN {
	print "/* Made by consumers/cli/text.awk. */"
	print "static const char " NAME "[] ="
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
