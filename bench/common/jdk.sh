# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# To be sourced by benches, with the top of the tree as the working directory.

# jdk MAJOR: where it is; fails when it is not here.
jdk() { tools/find-jdks | awk -v major="$1" '$1 + 0 == major { print $2; found = 1; exit } END { exit !found }'; }
