# SPDX-License-Identifier: BSD-3-Clause
# Makes of preprocessed public headers a C program that prints their interface: each struct with where its fields are, each
# value of an enum, each function.
#
#	cc -E consumers/client/evspace-client.h | awk -f tests/abi.awk >abi.c

# squeeze(TEXT): with single spaces.
function squeeze(text) {
	gsub(/[ \t\n]+/, " ", text)
	gsub(/^ | $/, "", text)
	return text
}

# field(TYPE, NAME, SHOWN): a line about a field.
function field(type, name, shown) {
	printf "\tprintf(\"  at %%zu, %%zu bytes: %%s\\n\", offsetof(struct %s, %s), sizeof(((struct %s *)0)->%s), \"%s\");\n",
		type, name, type, name, squeeze(shown)
}

# fields(TYPE, BODY): those of one struct, also several of one line, and pointers to functions.
function fields(type, body,   lines, n, i, list, m, k, base, name) {
	n = split(body, lines, ";")
	for (i = 1; i <= n; i++) {
		lines[i] = squeeze(lines[i])
		if (lines[i] == "")
			continue
		if (match(lines[i], /\(\*[a-z_]+\)/)) {
			field(type, substr(lines[i], RSTART + 2, RLENGTH - 3), lines[i])
			continue
		}
		m = split(lines[i], list, ",")
		base = list[1]
		sub(/ ?\**[a-z_0-9]+(\[[^]]*\])?$/, "", base)
		for (k = 1; k <= m; k++) {
			name = list[k]
			sub(/\[.*/, "", name)
			sub(/^.*[ *]/, "", name)
			field(type, name, k == 1 ? list[k] : base " " list[k])
		}
	}
}

# values(BODY): those of an enum.
function values(body,   list, n, i) {
	n = split(body, list, ",")
	for (i = 1; i <= n; i++) {
		sub(/=.*/, "", list[i])
		list[i] = squeeze(list[i])
		if (list[i] != "")
			printf "\tprintf(\"  %s = %%d\\n\", (int)%s);\n", list[i], list[i]
	}
}

# declare(TEXT): one whole declaration.
function declare(text,   name, body) {
	text = squeeze(text)
	name = text
	sub(/ *\{.*/, "", name)
	body = text
	if (text ~ /\{/) {
		sub(/^[^{]*\{/, "", body)
		sub(/\}[^}]*$/, "", body)
	}
	if (text ~ /^struct [a-z_]+ \{/) {
		printf "\tprintf(\"%s: %%zu bytes\\n\", sizeof(%s));\n", name, name
		sub(/^struct /, "", name)
		fields(name, body)
	} else if (text ~ /^enum [a-z_]+ \{/) {
		printf "\tputs(\"%s\");\n", name
		values(body)
	} else if (text !~ /^struct [a-z_]+$/ && text != "") {
		printf "\tputs(\"%s\");\n", text
	}
}

BEGIN {
	print "#include <stddef.h>\n#include <stdio.h>\n#include \"consumers/client/evspace-client.h\""
	print "#include \"consumers/client/evspace-control.h\"\nint main(void)\n{"
}

/^# [0-9]/ {
	ours = /\/evspace-[a-z]*\.h"/
	next
}

ours {
	for (i = 1; i <= length($0); i++) {
		c = substr($0, i, 1)
		depth += (c == "{") - (c == "}")
		if (c == ";" && depth == 0) {
			declare(text)
			text = ""
		} else {
			text = text c
		}
	}
	text = text "\n"
}

END { print "\treturn 0;\n}" }
