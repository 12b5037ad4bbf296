# SPDX-License-Identifier: BSD-3-Clause
# Of what tests/code.awk tells: what breaks a rule of the house (CONTRIBUTING.md), a line each; exit 1 if anything does.

function bad(path, text)
{
	print path ": " text
	broken = 1
}

# Where a path lies, from below: rooms= lists all, lowest first, with commas; a room stands for what is in it and has no place of its own.
function room(path)
{
	sub("/[^/]*$", "", path)
	while (!(path in floor) && sub("/[^/]*$", "", path))
		;
	return path
}

BEGIN {
	n = split(rooms, list, ",")
	for (i = 1; i <= n; i++) {
		only = list[i]
		sub(/ .*/, "", list[i])
		floor[list[i]] = i
		if (sub(/^[^ ]* /, "", only))
			below[list[i]] = only
	}
}

$1 == "file" && $3 > 500 { bad($2, $3 " lines, 500 at most: find its second noun") }
$1 == "file" && $2 ~ /\.h$/ && $3 > 150 { bad($2, $3 " lines, a header has 150 at most") }
$1 == "function" && $4 > 60 { bad($2, $3 "() has " $4 " lines, 60 at most") }
$1 == "unknown" { bad($2, "the comment of " $3 "() speaks of @" $4 ", which is none of its parameters") }

$1 == "include" && room($2) in floor && room($3) in floor && room($2) != room($3) {
	here = room($2)
	top = room($3)
	sub("/.*", "", top)
	if (floor[room($3)] > floor[here])
		bad($2, "includes " $3 ", which lies above it")
	else if (here in below && index(" " below[here] " ", " " top " ") == 0)
		bad($2, "includes " $3 ", which is none of " below[here])
}

$1 == "struct" && room($2) in floor {
	if ($3 in struct)
		bad($2, "struct " $3 " is another thing in " struct[$3])
	struct[$3] = $2
}

$1 == "function" { defined[$3] = $2 }
$1 == "prototype" { prototype[$3] = $2 }
$1 == "ending" { endings = endings (endings == "" ? "" : "|") $3 }
$1 == "beginning" { beginnings = beginnings (beginnings == "" ? "" : "|") $3 }
$1 == "use" { users[$3]++; using[$2, $3] = $4 }

END {
	for (name in prototype) {
		path = prototype[name]
		if (path ~ api || name ~ ("(" endings ")$") || name ~ ("^(" beginnings ")"))
			continue
		others = users[name] - ((path, name) in using) - ((defined[name], name) in using)
		if (!(name in defined) && !others)
			bad(path, name "() is nowhere defined")
		else if (!others && using[path, name] < 2)
			bad(path, name "() has no caller outside of its file")
	}
	exit broken
}
