# SPDX-License-Identifier: BSD-3-Clause
# Runs each fuzz target that was built for FUZZ_SECONDS, from its seeds in tests/fuzz/seeds.

. "$top_srcdir/tests/tap.sh"

# fuzz TARGET NAME: a finding is kept in the build folder, and how to play it again is said.
fuzz() {
	local target=$1 seeds=$top_srcdir/tests/fuzz/seeds/$2 log=$tap_dir/$2.log

	mkdir "$tap_dir/$2"
	set -- -max_total_time="$FUZZ_SECONDS" -timeout=10 -artifact_prefix="$target-" "$tap_dir/$2"
	[ ! -d "$seeds" ] || set -- "$@" "$seeds"
	[ ! -f "$seeds.dict" ] || set -- -dict="$seeds.dict" "$@"
	"$target" "$@" >"$log" 2>&1 && return
	tail -n 40 "$log"
	echo "play it again with: $target $target-*"
	return 1
}

for target in "$top_builddir"/tests/fuzz/*_fuzz; do
	if [ -x "$target" ]; then
		name=${target##*/}
		tap_case "${name%_fuzz} for $FUZZ_SECONDS s" fuzz "$target" "${name%_fuzz}"
	else
		tap_skip "fuzz targets" "configure found no clang with libFuzzer"
	fi
done
tap_done
