# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # run sets the variables
# To be sourced by benches that write a plan, a file of lines whose words are split by tabs, for rounds.c or
# drive.c: $plan is that file.

# line WORD...
line() {
	local IFS=$'\t'
	echo "$*" >>"$plan"
}

# chosen KEY: is this one wanted?
# shellcheck disable=SC2053  # it is a pattern
chosen() { [[ $1 == ${ONLY:-*} ]]; }

# more WORD...: a line about the last contestant, if there is one, which $took says
more() { [ -z "$took" ] || line "$@"; }

# skip KEY LABEL WHY
skip() { ! chosen "$1" || line skip "$2" "$3"; }

# encode TEXT: as a value among agent options
encode() {
	local i c
	for ((i = 0; i < ${#1}; i++)); do
		c=${1:i:1}
		case $c in
		[a-zA-Z0-9.:_-]) printf %s "$c" ;;
		*) printf '%%%02X' "'$c" ;;
		esac
	done
}
