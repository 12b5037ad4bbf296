# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the benches that are scripts: their options, and where the sources and programs are.
#
#	usage='...' hosts=64
#	. "${0%/*}/bench.sh"
#	bench_options "hosts late" "$@"		# --json, and --hosts and --late with values; "quick": --quick

json= quick=
top_srcdir=${top_srcdir:-$(cd "${0%/*}/../.." && pwd)}
top_builddir=${top_builddir:-$top_srcdir/build}
PATH=$top_builddir:$PATH
export EVSPACE_LIBDIR=${EVSPACE_LIBDIR:-$top_builddir/.libs} OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# bench_options NAMES ARG...: --json in $json, --NAME VALUE in $NAME, --quick in $quick.
bench_options() {
	local names=" $1 "

	shift
	while [ $# -gt 0 ]; do
		case $1 in
		--json) json=yes ;;
		--quick)
			[[ $names = *" quick "* ]] || { echo "$0: there is no quicker form; see --help" >&2 && exit 2; }
			quick=yes
			;;
		--help) echo "$usage" && exit 0 ;;
		--*)
			if [[ $names != *" ${1#--} "* || -z ${2-} ]]; then
				echo "$0: $1 is no option here, or has no value; see --help" >&2
				exit 2
			fi
			declare -g "${1#--}=$2"
			shift
			;;
		*) echo "$0: $1 is no option; see --help" >&2 && exit 2 ;;
		esac
		shift
	done
}

# failed WHAT: no figure can be had without it.
failed() {
	echo "$0: $1 failed" >&2
	exit 1
}
