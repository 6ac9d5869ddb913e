# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# To be sourced by benches, with the top of the tree as the working directory: JDKs, ports, figures.

quick() { [ "${BENCH_QUICK:-0}" != 0 ]; }

# jdk MAJOR: where it is; fails when it is not here.
jdk() { tools/find-jdks | awk -v major="$1" '$1 + 0 == major { print $2; found = 1; exit } END { exit !found }'; }
newest_jdk() { tools/find-jdks | tail -n 1 | cut -d ' ' -f 2; }
newest_major() { tools/find-jdks | tail -n 1 | cut -d . -f 1; }

# Below those that the system gives to clients: who asks such a port again and again whether somebody is there
# may be connected with itself, and then the server finds it taken.
free_port() {
	local port
	while port=$((20000 + RANDOM % 12000)); (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
	echo "$port"
}

# figures FILE WORD...: runs that program of bench/, which may use bench/lib/stats.py
figures() { PYTHONPATH=bench/lib PYTHONDONTWRITEBYTECODE=1 python3 "bench/$1" "${@:2}"; }

# machine: a line that says which processor this is.
machine() {
	local field='{ sub(/^[^:]*: */, ""); print; exit }' name
	name=$(awk "/^model name/ $field" /proc/cpuinfo)
	echo "machine: ${name:-$(uname -m)}, family $(awk "/^(cpu family|CPU implementer)/ $field" /proc/cpuinfo)," \
		"model $(awk "/^(model\t|CPU part)/ $field" /proc/cpuinfo), $(nproc) processors, load $(cut -d ' ' -f 1 /proc/loadavg)"
}
