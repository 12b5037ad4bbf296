# SPDX-License-Identifier: BSD-3-Clause
# Sourced after bed.sh: Slurm on hosts of the bed; it ends with them.
#
#	slurm_allowed			# else $cluster_why says what is missing
#	slurm_begin CONTROLLER ADDRESS NODE...	# returns when the nodes are idle
#	slurm_on HOST COMMAND [ARG...]	# knows where Slurm's configuration is
#	slurm_job OPTION...		# allocates one, on the controller, that has no step: its number
#
# slurm_begin appends what is in $slurm_settings to slurm.conf, which is $cluster_dir/slurm.conf.

slurm_settings=

slurm_allowed() {
	command -v slurmd slurmctld srun >/dev/null && return
	cluster_why="slurmctld, slurmd and slurm-client are missing"
	return 1
}

# slurm_make CONTROLLER ADDRESS NODE...
slurm_make() {
	local controller=$1 address=$2 node

	shift 2
	cat <<-END
		ClusterName=bed
		SlurmctldHost=$controller($address)
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/none
		CredType=cred/none
		MpiDefault=none
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		ReturnToService=2
		StateSaveLocation=/run/slurm-state
		SlurmdSpoolDir=/run/slurmd.%n
		SlurmctldPidFile=/run/slurmctld.pid
		SlurmdPidFile=/run/slurmd.%n.pid
		SlurmctldTimeout=30
		SlurmdTimeout=30
		SlurmdParameters=config_overrides
		PartitionName=p Nodes=ALL Default=YES MaxTime=10 State=UP OverSubscribe=YES
		$slurm_settings
	END
	for node; do
		echo "NodeName=$node NodeAddr=$(cluster_address "$node") CPUs=2 State=UNKNOWN"
	done
}

# Slurm's daemon on a host; what it is to be found in has to be mounted first.
slurm_daemon() {
	cluster_on "$1" sh -c 'mkdir -p /run/slurm-state && mount -t tmpfs none /sys/fs/cgroup &&
		for c in freezer cpuset memory cpuacct; do
			mkdir /sys/fs/cgroup/$c && mount -t cgroup -o $c none /sys/fs/cgroup/$c || exit
		done' || return
	cluster_on "$@" </dev/null >"$cluster_dir/slurm-$1.log" 2>&1 &
	disown
}

slurm_on() {
	local host=$1

	shift
	cluster_on "$host" env SLURM_CONF="$cluster_dir/slurm.conf" "$@"
}

slurm_idle() {
	[ "$(slurm_on "$slurm_controller" sinfo -h -N -t idle -o %N | wc -l)" -eq "$1" ]
}

slurm_begin() {
	local host

	slurm_controller=$1
	slurm_make "$@" >"$cluster_dir/slurm.conf"
	printf 'CgroupPlugin=cgroup/v1\nCgroupAutomount=yes\nConstrainCores=no\nConstrainRAMSpace=no\n' \
		>"$cluster_dir/cgroup.conf"
	for host in "${@:3}"; do
		slurm_daemon "$host" "$(command -v slurmd)" -D -N "$host" -f "$cluster_dir/slurm.conf" || return
	done
	slurm_daemon "$1" "$(command -v slurmctld)" -D -f "$cluster_dir/slurm.conf" || return
	cluster_until slurm_idle $(($# - 2)) || { tail -n 5 "$cluster_dir"/slurm-*.log; return 1; }
}

slurm_job() {
	local said

	if said=$(slurm_on "$slurm_controller" salloc --no-shell "$@" 2>&1); then
		sed -n 's/.*Granted job allocation //p' <<<"$said"
	else
		echo "$said"
		return 1
	fi
}
