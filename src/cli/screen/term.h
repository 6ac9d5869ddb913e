/* SPDX-License-Identifier: Apache-2.0 */
/* term.h - the terminal: how large it is, and a view on it that is drawn over and over.
 *
 * Between term_live_start and term_live_end the terminal shows the view alone (on its second
 * screen, so nothing of the first is lost), keys come one by one and are not shown.  However the
 * process ends or is stopped (Ctrl-Z, kill), the terminal is put back as it was, but for SIGKILL.
 * One view at a time, one thread. */
#ifndef CLI_SCREEN_TERM_H
#define CLI_SCREEN_TERM_H

#include "base/slice.h"

bool term_is(void);	     /* stdout is a terminal that understands more than text */
unsigned term_columns(void); /* 0 when stdout is none */
unsigned term_rows(void);    /* 0 when stdout is none */
bool term_utf8(void);	     /* the locale says that UTF-8 is understood */

bool term_live_start(void); /* false: it cannot be had */
void term_live_end(void);   /* also when there is none */
bool term_is_live(void);

/* Shows the text from the top; what does not fit is not shown. */
void term_live_draw(struct slice text);

enum { /* keys that are no character */
       TERM_UP = 0x100,
       TERM_DOWN,
       TERM_RIGHT,
       TERM_LEFT,
       TERM_PAGE_UP,
       TERM_PAGE_DOWN,
       TERM_HOME,
       TERM_END,
};

/* The key that was pressed: a character of ASCII or TERM_*; 0 when none was in this time, or when the
 * size has changed or a signal came.  Other keys are 0 as well. */
int term_live_key(int timeout_ms);

#endif
