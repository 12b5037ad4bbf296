# SPDX-License-Identifier: BSD-3-Clause
# Makes the options for the linker of ops.tab: what each of PVM's functions is wrapped in.

/^[ \t]*(#|$)/ { next }
$2 ~ /^pvm_/ { flags = flags "-Wl,--wrap=" $2 " " }

END { print flags "-Wl,--export-dynamic-symbol=evspace_pvm_wrapped" }
