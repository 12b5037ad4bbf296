# SPDX-License-Identifier: BSD-3-Clause
# Makes of a public header the little Markdown that manfile.awk reads: below each declaration stands what is said above it.
#
#	awk -v flags='$(pkg-config --cflags --libs evspace)' -f manheader.awk consumers/client/evspace-client.h
#
# With -v only=names it prints the names of the functions alone, a line each; with -v only=summary the first sentence.

# expand(LINE): with spaces for its tabs.
function expand(line,   at) {
	while ((at = index(line, "\t")) > 0)
		line = substr(line, 1, at - 1) sprintf("%*s", 8 - (at - 1) % 8, "") substr(line, at + 1)
	return line
}

# fold(LINE, REST): in lines that fit on a page of 80 columns, which has 11 of its own before code; the others begin with REST.
function fold(line, rest,   out, at) {
	while (length(line) > 69) {
		for (at = 69; at > length(rest) + 1 && substr(line, at, 1) != " ";)
			at--
		if (at <= length(rest) + 1)
			break
		out = out substr(line, 1, at - 1) "\n"
		line = rest substr(line, at + 1)
	}
	return out line
}

# lay(CODE): a declaration, folded: a comment that has no room behind its line stands before it.
function lay(code,   lines, n, i, line, pad, at, said, out) {
	n = split(code, lines, "\n")
	for (i = 1; i <= n; i++) {
		line = lines[i]
		match(line, /^ */)
		line = substr(line, int(RLENGTH / 2) + 1)
		match(line, /^ */)
		pad = substr(line, 1, RLENGTH)
		at = index(line, "/*")
		if (at == 0 || (length(line) <= 69 && line ~ /\*\/ *$/)) {
			out = out (i > 1 ? "\n" : "") fold(line, length(pad) > 8 ? pad : pad "        ")
			continue
		}
		said = substr(line, at + 2)
		line = substr(line, 1, at - 1)
		sub(/ +$/, "", line)
		while (said !~ /\*\// && i < n) {
			sub(/^ *(\* )?/, "", lines[++i])
			said = said " " lines[i]
		}
		sub(/ *\*\/.*/, "", said)
		gsub(/  +/, " ", said)
		out = out (out == "" ? "" : "\n") fold(pad "/*" said " */", pad "   ")
		if (line != "")
			out = out "\n" line
	}
	return out
}

# say(LINE): a line of a comment, without its stars; what is indented by a tab is code.
function say(line) {
	sub(/^[ \t]*\/?\*+\/? ?/, "", line)
	sub(/ *\*+\/[ \t]*$/, "", line)
	if (sub(/^\t/, "    ", line))
		line = fold(expand(line), "            ")
	line = expand(line)
	while (match(line, /@[a-z_]+/))
		line = substr(line, 1, RSTART - 1) "`" substr(line, RSTART + 1, RLENGTH - 1) "`" substr(line, RSTART + RLENGTH)
	said = said line "\n"
}

# declare(): a declaration is whole.
function declare(   name) {
	name = code
	sub(/^static inline /, "", code)
	code = lay(code)
	gsub(/\n/, "\n    ", code)
	if (name !~ /\{/ && match(name, /[a-z_]+\(/)) {
		name = substr(name, RSTART, RLENGTH - 1)
		if (only == "names")
			print name
		name = name "()"
	} else {
		sub(/ *[{;\n].*/, "", name)
	}
	if (!only)
		printf "\n## %s\n\n    %s\n\n%s", name, code, said
	code = said = ""
}

FNR == 1 { next }
FNR == 2 {
	file = FILENAME
	sub(/.*\//, "", file)
	if (!only)
		printf "## SYNOPSIS\n\n    #include <%s>\n\n    cc program.c %s\n\n# Description\n\n", file, flags
	opening = 1
}

/^}$/ { body = 0; next }
body { next }
code == "" && /^[ \t]*\/\*/ { said = ""; comment = 1 }
comment {
	say($0)
	comment = !/\*\//
	if (opening && !comment) {
		if (only == "summary") {
			gsub(/\n/, " ", said)
			sub(/^ */, "", said)
			sub(/[.;] .*/, "", said)
			print tolower(substr(said, 1, 1)) substr(said, 2)
		}
		if (!only)
			printf "%s", said
		said = ""
		opening = 0
	}
	next
}

# What nothing is said of is not for others.
code == "" && (said == "" || /^(#|extern "C"|__attribute__|static [^i]|$)/) {
	said = ""
	body = /^static .*[^;]$/
	next
}
/^\{/ {
	declare()
	body = 1
	next
}
{
	$0 = expand($0)
	code = code (code == "" ? "" : "\n") $0
}
/;$/ && (code !~ /\{/ || /^\}/) { declare() }
