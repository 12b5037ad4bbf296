# SPDX-License-Identifier: BSD-3-Clause
# Reads C files as this project formats them, and tells what they have, a line each, for tests/figures.sh and tests/style.sh:
#   file PATH LINES            include PATH INCLUDED         struct PATH NAME
#   function PATH NAME LINES static|public                   prototype PATH NAME
#   unknown PATH NAME PARAMETER   (a comment on NAME speaks of @PARAMETER, which it does not have)
#   use PATH NAME COUNT            (a word in the code of a file; COUNT times)

function ended(    word)
{
	if (path != "")
		print "file", path, lines
	for (word in used)
		print "use", path, word, used[word]
	path = FILENAME
	lines = 0
	inside = 0
	comment = group = first = ""
	commented = 0
	head = ""
	split("", used)
}

# What lies in comments and between quotes is not code.
function code(line,    out, i, c)
{
	out = ""
	while (line != "") {
		if (commented) {
			i = index(line, "*/")
			if (!i)
				return out
			line = substr(line, i + 2)
			commented = 0
		}
		if (!match(line, /\/\*|\/\/|["']/))
			return out line
		out = out substr(line, 1, RSTART - 1)
		c = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		if (c == "//")
			return out
		if (c == "/*") {
			commented = 1
		} else {
			out = out c c
			if (c == "'" && !match(line, /^([^\\']|\\.)*'/) ||
				c == "\"" && !match(line, /^([^\\"]|\\.)*"/))
				return out
			line = substr(line, RLENGTH + 1)
		}
	}
	return out
}

# Names of structs and members are none of functions.
function words_used(text,    n, i, list)
{
	if (path ~ /\.[ch]$/)
		gsub(/(^|[^A-Za-z0-9_])(struct|enum|union) [a-z_][a-z0-9_]*|(->|\.)[a-z_][a-z0-9_]*/, " ", text)
	n = split(text, list, /[^A-Za-z0-9_]+/)
	for (i = 1; i <= n; i++)
		if (list[i] ~ /^[a-z_][a-z0-9_]*$/)
			used[list[i]]++
}

# The name of what "static int name(int x" begins, "" if it begins no function.
function named(text)
{
	gsub(/__attribute__ *\(\([^)]*(\([^)]*\))?[^)]*\)\)/, "", text)
	if (text ~ /=/ || text !~ /^[A-Za-z_][A-Za-z0-9_ *]*[ *][a-z_][A-Za-z0-9_]*\(/ || text ~ /^typedef/)
		return ""
	sub(/\(.*/, "", text)
	sub(/.*[ *]/, "", text)
	return text
}

# Each @word of the comment before a group of prototypes is a parameter of one of them.
function group_ended(    rest, word)
{
	rest = comment
	while (first != "" && match(rest, /[^A-Za-z0-9"]@[a-z_][a-z0-9_]*/)) {
		word = substr(rest, RSTART + 2, RLENGTH - 2)
		if (group !~ ("[^A-Za-z0-9_]" word "[^A-Za-z0-9_]"))
			print "unknown", path, first, word
		rest = substr(rest, RSTART + RLENGTH)
	}
	comment = group = first = ""
}

FNR == 1 { ended() }

{
	lines++
	was_comment = commented
	text = $0
	if (path ~ /\.[ch]$/)
		text = code(text)
	else
		gsub(/\\t/, " ", text)
}

# A comment that begins in the first column belongs to what follows it.
(/^\/\*/ || /^$/) && !was_comment { group_ended() }
was_comment || /^\/\*/ { comment = comment " " $0 }

/^#include "/ {
	split($0, quoted, "\"")
	print "include", path, quoted[2]
}

!inside && match(text, /^struct [a-z_][a-z0-9_]* \{/) {
	split(text, part, " ")
	print "struct", path, part[2]
}

{ words_used(text) }

# Macros and generators make names of parts: name ## _main.
{
	rest = text
	while (match(rest, /[a-z][a-z0-9_]*_ *##|## *_[a-z][a-z0-9_]*|"_[a-z_]+"/)) {
		piece = substr(rest, RSTART, RLENGTH)
		rest = substr(rest, RSTART + RLENGTH)
		kind = piece ~ /^[#"]/ ? "ending" : "beginning"
		gsub(/[# "]/, "", piece)
		print kind, path, piece
	}
}

/^#/ { next }

# A head goes on until its body or its end comes.
head != "" || text ~ /^[A-Za-z_].*[^ ]\(|^[A-Za-z_][A-Za-z0-9_ ]*\*?$/ {
	if (!inside && (head != "" || text !~ /[{}=]/)) {
		if (head == "")
			began = FNR
		head = head " " text
		if (head ~ /;[ \t]*$/) {
			sub(/^ /, "", head)
			name = named(head)
			if (name != "" && path ~ /\.h$/) {
				print "prototype", path, name
				group = group head
				if (first == "")
					first = name
			}
			head = ""
		}
	}
}

text ~ /^\{/ && head != "" {
	inside = 1
	body_head = head
	head = ""
}

text ~ /^\}/ {
	if (inside) {
		sub(/^ /, "", body_head)
		name = named(body_head)
		if (name != "")
			print "function", path, name, FNR - began + 1, \
				(body_head ~ /^static / ? "static" : "public")
	}
	inside = 0
	head = ""
}

END { ended() }
