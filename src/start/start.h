/* SPDX-License-Identifier: Apache-2.0 */
/* start.h - the start library, sonde-start.so, that LD_PRELOAD brings into every process.
 *
 * It has one function, which only java launchers call.  Environment: SONDE_AGENT, the agent's
 * options; SONDE_APPS, the file of applications (meant.h); SONDE_LIB, the agent's library when it
 * does not lie beside this one.  With neither of the first two nothing happens. */
#ifndef START_START_H
#define START_START_H

/* The launcher's own function, as in JDK 17 to 26, in whose place ours is called; it begins the
 * JVM with the agent in it, or does what it would have done anyway. */
int JLI_Launch(int argc, char **argv, int tool_argc, const char **tool_argv, int class_argc,
	       const char **class_argv, const char *version, const char *dot_version,
	       const char *program, const char *launcher, unsigned char tool,
	       unsigned char wildcards, unsigned char windowed, int ergonomics);

#endif
