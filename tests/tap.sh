# SPDX-License-Identifier: BSD-3-Clause
# Sourced by bash tests: reports each case in TAP, keeps a temp folder, cleans up at exit.
#
#	. "$top_srcdir/tests/tap.sh"
#	tap_case "what must be true" COMMAND [ARG...]	# passes when COMMAND succeeds
#	tap_skip "what would be tested" "why not here"
#	tap_memory "how much memory it takes" COMMAND [ARG...]	# not with sanitizers
#	tap_says CODE TEXT COMMAND [ARG...]	# to be used in a case, as the next one
#	tap_printed FILE... -- PATTERN...
#	tap_done
#	tap_install DIR			# make install below DIR; other tests do not notice
#
# $tap_dir is an empty folder, removed at exit. A test that starts things defines tap_cleanup().

tap_number=0
tap_failed=0
tap_dir=$(mktemp -d "${TMPDIR:-/tmp}/evspace-test.XXXXXX") || exit 99

tap_exit() {
	local status=$?

	if declare -F tap_cleanup >/dev/null; then
		tap_cleanup
	fi
	rm -rf "$tap_dir"
	exit "$status"
}
trap tap_exit EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# tap_case NAME COMMAND [ARG...]: one case; what a failing command printed becomes diagnostics.
tap_case() {
	local name=$1 output

	shift
	tap_number=$((tap_number + 1))
	if output=$("$@" 2>&1); then
		echo "ok $tap_number - $name"
	else
		tap_failed=$((tap_failed + 1))
		printf '%s\n' "$output" | sed 's/^/# /'
		echo "not ok $tap_number - $name"
	fi
}

# tap_skip NAME REASON: one case that cannot run here.
tap_skip() {
	tap_number=$((tap_number + 1))
	echo "ok $tap_number - $1 # SKIP $2"
}

# A build with sanitizers.
tap_sanitized() {
	ldd "$top_builddir/evspace" | grep -q 'libasan\|libtsan'
}

# tap_memory NAME COMMAND [ARG...]: a case about how much memory an agent has, or keeps. A sanitizer has many
# times that, and keeps what was freed; whether something leaks, it says itself when the agent ends.
tap_memory() {
	if tap_sanitized; then
		tap_skip "$1" "the build has sanitizers"
	else
		tap_case "$@"
	fi
}

# tap_says CODE TEXT COMMAND...: it ends with that code, within two minutes, and has said the text; all that
# it said is in $tap_dir/said. A function minds the time itself.
tap_says() {
	local code=$1 text=$2 got=0

	shift 2
	[ "$(type -t "$1")" = function ] || set -- timeout -k 5 120 "$@"
	"$@" >"$tap_dir/said" 2>&1 || got=$?
	[ "$got" -eq "$code" ] && grep -aq -e "$text" "$tap_dir/said" && return
	echo "exit code $got, not $code, or no '$text' in:"
	head -c 3000 "$tap_dir/said"
	return 1
}

# tap_printed FILE... -- PATTERN...: lines like each of these are in one of the files.
tap_printed() {
	local files=()

	while [ "$1" != -- ]; do
		files+=("$1")
		shift
	done
	shift
	while [ $# -gt 0 ]; do
		grep -qaE -e "$1" "${files[@]}" || { echo "no '$1' in:"; cat "${files[@]}"; return 1; }
		shift
	done
}

# tap_done: print the plan and end the script.
tap_done() {
	echo "1..$tap_number"
	exit $((tap_failed > 0))
}

# It links libraries of the build anew, which other tests may have programs load just now: where root
# may, onto a layer above the build.
tap_install() {
	local layer='mount -t tmpfs none /mnt && mkdir /mnt/upper /mnt/work && mount -t overlay \
		-o "lowerdir=$1,upperdir=/mnt/upper,workdir=/mnt/work" none "$1"'
	if unshare -m sh -c "$layer" sh "$top_builddir" 2>/dev/null; then
		unshare -m sh -c "$layer"' && exec make -s -C "$1" install DESTDIR="$2"' sh "$top_builddir" "$1"
	else
		make -s -C "$top_builddir" install DESTDIR="$1"
	fi >"$tap_dir/install.log" 2>&1 || { tail "$tap_dir/install.log"; return 1; }
}
