/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_class.h - what the sub-commands of "sonde class" share. */
#ifndef CLI_CMD_CLASS_H
#define CLI_CMD_CLASS_H

#include "cli/cli.h"

int class_show_main(int argc, char **argv);
int class_verify_main(int argc, char **argv);
int class_roundtrip_main(int argc, char **argv);
int class_diff_main(int argc, char **argv);
int class_callees_main(int argc, char **argv);

#endif
