# SPDX-License-Identifier: BSD-3-Clause
# Reads a row of ops.tab, for all generators: name, channel, shape, trait[], args.

function fail(text)
{
	printf "%s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"
	failed = 1
	exit 1
}

# A trait without a value is "".
function row_read(    bar, i, equals)
{
	bar = index($0, "|")
	if (!bar)
		fail("no \"|\" with the C arguments behind it")
	args = substr($0, bar + 1)
	gsub(/^ +| +$/, "", args)
	name = $2
	channel = toupper($3)
	shape = $4
	for (i in trait)
		delete trait[i]
	for (i = 5; i <= NF && $i != "|"; i++) {
		equals = index($i, "=")
		if (equals)
			trait[substr($i, 1, equals - 1)] = substr($i, equals + 1)
		else
			trait[$i] = ""
	}
}
