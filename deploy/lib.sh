# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the bash scripts of deploy/: installs missing packages and builds into build/.
#
# The sourcing script stands in the top folder. Functions return non-zero after one clear message
# on stderr. Nothing here changes the caller's traps or shell options.

# note TEXT...: say what is being done. Progress goes to stderr, as in all of EventSpace.
note() {
	printf '%s\n' "== $*" >&2
}

# complain TEXT...: say what is wrong and what would be right; returns 1.
complain() {
	printf 'deploy/%s: %s\n' "${0##*/}" "$*" >&2
	return 1
}

# patiently SAYS COMMAND [ARG...]: run it; meanwhile SAYS is called every half a minute, so that nobody
# waits without a word. What says so ends with us, however we end: it reads a pipe that only we hold.
patiently() {
	local says=$1 alive status

	shift
	exec {alive}> >(
		while read -rt 30 || [ $? -gt 128 ]; do
			$says
		done
	)
	"$@" {alive}>&-
	status=$?
	exec {alive}>&-
	return $status
}

# packages_named WHEN...: print the names in deploy/packages for these (build, check), one a line.
packages_named() {
	local when=" $* " name tag _

	while read -r name tag _; do
		case $name in '' | '#'*) continue ;; esac
		case $when in *" ${tag%,*} "* | *" ${tag#*,} "*) printf '%s\n' "$name" ;; esac
	done <deploy/packages
}

# packages_missing WHEN...: print those that are not installed, one a line.
packages_missing() {
	packages_named "$@" |
		grep -vxFf <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')
}

# packages_since FILE: true when one that something is built from has been installed after FILE was made.
packages_since() {
	# dpkg writes NAME.list, or NAME:ARCH.list, when it unpacks a package
	find /var/lib/dpkg/info -name '*.list' -newer "$1" -printf '%f\n' 2>/dev/null |
		sed 's/\.list$//; s/:.*//' | grep -qxFf <(packages_named build check)
}

# packages_apt ARG...: apt-get without questions, and silent unless it fails; root rights are the
# caller's or come from sudo.
packages_apt() {
	patiently still_installing packages_apt_quietly "$@"
}

packages_apt_quietly() {
	local as_root=() output

	[ "$(id -u)" -eq 0 ] || as_root=(sudo)
	output=$("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get -q -o DPkg::Lock::Timeout=300 "$@" 2>&1) && return
	printf '%s\n' "$output" | tail -n 30 >&2
	return 1
}

still_installing() {
	note "apt-get is still at it"
}

# packages_known NAME...: true when apt's lists offer all of them (a fresh machine has no lists).
packages_known() {
	local name

	for name; do
		apt-cache policy "$name" 2>/dev/null | grep -q 'Candidate: [^(]' || return 1
	done
}

# packages_install WHEN...: install what is missing, and only that.
packages_install() {
	local missing install=(install -y --no-install-recommends)

	if ! command -v dpkg-query >/dev/null; then
		note "this is not Debian: install what configure asks for (names: deploy/packages)"
		return 0
	fi
	mapfile -t missing < <(packages_missing "$@")
	[ ${#missing[@]} -gt 0 ] || return 0
	if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
		complain "these Debian packages are missing, and installing needs root or sudo." \
			"Have somebody run: apt-get install --no-install-recommends ${missing[*]}"
		return 1
	fi

	note "installing Debian packages (a minute or two): ${missing[*]}"
	if ! packages_known "${missing[@]}"; then
		packages_apt update || return
	elif packages_apt "${install[@]}" "${missing[@]}"; then
		return 0
	else
		note "that failed; the package lists may be old: updating them"
		packages_apt update || return
	fi
	packages_apt "${install[@]}" "${missing[@]}" ||
		complain "apt-get could not install ${missing[*]}; its messages above say why"
}

# project_configure [CONFIGURE-ARG...]: make configure where there is none (a git checkout), and
# configure build/ unless that is done and the folder has not moved since; again, with the same
# options, if packages came later. What changes in configure.ac or Makefile.am, make itself notices.
project_configure() {
	if ! [ -e configure ] || ! [ -e Makefile.in ]; then
		note "autoreconf"
		./autogen.sh >&2 || return
	fi
	if ! grep -qsxF -e "abs_top_builddir = $PWD/build" build/Makefile; then
		note "configure in build/"
		mkdir -p build && (cd build && ../configure --quiet "$@" >&2)
	elif [ $# -gt 0 ]; then
		complain "build/ is configured already; to configure it with $*, first: rm -r build"
	elif packages_since build/config.status; then
		note "configure in build/ again: packages were installed since"
		(cd build && ./config.status --recheck >&2 && ./config.status --silent >&2)
	fi
}

files_compiled() {
	note "still compiling: $(find build -name '*.o' -newer build/config.status | wc -l) files so far"
}

# project_build [CONFIGURE-ARG...]: build into build/.
project_build() {
	project_configure "$@" || return
	note "make in build/"
	patiently files_compiled make -s -C build -j"$(nproc)" >&2
}
