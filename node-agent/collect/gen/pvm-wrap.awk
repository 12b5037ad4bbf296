# SPDX-License-Identifier: BSD-3-Clause
# Makes linker options of ops.tab, which wrap each of PVM's functions.

/^[ \t]*(#|$)/ { next }
$2 ~ /^pvm_/ { flags = flags "-Wl,--wrap=" $2 " " }

END { print flags "-Wl,--export-dynamic-symbol=evspace_pvm_wrapped" }
