# SPDX-License-Identifier: BSD-3-Clause
# Tests the sources of a git checkout: format, cppcheck, shell syntax, SPDX lines, that all tests are run.

# Also when it is called by hand.
export top_srcdir=${top_srcdir:-$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)}
export top_builddir=${top_builddir:-$top_srcdir/build}
. "$top_srcdir/tests/tap.sh"

# .clang-format is written for it; other versions format differently.
clang_format_major=14

# tracked PATTERN...: the files that git tracks and that are there, ended by NUL.
tracked() {
	local file

	git -c safe.directory='*' ls-files -z -- "$@" |
		while read -r -d '' file; do
			[ ! -f "$file" ] || printf '%s\0' "$file"
		done
}

# for_all COMMAND [ARG...]: run it on the files that stdin names, ended by NUL.
for_all() {
	xargs -0 -r "$@"
}

formatted() {
	local output

	output=$(tracked '*.c' '*.h' | for_all clang-format --dry-run -Werror 2>&1) && return
	grep -E ': (error|warning): ' <<<"$output" | cut -d: -f1 | sort | uniq -c |
		awk '{ print $2 ": " $1 " places; clang-format -i " $2 }'
	return 1
}

# readdir() is fine with a DIR of one's own; what cppcheck advises instead, glibc deprecates.
cppcheck_clean() {
	tracked '*.c' | for_all cppcheck --quiet -j "$(nproc)" --error-exitcode=1 --std=c11 \
		--enable=warning,performance,portability --inline-suppr --suppress=readdirCalled \
		--library=posix,tests/cppcheck.cfg -D_GNU_SOURCE -D__x86_64__ \
		-D__linux__ -I .
}

is_script() {
	[ "$(head -c 2 "$1")" = '#!' ]
}

scripts_parse() {
	local file status=0

	while read -r -d '' file; do
		case $file in
		*.sh) bash -n "$file" || status=1 ;;
		*) ! is_script "$file" || bash -n "$file" || status=1 ;;
		esac
	done < <(tracked)
	return $status
}

# Whatever is a source by its name, or a script.
licensed() {
	local file status=0

	while read -r -d '' file; do
		case $file in
		*.[ch] | *.sh | *.awk | *.proto | *.tab | *.ac | *.am | *.mk | *.m4 | *.in | *.map) ;;
		*) is_script "$file" || continue ;;
		esac
		if ! head -n 2 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause'; then
			echo "$file:1: no line with SPDX-License-Identifier: BSD-3-Clause"
			status=1
		fi
	done < <(tracked)
	return $status
}

# A merge once left two of them out, and nobody saw it.
tests_are_run() {
	local file status=0

	while read -r -d '' file; do
		grep -qE "(^|[[:blank:]])${file%.c}([[:blank:]]|\$)" tests/files.mk && continue
		echo "$file is in no list of tests/files.mk"
		status=1
	done < <(tracked 'tests/*_test.sh' 'tests/*_test.c')
	return $status
}

# Lengths, directions of includes, names of structs, comments and callers of what headers declare.
rules_kept() {
	tracked '*.[ch]' '*.tab' '*.awk' '*.in' | for_all awk -f tests/code.awk |
		awk -v rooms="$(sed '/^#/d' tests/rooms | tr '\n' ',')" \
			-v api='/evspace(-[a-z]*)?[.]h$|/fcalls-mixed[.]h$|/lttng[.]h$' -f tests/rules.awk
}

# Two headers that need each other are one.
includes_have_no_circle() {
	local circles

	circles=$(tracked '*.[ch]' | for_all awk -f tests/code.awk |
		awk '$1 == "include" { print $2, $3 }' | awk -f tests/circles.awk)
	[ -z "$circles" ] || { echo "these include each other: $circles"; return 1; }
}

# told_of_product: what tests/code.awk tells of what is not tests.
told_of_product() {
	tracked 'pathmap/*.[ch]' 'tree/*.[ch]' 'node-agent/*.[ch]' 'consumers/*.[ch]' | for_all awk -f tests/code.awk
}

# room_of FILE: the folder whose README.md tells of it.
room_of() {
	local room=${1%/*}

	while ! [ -f "$room/README.md" ]; do
		room=${room%/*}
	done
	echo "$room"
}

# Files that call each other are of one room, whose README.md names them and says why.
calls_in_circles_are_explained() {
	local circle file room status=0
	local -a files

	while read -r circle; do
		read -ra files <<<"$circle"
		room=$(room_of "${files[0]}")
		for file in "${files[@]}"; do
			if [ "$(room_of "$file")" != "$room" ]; then
				echo "these call each other across rooms: $circle"
				status=1
				break
			elif ! grep -qF "${file##*/}\`" "$room/README.md"; then
				echo "$file is in a circle of calls that $room/README.md does not explain: $circle"
				status=1
			fi
		done
	done < <(told_of_product | awk -f tests/calls.awk | awk -f tests/circles.awk)
	return $status
}

# style_case NAME TOOL COMMAND: a case that needs a git checkout, and TOOL.
style_case() {
	if ! [ -e .git ]; then
		tap_skip "$1" "this is no git checkout"
	elif ! command -v git >/dev/null; then
		tap_skip "$1" "git is missing (Debian package git)"
	elif ! command -v "$2" >/dev/null; then
		tap_skip "$1" "$2 is missing (Debian package $2)"
	elif [ "$2" = clang-format ] && ! clang-format --version | grep -q "version $clang_format_major\."; then
		tap_skip "$1" "needs clang-format $clang_format_major, here is $(clang-format --version)"
	else
		tap_case "$1" "$3"
	fi
}

cd "$top_srcdir" || exit
style_case "C sources are formatted as .clang-format says" clang-format formatted
style_case "cppcheck finds nothing" cppcheck cppcheck_clean
style_case "shell scripts parse" bash scripts_parse
style_case "every source has its SPDX line" bash licensed
style_case "the rules of the house are kept" awk rules_kept
style_case "no includes in a circle" awk includes_have_no_circle
style_case "calls in a circle are of one room, and explained there" awk calls_in_circles_are_explained
style_case "every test is one of make check's" grep tests_are_run
tap_done
