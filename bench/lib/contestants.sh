# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What benches of class-file work share, to be sourced: the corpora, the contestants written in
# Java, and the writing of plans for bench/lib/drive.c.  Needs OUT, and the top of the tree as the
# working directory.  All that is made here lies under $OUT/bench and is made once.

COMMON=$OUT/bench/lib
DRIVE=$COMMON/drive
DEBIAN_ASM=/usr/share/java/asm.jar
JAVA_FLAGS='-XX:+UseSerialGC -Xmx2g'

mkdir -p "$COMMON"

say() { echo "$bench: $*"; }

. bench/lib/base.sh
. bench/lib/plan.sh

# ---- corpora ------------------------------------------------------------------------------------

pack() { "$(newest_jdk)/bin/java" bench/lib/Pack.java "$1" "$2.part" "${@:3}" && mv "$2.part" "$2"; }

# java.base of JDK 17, a release that every contestant knows.  Sets corpus; fails without that JDK.
java_base() {
	local home dir
	home=$(jdk 17) || return
	corpus=$COMMON/java.base-$(sed -n 's/^JAVA_VERSION="\(.*\)"/\1/p' "$home/release").corpus
	[ ! -s "$corpus" ] || return 0
	dir=$COMMON/java.base
	"$home/bin/jimage" extract --dir="$dir" --include='regex:/java\.base/.*\.class' "$home/lib/modules" &&
		pack 1 "$corpus" "$dir" && rm -rf "$dir"
}

# The jars of the package whose names match; none when it is not installed.
jars() { dpkg -L "$1" 2>/dev/null | grep -E "/usr/share/java/$2\$" | xargs -r -n 1 readlink -f | sort -u; }

# Every third class of what other compilers and a server brought here.  Sets corpus; fails when there
# is nothing.
debian_jars() {
	local list package pattern
	list=
	while read -r package pattern; do
		set -- $(jars "$package" "$pattern")
		[ $# -gt 0 ] || say "skipped: classes of $package, which is not installed"
		list="$list $*"
	done <<-END
		libtomcat10-java tomcat10-[a-z-]*\.jar
		groovy groovy\.jar
		libclojure-java clojure-[0-9.]+\.jar
		scala scala-compiler\.jar
		kotlin kotlin-(frontend|backend)\.jar
	END
	set -- $list
	[ $# -gt 0 ] || return
	corpus=$COMMON/jars-$(printf '%s\n' "$@" | cksum | cut -d ' ' -f 1).corpus
	[ -s "$corpus" ] || pack 3 "$corpus" "$@"
}

# ---- contestants --------------------------------------------------------------------------------

# ASM from Debian and the newest from Maven Central, as lines "VERSION CLASSPATH".
asm_versions() {
	local dir=$COMMON/asm artifact version
	if [ -e "$DEBIAN_ASM" ]; then
		version=$(readlink -f "$DEBIAN_ASM")
		version=${version##*/asm-}
		echo "${version%.jar} $DEBIAN_ASM:${DEBIAN_ASM%.jar}-commons.jar"
	else
		say "skipped: Debian's ASM: libasm-java is not installed" >&2
	fi
	if [ ! -e "$dir/.done" ] && ! quick && command -v mvn >/dev/null; then
		for artifact in asm asm-commons; do
			timeout 300 mvn -q -B dependency:copy -Dartifact="org.ow2.asm:$artifact:RELEASE" \
				-DoutputDirectory="$dir" >"$COMMON/mvn.log" 2>&1 || break
		done && touch "$dir/.done"
	fi
	if [ -e "$dir/.done" ]; then
		version=$(basename "$(echo "$dir"/asm-[0-9]*.jar)" .jar)
		version=${version#asm-}
		echo "$version $dir/asm-$version.jar:$dir/asm-commons-$version.jar"
	else
		say "skipped: the newest ASM: Maven Central was not asked or did not answer" >&2
	fi
}

# Compiles the contestants once; afterwards $COMMON/asm-classes and, where the newest JDK has
# java.lang.classfile, $COMMON/jdk-classes exist.
compile() {
	local javac source
	javac=$(newest_jdk)/bin/javac
	for source in Asm Jdk; do
		local to=$COMMON/${source,}-classes flags=
		case $source in
		Asm)
			[ -e "$DEBIAN_ASM" ] || continue
			flags="--release 17 -cp $DEBIAN_ASM:${DEBIAN_ASM%.jar}-commons.jar"
			;;
		Jdk) [ "$(newest_major)" -ge 24 ] || continue ;;
		esac
		[ -z "$(find bench/lib -name '*.java' -newer "$to/.done" 2>&1)" ] && continue
		rm -rf "$to" && mkdir -p "$to"
		$javac $flags -d "$to" bench/lib/Contestant.java "bench/lib/${source}Contestant.java" &&
			touch "$to/.done" || return
	done
}

# ---- plans --------------------------------------------------------------------------------------

# asm_runs MODE [SUFFIX [VERSIONS]]: ASM of all versions (or those of that file) on JDK 17 and 25.
asm_runs() {
	local version path major home
	while read -r version path; do
		for major in $(quick || echo 17) 25; do
			home=$(jdk $major) || continue
			line jit "ASM $version, JDK $major${2:+, $2}" \
				"exec $home/bin/java $JAVA_FLAGS -cp $COMMON/asm-classes:$path AsmContestant $corpus $1"
		done
	done <"${3:-$COMMON/asm-versions}"
}

# jdk_run MODE [SUFFIX]
jdk_run() {
	[ -e "$COMMON/jdk-classes/.done" ] || return 0
	line jit "java.lang.classfile, JDK $(newest_major)${2:+, $2}" \
		"exec $(newest_jdk)/bin/java $JAVA_FLAGS -cp $COMMON/jdk-classes JdkContestant $corpus $1"
}

# ours_run PROGRAM MODE LABEL [MIN MAX]
ours_run() { line run "$3" "exec $1 $corpus $2 ${*:4}"; }

# Everything but the corpora: call before the first plan line.
contestants() {
	asm_versions >"$COMMON/asm-versions"
	tail -n 1 "$COMMON/asm-versions" >"$COMMON/asm-newest"
	[ -n "$(jdk 25)" ] || say "skipped: JDK 25 is not here"
	compile
}
