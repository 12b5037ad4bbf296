#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs a command apart from all others: with temporary folders, shared memory, a network and
# processes of its own, so that tests may run at once, and nothing that one leaves outlives it.
#
#	apart.sh COMMAND [ARG...]
#	apart.sh		# exit code 0: that is allowed here, 1: commands run as they are
#
# Root alone may. The folders are in memory and empty, but for those of the build; in the network
# there is this host alone, with the addresses that it has outside, as its name leads to these.

# Also when it is called by hand.
export top_srcdir=${top_srcdir:-$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)}
export top_builddir=${top_builddir:-$top_srcdir/build}

folders=(/tmp /var/tmp /dev/shm)

allowed() {
	[ "$(id -u)" -eq 0 ] && command -v ip >/dev/null &&
		unshare -m -n -i -p -f --mount-proc sh -c 'mount -t tmpfs none /mnt && ip link add host0 type veth' 2>/dev/null
}

# In the namespaces, as their first process.
folders_make() {
	local folder n=0

	mount -t tmpfs none /mnt
	for folder in "$top_srcdir" "$top_builddir"; do
		n=$((n + 1))
		mkdir "/mnt/$n"
		mount --bind "$folder" "/mnt/$n"
	done
	for folder in "${folders[@]}"; do
		mount -t tmpfs -o mode=1777 none "$folder"
	done
	n=0
	for folder in "$top_srcdir" "$top_builddir"; do
		n=$((n + 1))
		mkdir -p "$folder"
		mount --move "/mnt/$n" "$folder"
	done
	umount /mnt
}

network_make() {
	local address

	ip link set lo up
	ip link add host0 type veth peer name wire0
	ip link set host0 up
	ip link set wire0 up
	for address in $EVSPACE_APART; do
		ip addr add "$address" dev host0
	done
}

if [ -n "${EVSPACE_APART+set}" ]; then
	trap : TERM # for the command, which is told, too, and cleans up
	set -e
	folders_make
	network_make
	set +e
	unset EVSPACE_APART
	cd "$PWD" || exit # now that of the folder that was bound
	"$@"
	exit
fi
if [ $# -eq 0 ]; then
	allowed
	exit
fi
allowed || exec "$@"
EVSPACE_APART=$(ip -o addr show scope global | awk '{ print $4 }')
export EVSPACE_APART
exec unshare -m -n -i -p -f --kill-child --mount-proc "$BASH" "$0" "$@"
