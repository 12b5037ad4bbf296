# SPDX-License-Identifier: BSD-3-Clause
# Sourced by tests: a machine whose first process is a real systemd, in namespaces, on a copy of / that is
# thrown away; and a second network that reaches it.
#
#	machine_allowed || tap_skip "…" "$machine_why"
#	machine_boot NAME                        # as root of the host; its address is 10.90.0.2
#	machine_on COMMAND [ARG...]              # as root of the machine
#	machine_outside COMMAND [ARG...]         # from another network, 10.90.0.1
#	machine_end                              # from tap_cleanup
#
# What it writes is in memory, its cgroups are below one of ours, and /proc/sys is read-only: nothing of it
# stays. machine_why says why there cannot be one.

machine_why=
machine_dir=$tap_dir/machine

# The one hierarchy of control groups v2: a machine may have it beside those of v1, or not mounted.
machine_groups() {
	findmnt -n -t cgroup2 -o TARGET | head -n 1
}

machine_tried() {
	mkdir -p "$machine_dir/try" &&
		unshare -m -u -i -n -p -C -f bash -c '
			set -e
			mount -t tmpfs none "$1"
			mkdir "$1/upper" "$1/work" "$1/root"
			mount -t overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" none "$1/root"
			mount -t cgroup2 none "$1/root/mnt"' bash "$machine_dir/try" 2>"$tap_dir/why"
}

# Can there be one? Else machine_why says why not.
machine_allowed() {
	if [ "$(id -u)" -ne 0 ]; then
		machine_why="a machine is made by root only"
	elif ! [ -x /lib/systemd/systemd ] || ! command -v systemctl journalctl dbus-daemon >/dev/null; then
		machine_why="systemd is missing (Debian packages systemd, libpam-systemd)"
	elif ! command -v ip nsenter unshare findmnt >/dev/null; then
		machine_why="iproute2 and util-linux are needed"
	elif [ -z "$(machine_groups)" ]; then
		machine_why="no control groups v2 are mounted here"
	elif ! machine_tried; then
		machine_why="namespaces, overlayfs or cgroups are not allowed here: $(tail -n 1 "$tap_dir/why")"
	fi
	[ -z "$machine_why" ]
}

# What prepares the machine, and becomes its first process.
machine_init_make() {
	cat >"$machine_dir/init" <<-'END'
		#!/bin/bash
		# init NAME DIR
		set -e
		hostname "$1"
		mount --make-rprivate /
		mount -t tmpfs -o mode=755 none "$2"
		mkdir "$2/upper" "$2/work" "$2/root"
		mount -t overlay -o "lowerdir=/,upperdir=$2/upper,workdir=$2/work" none "$2/root"
		cd "$2/root"
		mount -t proc proc proc
		mount --bind proc/sys proc/sys
		mount -o remount,bind,ro proc/sys
		mount -t sysfs -o ro sysfs sys
		mount -t cgroup2 none sys/fs/cgroup
		mount -t tmpfs -o mode=755 none dev
		mkdir dev/pts dev/shm
		for file in null zero full random urandom tty; do
			touch "dev/$file"
			mount --bind "/dev/$file" "dev/$file"
		done
		mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
		ln -s pts/ptmx dev/ptmx
		ln -s /proc/self/fd dev/fd
		for folder in dev/shm tmp var/tmp; do
			mount -t tmpfs -o mode=1777 none "$folder"
		done
		mount -t tmpfs -o mode=755 none run
		# What this host starts is none of the machine's business.
		find etc/systemd/system -type l -delete
		for unit in tmp.mount dev-hugepages.mount sys-kernel-debug.mount sys-kernel-tracing.mount \
			sys-fs-fuse-connections.mount sys-kernel-config.mount systemd-sysctl.service \
			systemd-modules-load.service systemd-tmpfiles-clean.timer; do
			ln -s /dev/null "etc/systemd/system/$unit"
		done
		rm -f usr/sbin/policy-rc.d
		mkdir -p etc/systemd/logind.conf.d
		printf '[Login]\nUserStopDelaySec=0\n' >etc/systemd/logind.conf.d/soon.conf
		rm -rf var/log/journal
		: >etc/machine-id
		echo "$1" >etc/hostname
		printf '127.0.0.1 localhost\n10.90.0.2 %s\n' "$1" >etc/hosts
		pivot_root . mnt
		umount -l /mnt
		exec env -i container=evspace PATH=/usr/sbin:/usr/bin:/sbin:/bin \
			/lib/systemd/systemd --unit=multi-user.target --log-target=journal
	END
}

machine_pid() {
	local holder pid

	holder=$(cat "$machine_dir/holder") || return
	# there is no end of line in this file
	read -r pid _ <"/proc/$holder/task/$holder/children"
	echo "$pid"
}

machine_on() {
	nsenter -t "$(machine_pid)" -m -u -i -n -p -C --wdns=/ -- env -i HOME=/root LANG=C.UTF-8 \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

machine_outside() {
	nsenter -t "$(cat "$machine_dir/out")" -n -- "$@"
}

machine_is_up() {
	machine_on systemctl is-system-running 2>&1 | grep -qx -e running -e degraded
}

# machine_until COMMAND...: wait until it succeeds, 30 s at most.
machine_until() {
	local tries

	for ((tries = 0; tries < 300; tries++)); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.1
	done
	echo "gave up waiting for: $*"
	return 1
}

machine_wire() {
	machine_outside ip link add eth0 type veth peer name eth0 netns "$(machine_pid)" &&
		machine_outside ip addr add 10.90.0.1/24 dev eth0 &&
		machine_outside ip link set eth0 up &&
		machine_on ip addr add 10.90.0.2/24 dev eth0 &&
		machine_on ip link set eth0 up
}

machine_boot() {
	local group

	mkdir -p "$machine_dir/over"
	machine_init_make
	group=$(machine_groups)/$(basename "$tap_dir")
	mkdir "$group" && echo "$group" >"$machine_dir/group" || return
	(
		echo "$BASHPID" >"$group/cgroup.procs" || exit
		exec unshare -m -u -i -n -p -C -f --kill-child=KILL bash "$machine_dir/init" "$1" "$machine_dir/over"
	) </dev/null >"$machine_dir/log" 2>&1 &
	echo $! >"$machine_dir/holder"
	unshare -n sleep infinity </dev/null >/dev/null 2>&1 &
	echo $! >"$machine_dir/out"
	machine_until machine_is_up && machine_wire && return
	cat "$machine_dir/log"
	return 1
}

machine_group_end() {
	find "$1" -depth -type d -exec rmdir {} + 2>/dev/null
	! [ -e "$1" ]
}

machine_end() {
	local holder out

	[ -e "$machine_dir/group" ] || return 0
	holder=$(cat "$machine_dir/holder") && kill -KILL "$holder"
	out=$(cat "$machine_dir/out") && kill "$out"
	machine_until machine_group_end "$(cat "$machine_dir/group")"
	rm "$machine_dir/group"
}
