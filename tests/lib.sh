# shellcheck shell=bash disable=SC2034,SC2154  # what suites use, and what they set
# SPDX-License-Identifier: Apache-2.0
# tests/lib.sh - what the suites share.  A suite's script begins with
#
#	. "$(dirname "$0")/../lib.sh"
#
# which goes to the top folder and sets OUT (where the programs are), sonde, library and here.  Each test
# prints one line, by ok, not_ok or skip; $t is its name where none is given.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
OUT=$(realpath -m "${OUT:-build}")
sonde=$OUT/sonde
library=$OUT/libsonde.so
suite=$(basename "$(dirname "$0")")
here=$PWD/tests/$suite
pid= # the program that is observed

# ---- results ----

ok() { echo "ok ${1:-$t}"; }
not_ok() { echo "not ok $1${2:+: $2}"; }
skip() { echo "skip $1: $2"; }

# not WHY...: $t has failed; false
not() {
	echo "not ok $t: $*"
	return 1
}

# ---- files and JVMs ----

free_port() {
	local port
	for port in $(shuf -i 20000-30000 -n 50); do
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
	done
}

# tomcat_base DIRECTORY PORT: of a Tomcat that has Debian's examples
tomcat_base() {
	mkdir -p "$1"/{conf,logs,temp,work,webapps}
	cp "$here/../agent/web.xml" "$1/conf/"
	echo "handlers =" >"$1/conf/logging.properties"
	cat >"$1/conf/server.xml" <<-XML
		<Server port="-1"><Service name="Catalina">
		<Connector address="127.0.0.1" port="$2" protocol="HTTP/1.1"/>
		<Engine name="Catalina" defaultHost="localhost">
		<Host name="localhost" appBase="webapps" autoDeploy="false">
		<Context path="/examples" docBase="/usr/share/tomcat10-examples/examples"/>
		</Host></Engine></Service></Server>
	XML
}

# make_tmp: a directory, $tmp, which goes with the suite, as does the program $pid
make_tmp() {
	tmp=$(mktemp -d)
	trap end_suite EXIT
}

end_suite() {
	[ -z "$pid" ] || kill "$pid" 2>/dev/null
	rm -rf "$tmp"
}

# need_jdks: $jdks has "VERSION HOME" of every JDK from 17 on; without one there is nothing to test
need_jdks() {
	jdks=$(tools/find-jdks | awk '$1 + 0 >= 17')
	[ -n "$jdks" ] || {
		skip "$suite" "no JDK from 17 on"
		exit 0
	}
}

# side_by_side: for suites that mostly wait: runs this one once for each JDK, all at the same time, and ends.
# Goes on where there is one JDK, as in each of these.
side_by_side() {
	local all one dir status=0
	local -A run
	mapfile -t all < <(tools/find-jdks | sed -n 's/^\(17\|25\)[. +-].*/\1/p' | sort -u)
	[ "${#all[@]}" -gt 1 ] || return 0
	dir=$(mktemp -d)
	for one in "${all[@]}"; do
		TEST_JDK=$one "tests/$suite/run" >"$dir/$one" 2>&1 &
		run[$one]=$!
	done
	for one in "${all[@]}"; do
		wait "${run[$one]}" || {
			status=$?
			echo "the suite ended with status $status on JDK $one" >>"$dir/$one"
		}
	done
	for one in "${all[@]}"; do cat "$dir/$one"; done
	rm -rf "$dir"
	exit "$status"
}

# ---- waiting ----

# await SECONDS COMMAND...: until it succeeds; false: it has not
await() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.1
	done
}

# ---- commands, with what they print in $tmp/out and $tmp/err ----

expect_s= # the most seconds for a command
has_as=-E # how grep reads patterns

# expect NAME STATUS COMMAND...: runs it, keeps stdout and stderr, checks the exit status
expect() {
	local name=$1 want=$2 status=0
	shift 2
	${expect_s:+timeout "$expect_s"} "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	[ "$status" -ne "$want" ] || return 0
	head -n 30 "$tmp/out" "$tmp/err"
	not_ok "$name" "status $status, not $want: $*"
	return 1
}

# has NAME FILE PATTERN: the file in $tmp has a line that matches
has() {
	grep -q "$has_as" -- "$3" "$tmp/$2" && return 0
	head -n 40 "$tmp/$2"
	not_ok "$1" "nothing like '$3' in $2"
	return 1
}

hasnt() {
	local status=0
	grep "$has_as" -- "$3" "$tmp/$2" || status=$?
	[ "$status" -ne 1 ] || return 0 # 2: no such file, or no such pattern
	not_ok "$1" "something like '$3' in $2, or grep failed"
	return 1
}

# ---- jars of others ----

# central GROUP ARTIFACT VERSION [CLASSIFIER]: prints where the jar lies in Maven's cache, into which Maven gets it
# unless OFFLINE is set; false: it is not to be had
central() {
	local jar=$HOME/.m2/repository/${1//.//}/$2/$3/$2-$3${4:+-$4}.jar
	[ -s "$jar" ] || [ -n "${OFFLINE:-}" ] || ! command -v mvn >/dev/null ||
		timeout 180 mvn -q dependency:get "-Dartifact=$1:$2:$3:jar${4:+:$4}" -Dtransitive=false >/dev/null 2>&1
	[ -s "$jar" ] && echo "$jar"
}
