# SPDX-License-Identifier: BSD-3-Clause
# Tests agents that are always on, on a machine whose first process is a real systemd: the package's scripts,
# units, users, certificates, journal.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/machine.sh"

evspace=$top_builddir/evspace
ca=$tap_dir/ca
export EVSPACE_ENTRY=w3

tap_cleanup() {
	machine_end
}

if ! machine_allowed; then
	tap_skip "agents under systemd" "$machine_why"
	tap_done
fi

# package VERSION: what is installed, with the scripts of the Debian package, where this build was configured
# to be. (`make deb` builds everything anew and takes minutes.)
package() {
	local tree=$tap_dir/tree script

	if ! [ -e "$tree" ]; then
		tap_install "$tree" || return
		rm -r "$tree"/usr/local/share/man
		mkdir -p "$tree/DEBIAN" "$tree/opt"
		cp "$top_builddir/tests/apps/stuck" "$tree/opt"
		for script in postinst prerm postrm; do
			grep -vx '#DEBHELPER#' "$top_srcdir/deploy/debian/$script" >"$tree/DEBIAN/$script"
			chmod 755 "$tree/DEBIAN/$script"
		done
	fi
	cat >"$tree/DEBIAN/control" <<-END
		Package: evspace
		Version: $1
		Architecture: all
		Maintainer: nobody <nobody@localhost>
		Description: what make install installs
	END
	dpkg-deb --root-owner-group -Znone -b "$tree" "$tap_dir/evspace.deb" >"$tap_dir/log" 2>&1 &&
		machine_on tee /root/evspace.deb <"$tap_dir/evspace.deb" >/dev/null &&
		machine_on dpkg -i /root/evspace.deb
}

# maps NAME PORT: of one node, on the machine.
maps() {
	machine_on mkdir -p "/etc/evspace/$1/maps" &&
		machine_on tee "/etc/evspace/$1/maps/application.map" \
			<<<'application any { ranks any; collect p2p { element site; } collect collective env completion; }' &&
		machine_on tee "/etc/evspace/$1/maps/cluster.map" <<<"cluster A { nodes w3; address 10.90.0.2:$2; }" &&
		machine_on tee "/etc/evspace/$1/maps/mapping.map" <<<'entry w3;'
}

# keys NAME USER: the agent's certificate, as docs/installing.md tells.
keys() {
	machine_on install -d -o "$2" -m 700 "/etc/evspace/$1/tls" &&
		machine_on install -o "$2" -m 600 /root/ca/ca.pem /root/ca/w3.pem /root/ca/w3.key "/etc/evspace/$1/tls"
}

operator() {
	machine_on useradd -m alice && machine_on useradd -m bob &&
		machine_on evspace-certs init /root/ca w3 &&
		cp -r "/proc/$(machine_pid)/root/root/ca" "$ca" &&
		maps . 7440 && keys . evspace && maps users/alice 7451 && keys users/alice alice
}

unit() {
	machine_on systemctl show -P "$2" "$1"
}

# unit_is UNIT PROPERTY VALUE
unit_is() {
	[ "$(unit "$1" "$2")" = "$3" ] || { machine_on systemctl status --no-pager "$1"; return 1; }
}

# of UNIT FIELD: of its process, from /proc/PID/status
of() {
	machine_on awk -v field="$2:" '$1 == field { print $2 }' "/proc/$(unit "$1" MainPID)/status"
}

activated() {
	machine_on systemctl enable --now evspace-agent.socket &&
		unit_is evspace-agent ActiveState inactive &&
		machine_outside "$evspace" deploy status "/proc/$(machine_pid)/root/etc/evspace/maps" --tls "$ca" >"$tap_dir/said" &&
		grep -q '^/A/w3 ' "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
	unit_is evspace-agent ActiveState active
}

powerless() {
	[ "$(of evspace-agent Uid)" = "$(machine_on id -u evspace)" ] && [ "$(of evspace-agent CapBnd)" = 0000000000000000 ] &&
		[ "$(of evspace-agent NoNewPrivs)" = 1 ] && [ "$(of evspace-agent Seccomp)" = 2 ]
}

nobody_without_a_certificate() {
	machine_outside openssl s_client -connect 10.90.0.2:7440 </dev/null >/dev/null 2>&1
	journal_has evspace-agent 'refused 10.90.0.1:.* showed no certificate'
}

# starts USER RUN: a program that hangs, behind the session's back.
starts() {
	machine_on systemd-run -q --collect -u "$2" -p PAMName=login -p User="$1" -p 'WorkingDirectory=~' \
		-E OMPI_MCA_rmaps_base_oversubscribe=1 evspace run --pathmap "/etc/evspace/users/alice/maps" --run "$2" -- \
		mpirun -np 2 /opt/stuck --seconds 600 &&
		machine_until seen "$1" "$2"
}

seen() {
	machine_on runuser -u "$1" -- evspace runs --json | grep -F "\"$2\"" | grep -q '"alive":2'
}

alice_sees() {
	machine_until eval 'machine_on runuser -u alice -- evspace heartbeat --check --run hers >"$tap_dir/said"; [ $? = 1 ]' &&
		grep -q 'rank0/t0) is stuck: in MPI_Barrier' "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
	machine_on runuser -u alice -- evspace status --json >"$tap_dir/said" || return
	machine_outside "$evspace" heartbeat --count 1 --connect 10.90.0.2:7451 --tls "$ca" --run hers | grep -q 'STUCK'
}

# With all its hardening the agent finds the lines that elements are called by, in the programs' files.
sites_are_found() {
	machine_on runuser -u alice -- evspace events --backlog --duration 1s --json --run hers >"$tap_dir/said" &&
		grep -q 'p2p:stuck\.c:[0-9]' "$tap_dir/said" || { head -n 3 "$tap_dir/said"; return 1; }
}

bob_sees_nothing() {
	machine_on runuser -u bob -- evspace status --connect "$hers" >"$tap_dir/said" 2>&1
	grep -q 'Permission denied' "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
	machine_on runuser -u bob -- evspace runs >"$tap_dir/said" 2>&1
	grep -q '^no runs' "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
}

# allowed OPTION: bob sees what is alice's now, and changes nothing.
allowed() {
	machine_on tee /etc/evspace/users/alice/options <<<'EVSPACE_OPTIONS=--allow bob' &&
		machine_on systemctl restart evspace-agent@alice &&
		machine_on runuser -u bob -- evspace status --connect "$hers" --json | grep -q '"hers"' &&
		! machine_on runuser -u bob -- evspace collect --connect "$hers" --class p2p off
}

operator_sees() {
	machine_on evspace status --connect "$hers" --json | grep -q '"hers"'
}

journal_line() {
	machine_on journalctl -q --no-pager -o cat -u "$1" | grep -q -e "$2"
}

journal_has() {
	machine_until journal_line "$@" || { machine_on journalctl -q --no-pager -u "$1"; return 1; }
}

audited() {
	machine_outside "$evspace" collect --connect 10.90.0.2:7451 --tls "$ca" --identity control --class p2p count &&
		journal_has evspace-agent@alice '^evspace agent: audit: control (10.90.0.1:[0-9]*): switch p2p to count in run "hers": done'
}

# shown_serial: of the certificate that the agent shows.
shown_serial() {
	machine_outside openssl s_client -connect 10.90.0.2:7451 </dev/null 2>/dev/null | openssl x509 -noout -serial
}

reloads() {
	local before pid

	before=$(shown_serial) pid=$(unit evspace-agent@alice MainPID)
	[ -n "$before" ] && machine_on evspace-certs renew /root/ca w3 && keys users/alice alice &&
		machine_on systemctl reload evspace-agent@alice &&
		journal_has evspace-agent@alice 'certificates loaded again' &&
		[ "$(shown_serial)" != "$before" ] && [ "$(unit evspace-agent@alice MainPID)" = "$pid" ]
}

# Whoever kills it: it is there again, with the run; the socket of the host's own is served by the next one.
survives() {
	local pid

	for unit in evspace-agent evspace-agent@alice; do
		pid=$(unit "$unit" MainPID)
		machine_on kill -KILL "$pid" && machine_until eval '[ "$(unit "$unit" ActiveState)" = active ] &&
			[ "$(unit "$unit" MainPID)" != "$pid" ]' || return
	done
	machine_until seen alice hers && alice_sees && machine_outside "$evspace" status --connect 10.90.0.2:7440 --tls "$ca"
}

# A login's end: logind takes what the user has in /dev/shm, unless told otherwise (logind.conf(5), RemoveIPC). The agent may have its
# socket again before anybody looks; the run is gone.
logout() {
	machine_on systemctl stop hers &&
		machine_until eval '! machine_on loginctl show-user alice'
}

taken() {
	logout && machine_until eval '! machine_on test -d "$(dirname "${hers#unix:}")/hers"' && starts alice later &&
		machine_on runuser -u alice -- evspace status | grep -q '^later '
}

no_session() {
	! machine_on loginctl list-sessions --no-legend | grep -q alice
}

lingers() {
	machine_on loginctl enable-linger alice && machine_on systemctl stop later &&
		machine_until no_session &&
		machine_on runuser -u alice -- evspace runs --json | grep -q '"later"'
}

# What an operator enables for everybody: an agent of the user's own, when the user looks.
on_demand() {
	machine_on systemctl --global enable evspace-agent.socket && machine_on loginctl enable-linger bob &&
		machine_until machine_on test -S "/dev/shm/evspace-$(machine_on id -u bob)/agent-w3.sock" &&
		! machine_on pgrep -u bob evspace && starts bob his &&
		machine_on runuser -u bob -- evspace status | grep -q '^his ' && machine_on pgrep -u bob -f 'evspace agent' &&
		machine_on systemctl stop his
}

stops() {
	machine_on systemctl stop evspace-agent@alice && ! machine_on pgrep -u alice -f 'evspace agent' &&
		! machine_on test -e "${hers#unix:}" &&
		machine_on test -d "/dev/shm/evspace-$(machine_on id -u alice)/later" && machine_on systemctl start evspace-agent@alice
}

upgraded() {
	local host user

	host=$(unit evspace-agent MainPID) user=$(unit evspace-agent@alice MainPID)
	package 0.0.2 && unit_is evspace-agent ActiveState active && unit_is evspace-agent@alice ActiveState active &&
		unit_is evspace-agent.socket ActiveState active && ! [ "$(unit evspace-agent MainPID)" = "$host" ] &&
		! [ "$(unit evspace-agent@alice MainPID)" = "$user" ] &&
		machine_outside "$evspace" status --connect 10.90.0.2:7440 --tls "$ca"
}

purged() {
	machine_on dpkg -P evspace || return
	! machine_on pgrep -fa 'bin/evspace agent' && ! machine_on ls "/dev/shm/evspace-$1" &&
		! machine_on find /etc/systemd /usr/local -name '*evspace*' | grep . && ! machine_on ss -Hltn | grep -e :7440 -e :7451
}

tap_case "a machine with systemd as its first process boots" machine_boot w3
tap_case "the package is installed" package 0.0.1
tap_case "an operator makes certificates and maps" operator
tap_case "the socket's first client starts the agent; deploy status has it" activated
tap_case "it is a user of its own, without capabilities, with a filter of system calls" powerless
tap_case "nobody is served without a certificate" nobody_without_a_certificate
tap_case "an agent of a user's, on at boot" machine_on systemctl enable --now evspace-agent@alice
hers=unix:/dev/shm/evspace-$(machine_on id -u alice)/agent-w3.sock
tap_case "a run by that user is collected" starts alice hers
tap_case "it is seen by its user, and from outside" alice_sees
tap_case "call sites are found in the program's file" sites_are_found
tap_case "another user sees nothing of it" bob_sees_nothing
tap_case "the operator does" operator_sees
tap_case "another user does, when the owner's agent is told to allow it" allowed
tap_case "a control action is a line in the journal" audited
tap_case "systemctl reload: another certificate, the same process" reloads
tap_case "killed: started again, the run is there" survives
tap_case "a logout takes what is in shared memory: the next run is seen all the same" taken
tap_case "... and takes nothing from a user who lingers" lingers
tap_case "enabled for everybody: a user's own agent, by who looks first" on_demand
tap_case "stopped: no process, no socket; the elements stay" stops
tap_case "an upgrade restarts what runs" upgraded
tap_case "purged: no process, no file, no port" purged "$(machine_on id -u evspace)"
tap_done
