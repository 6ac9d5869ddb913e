/* SPDX-License-Identifier: Apache-2.0 */
/* class_tools.h - what the sub-commands of "sonde class" share. */
#ifndef CLI_CLASSTOOLS_CLASS_TOOLS_H
#define CLI_CLASSTOOLS_CLASS_TOOLS_H

#include "cli/screen/verb.h"

int class_show_main(int argc, char **argv);
int class_verify_main(int argc, char **argv);
int class_roundtrip_main(int argc, char **argv);
int class_diff_main(int argc, char **argv);
int class_callees_main(int argc, char **argv);

extern const struct verb verb_class_show, verb_class_verify, verb_class_roundtrip, verb_class_diff,
	verb_class_callees;

#endif
