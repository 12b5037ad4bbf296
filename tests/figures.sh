#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Prints the figures of the sources, of this checkout or of FOLDER: how many and how long, what lies in circles, what lies above.
#
#	tests/figures.sh [FOLDER]
#
# "Product" is what lies in pathmap, tree, node-agent and consumers. Lines are all lines of a file. A circle is a set of files
# each of which calls, or includes, the others by some way (a strongly connected part).

here=$(cd "$(dirname "$0")" && pwd) || exit
cd "${1:-$here/..}" || exit
temp=$(mktemp -d) || exit
trap 'rm -rf "$temp"' EXIT

# told PATTERN...: what tests/code.awk tells of these files.
told() {
	git -c safe.directory='*' ls-files -z -- "$@" | xargs -0 awk -f "$here/code.awk"
}

# of_lines: the number, sum, median, 90th percentile, maximum and whose that is, of lines "NUMBER NAME".
of_lines() {
	sort -n | awk '{ n[NR] = $1; sum += $1; name = $2 }
		END { print NR, sum, n[int((NR + 1) / 2)], n[int(NR * 0.9 + 0.5)], n[NR], name }'
}

row() {
	printf '%-44s %s\n' "$1" "$2"
}

told 'pathmap/*.[ch]' 'tree/*.[ch]' 'node-agent/*.[ch]' 'consumers/*.[ch]' >"$temp/product"
told 'tests/*.[ch]' >"$temp/tests"

for part in product tests; do
	awk '$1 == "file" { print $3, $2 }' "$temp/$part" | of_lines >"$temp/files"
	awk '$1 == "function" { print $4, $3 "()" }' "$temp/$part" | of_lines >"$temp/functions"
	read -r files lines median _ most name <"$temp/files"
	row "files ($part)" "$files"
	row "lines ($part)" "$lines"
	row "median file ($part)" "$median lines"
	row "largest file ($part)" "$most lines, $name"
	read -r functions _ median ninetieth most name <"$temp/functions"
	row "functions ($part)" "$functions"
	row "90th percentile of functions ($part)" "$ninetieth lines, median $median, most $most, $name"
done

row "public functions" "$(awk '$1 == "function" && $5 == "public"' "$temp/product" | grep -c .)"
awk -f "$here/calls.awk" "$temp/product" | awk -f "$here/circles.awk" >"$temp/circles"
row "circles of calls" "$(grep -c . "$temp/circles") of $(wc -w <"$temp/circles") files"
awk '$1 == "include" { print $2, $3 }' "$temp/product" | awk -f "$here/circles.awk" >"$temp/included"
row "circles of includes" "$(grep -c . "$temp/included")"
row "includes against the direction" "$(awk -v rooms="$(sed '/^#/d' "$here/rooms" | tr '\n' ',')" -f "$here/rules.awk" "$temp/product" |
	grep -c 'which lies above it')"
row "structs of one name" "$(awk '$1 == "struct" { print $3 }' "$temp/product" | sort | uniq -d | grep -c .)"
row "lines of README.md" "$(grep -c '' README.md)"
row "lines of Makefile.am" "$(grep -c '' Makefile.am)"
if [ -s "$temp/circles" ]; then
	printf '\ncircles of calls:\n'
	sed 's/^/  /' "$temp/circles"
fi
