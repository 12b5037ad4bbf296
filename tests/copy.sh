# SPDX-License-Identifier: BSD-3-Clause
# Sourced first by a test that installs packages, or builds where others read: the test begins again on a
# copy of / that is thrown away, with empty temporary folders. Root alone may; else copy_why says why not.
#
#	. "$top_srcdir/tests/copy.sh"
#	. "$top_srcdir/tests/tap.sh"
#	[ -z "$copy_why" ] || tap_skip "…" "$copy_why"

# copy_layer FOLDER: it is in the copy; what is written there is in memory.
copy_layer() {
	copy_layers=$((copy_layers + 1))
	mkdir -p "/mnt/layers/$copy_layers/upper" "/mnt/layers/$copy_layers/work" "/mnt/root$1" &&
		mount -t overlay -o "lowerdir=$1,upperdir=/mnt/layers/$copy_layers/upper,workdir=/mnt/layers/$copy_layers/work" \
			none "/mnt/root$1"
}

copy_make() {
	local folder

	mount --make-rprivate / && mount -t tmpfs -o mode=755 none /mnt && copy_layer / || return
	for folder in /proc /sys /dev; do
		mount --rbind "$folder" "/mnt/root$folder" || return
	done
	for folder in /tmp /var/tmp /dev/shm; do
		mount -t tmpfs -o mode=1777 none "/mnt/root$folder" || return
	done
	copy_layer "$top_srcdir" || return
	[[ $top_builddir == "$top_srcdir"/* ]] || copy_layer "$top_builddir"
}

copy_why=
copy_layers=0
case ${EVSPACE_COPY-} in
made) ;;
making)
	copy_make || exit
	export EVSPACE_COPY=made
	exec chroot /mnt/root "$BASH" -c 'cd "$1" && shift && exec "$@"' bash "$PWD" "$@"
	;;
*)
	if [ "$(id -u)" -ne 0 ]; then
		copy_why="only root may make a copy of /"
	elif ! copy_why=$(EVSPACE_COPY=making unshare -m "$BASH" "$top_srcdir/tests/copy.sh" true 2>&1); then
		copy_why="namespaces or overlayfs are not allowed here: ${copy_why##*$'\n'}"
	else
		EVSPACE_COPY=making exec unshare -m "$BASH" "$top_srcdir/tests/copy.sh" "$BASH" "$0" "$@"
	fi
	;;
esac
