# SPDX-License-Identifier: BSD-3-Clause
# Makes a man page of a text in the little Markdown of pathmap/examples/README.md: headings, paragraphs, lists,
# tables of two columns (as tagged paragraphs, without their headings), indented blocks, `code` and **bold**.
#
#	awk -v name=pathmap -v section=5 -v version=… -v summary=… -v more="evspace-map (1)" -f manfile.awk TEXT

# text(LINE): with roff's own characters escaped.
function text(line,   out, bold) {
	gsub(/\\\|/, "|", line)
	gsub(/\\/, "\\e", line)
	while (match(line, /`[^`]*`|\*\*[^*]*\*\*/)) {
		bold = substr(line, RSTART, RLENGTH)
		gsub(/^(`|\*\*)|(`|\*\*)$/, "", bold)
		gsub(/-/, "\\-", bold)
		out = out substr(line, 1, RSTART - 1) "\\fB" bold "\\fR"
		line = substr(line, RSTART + RLENGTH)
	}
	line = out line
	return line ~ /^[.']/ ? "\\&" line : line
}

# What was being said is said: words in `code` may have been on two lines.
function finish() {
	if (verbatim)
		print ".EE\n.RE"
	if (said != "")
		print text(said)
	verbatim = 0
	said = ""
}

BEGIN {
	printf ".TH %s %s \"\" \"evspace %s\" EventSpace\n", toupper(name), section, version
	printf ".SH NAME\n%s \\- %s\n", name, summary
}

/^#/ {
	finish()
	title = $0
	sub(/^#+ /, "", title)
	print ".SH " ($0 ~ /^# / ? "DESCRIPTION" : "\"" title "\"")
	next
}

/^$/ {
	if (!verbatim)
		finish()
	blank = 1
	next
}

/^    / {
	if (!verbatim) {
		finish()
		print ".PP\n.RS 4\n.EX"
	} else if (blank) {
		print ""
	}
	verbatim = 1
	blank = 0
	gsub(/\\/, "\\e")
	gsub(/-/, "\\-")
	gsub(/\t/, "        ")
	print "\\&" substr($0, 5)
	next
}

/^\|/ {
	finish()
	row = $0
	gsub(/\\\|/, "\001", row)
	split(row, cell, /[ ]*\|[ ]*/)
	gsub(/\001/, "|", cell[2])
	gsub(/\001/, "|", cell[3])
	if (cell[2] ~ /^-+$/)
		rows = 1
	else if (rows)
		print ".TP 8\n" text(cell[2]) "\n" text(cell[3])
	next
}

{ rows = 0 }

/^- / {
	finish()
	sub(/^- /, "")
	if (match($0, /^\*\*[^*]*\*\*: */)) {
		tag = substr($0, 1, RLENGTH)
		$0 = substr($0, RLENGTH + 1)
		sub(/: *$/, "", tag)
		print ".TP 8\n" text(tag)
	} else {
		print ".IP \\(bu 2"
	}
	said = $0
	blank = 0
	next
}

{
	if (said == "") {
		finish()
		print ".PP"
	}
	sub(/^  /, "")
	said = said (said == "" ? "" : " ") $0
	blank = 0
}

END {
	finish()
	print ".SH SEE ALSO"
	n = split(more, page, /, */)
	for (i = 1; i <= n; i++)
		print ".BR " page[i] (i < n ? "," : "")
}
