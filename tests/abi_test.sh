# SPDX-License-Identifier: BSD-3-Clause
# Tests that the interface of libevspace is the one that is recorded: its symbols with their versions, and where the fields
# of its structs are.
#
# After a change that is wanted, "RECORD=1 bash tests/abi_test.sh" writes what there is now.

# Also when it is called by hand.
export top_srcdir=${top_srcdir:-$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)}
export top_builddir=${top_builddir:-$top_srcdir/build}
. "$top_srcdir/tests/tap.sh"

recorded=$top_srcdir/tests/recorded/abi
library=$top_builddir/.libs/libevspace.so

symbols() {
	nm -D --defined-only --with-symbol-versions "$library" | awk '$2 == "T" { print "symbol " $3 }' | sort
}

layout() {
	cd "$top_srcdir" && echo '#include "consumers/client/evspace-control.h"' |
		${CC:-gcc} -I . -E - | awk -f tests/abi.awk >"$tap_dir/abi.c" &&
		${CC:-gcc} -I . -o "$tap_dir/abi" "$tap_dir/abi.c" && "$tap_dir/abi"
}

# The words of consumers/client/evspace.map are all that there is, and all of it is there.
only_what_the_map_says() {
	diff <(sed -n 's/^\t\(evspace_[a-z_]*\);$/\1/p' "$top_srcdir/consumers/client/evspace.map" | sort) \
		<(symbols | sed 's/^symbol //; s/@.*//')
}

declared() {
	sed '/^typedef/d' "$top_srcdir"/consumers/client/evspace-*.h | grep -o '\bevspace_[a-z_]*(' | tr -d '(' | sort -u
}

# Whatever a public header declares is exported, and nothing else is.
headers_are_exported() {
	local name

	symbols >"$tap_dir/symbols" || return
	for name in $(declared); do
		grep -q "^symbol $name@@EVSPACE_" "$tap_dir/symbols" || {
			echo "$name() is in a public header, but is not exported: add it to consumers/client/evspace.map"
			return 1
		}
	done
	[ "$(declared | wc -l)" = "$(wc -l <"$tap_dir/symbols")" ]
}

as_recorded() {
	{ symbols && layout; } >"$tap_dir/now" || return
	[ -z "${RECORD-}" ] || cp "$tap_dir/now" "$recorded"
	diff -U 0 "$recorded" "$tap_dir/now" | grep '^[-+][^-+]' && {
		cat <<-END
			The interface of libevspace is not the recorded one any more. Programs that were built with a released library see:
			  + alone      something new: add new functions to consumers/client/evspace.map (below a version of their own once
			               EVSPACE_1 is released), and in consumers/files.mk make of -version-info C:R:A C+1:0:A+1
			  - or both    something else, or a struct of another size: they must be built again; make of C:R:A C+1:0:0
			If that is wanted: RECORD=1 bash tests/abi_test.sh, and a line in CHANGELOG.md.
		END
		return 1
	}
	return 0
}

# A change in a struct is noticed: else this test would be none.
changes_are_noticed() {
	sed 's/double rate_hz;/float rate_hz;/' "$top_srcdir/consumers/client/evspace-client.h" >"$tap_dir/evspace-client.h" &&
		cd "$top_srcdir" && ${CC:-gcc} -I . -I consumers/client -E "$tap_dir/evspace-client.h" |
		awk -f tests/abi.awk >"$tap_dir/other.c" && grep -q 'float rate_hz' "$tap_dir/other.c"
}

tap_case "what is exported is what its map says" only_what_the_map_says
tap_case "what is exported is what public headers declare" headers_are_exported
if [ "$(getconf LONG_BIT)" = 64 ]; then
	tap_case "the interface is the recorded one" as_recorded
else
	tap_skip "the interface is the recorded one" "it was recorded where a long has 64 bits"
fi
tap_case "a change in a struct is noticed" changes_are_noticed
tap_done
