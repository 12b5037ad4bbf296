# SPDX-License-Identifier: BSD-3-Clause
# Tests the Debian package as somebody meets it: make deb, apt install, the first commands, apt purge.

. "$top_srcdir/tests/copy.sh"
. "$top_srcdir/tests/tap.sh"

if [ -n "$copy_why" ] || ! command -v dh >/dev/null; then
	tap_skip "the Debian package" "${copy_why:-debhelper is missing}"
	tap_done
fi
# What make check hands down is not for the one that makes the package.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
# It is what is in the package that is tried, not how fast that is, nor what a debugger says of it.
export DEB_BUILD_OPTIONS="noopt noautodbgsym parallel=$(nproc)" DEB_CFLAGS_SET=-O0
# What the tests have set is not somebody's who installs it.
clean=(env -i HOME="$tap_dir" PATH=/usr/sbin:/usr/bin:/sbin:/bin)

# files: all that bear the name, but for what apt, dpkg and man remember of packages.
files() {
	find /etc /usr /var /dev/shm "$tap_dir" -name '*evspace*' -not -path '/var/log/*' -not -path '/var/cache/*' \
		-not -path "$top_srcdir/*" -not -path "$top_builddir/*" -not -path "$tap_dir" | sort
}

made() {
	make -s -C "$top_builddir" deb >"$tap_dir/said" 2>&1 && ls "$top_builddir"/evspace_*.deb ||
		{ tail -n 40 "$tap_dir/said"; return 1; }
}

no_errors() {
	lintian --allow-root --fail-on error --tag-display-limit 0 "$top_builddir"/evspace_*.deb
}

installed() {
	"${clean[@]}" DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
		"$top_builddir"/evspace_*.deb
}

# A map that is shipped, certificates, a run that is seen.
first_commands() {
	"${clean[@]}" evspace map check /usr/share/evspace/examples/local &&
		"${clean[@]}" evspace-certs init "$tap_dir/tls" here &&
		"${clean[@]}" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 evspace run --run first -- \
			mpirun --oversubscribe -np 2 "$top_builddir/tests/apps/calls" >"$tap_dir/said" 2>&1
	grep -q ' 2 of 2 processes collected' "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
	"${clean[@]}" evspace purge --all
}

documented() {
	"${clean[@]}" man -w 5 pathmap && "${clean[@]}" man -w evspace-run && ls /usr/share/doc/evspace/README.md*
}

purged() {
	"${clean[@]}" DEBIAN_FRONTEND=noninteractive apt-get purge -y evspace &&
		rm -rf "/dev/shm/evspace-$(id -u)" && diff "$tap_dir/before" <(files)
}

files >"$tap_dir/before"
tap_case "make deb" made
if command -v lintian >/dev/null; then
	tap_case "lintian finds no error in it" no_errors
else
	tap_skip "lintian finds no error in it" "no lintian here"
fi
tap_case "apt install" installed
tap_case "a run is collected by what it installed" first_commands
tap_case "it brings README and man pages" documented
tap_case "apt purge leaves nothing" purged
tap_done
