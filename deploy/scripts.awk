# SPDX-License-Identifier: BSD-3-Clause
# Makes C strings of the scripts that `evspace deploy` sends: deploy_host of deploy/host, and so on.

function finish() {
	if (name)
		print "\t;"
}

BEGIN {
	print "/* Made by deploy/scripts.awk. */"
}

FNR == 1 {
	finish()
	name = FILENAME
	sub(/.*\//, "", name)
	printf "static const char deploy_%s[] =\n", name
}

{
	gsub(/\\/, "&&")
	gsub(/"/, "\\\\&")
	gsub(/\t/, "\\t")
	printf "\t\"%s\\n\"\n", $0
}

END {
	finish()
}
