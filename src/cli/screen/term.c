/* SPDX-License-Identifier: Apache-2.0 */
/* term.c - the terminal, by the escape sequences that all of today's have in common (ECMA-48 and
 * xterm's private modes).
 *
 * A view is written in one go, line by line over the old one, and only the rest of each line is
 * erased: nothing is ever blank in between, so nothing flickers. */
#include "cli/screen/term.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/visible.h"

/* Second screen, no cursor, no line breaks of its own; and back. */
#define ENTER "\033[?1049h\033[?25l\033[?7l\033[H\033[2J"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

static const int deadly[] = { SIGTERM, SIGHUP, SIGQUIT, SIGTSTP };

static struct {
	volatile sig_atomic_t live;
	bool keys;		 /* stdin is a terminal, whose settings were changed */
	bool ended;		 /* ... and gives no more keys */
	unsigned char typed[64]; /* and not handed out yet */
	size_t n_typed;
	struct termios before, during;
	struct sigaction old[COUNT(deadly)], old_cont, old_winch;
} term;

static struct winsize size(void)
{
	struct winsize w = { 0 };

	if (isatty(STDOUT_FILENO) && (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0 || !w.ws_col))
		w = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	return w;
}

unsigned term_columns(void)
{
	return size().ws_col;
}

unsigned term_rows(void)
{
	return size().ws_row;
}

bool term_is(void)
{
	const char *kind = getenv("TERM");

	return isatty(STDOUT_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0;
}

bool term_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < COUNT(names); i++) {
		const char *v = getenv(names[i]);
		const char *dot = v ? strchr(v, '.') : NULL;

		if (v && *v) /* the first that is set decides */
			return dot && (strncasecmp(dot, ".utf-8", 6) == 0 ||
				       strncasecmp(dot, ".utf8", 5) == 0);
	}
	return false;
}

static void write_all(const void *p, size_t n)
{
	const char *at = p;

	while (n) {
		ssize_t done = write(STDOUT_FILENO, at, n);

		if (done < 0 && errno != EINTR)
			return;
		at += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
}

/* These two may run in a signal handler. */
static void enter(void)
{
	if (term.keys)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &term.during);
	write_all(ENTER, sizeof(ENTER) - 1);
}

static void leave(void)
{
	write_all(LEAVE, sizeof(LEAVE) - 1);
	if (term.keys)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &term.before);
}

static void on_winch(int sig)
{
	(void)sig; /* only ends the waiting */
}

/* Puts the terminal back, and lets the signal do what it does. */
static void on_deadly(int sig)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	int error = errno;
	sigset_t one;

	if (term.live)
		leave();
	sigaction(sig, &plain, NULL);
	raise(sig);
	sigemptyset(&one);
	sigaddset(&one, sig);
	sigprocmask(SIG_UNBLOCK, &one, NULL); /* it comes here */
	errno = error;
}

static void on_cont(int sig)
{
	struct sigaction act = { .sa_handler = on_deadly };
	int error = errno;

	(void)sig;
	sigaction(SIGTSTP, &act, NULL);
	if (term.live)
		enter();
	errno = error;
}

bool term_live_start(void)
{
	struct sigaction deadly_act = { .sa_handler = on_deadly };
	struct sigaction cont = { .sa_handler = on_cont }, winch = { .sa_handler = on_winch };

	if (term.live || !term_is())
		return false;
	term.ended = false;
	term.n_typed = 0;
	term.keys = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &term.before) == 0;
	term.during = term.before;
	term.during.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	term.during.c_cc[VMIN] = 0;
	term.during.c_cc[VTIME] = 0;
	for (size_t i = 0; i < COUNT(deadly); i++)
		sigaction(deadly[i], &deadly_act, &term.old[i]);
	sigaction(SIGCONT, &cont, &term.old_cont);
	sigaction(SIGWINCH, &winch, &term.old_winch);
	term.live = 1;
	enter();
	return true;
}

void term_live_end(void)
{
	if (!term.live)
		return;
	term.live = 0;
	leave();
	for (size_t i = 0; i < COUNT(deadly); i++)
		sigaction(deadly[i], &term.old[i], NULL);
	sigaction(SIGCONT, &term.old_cont, NULL);
	sigaction(SIGWINCH, &term.old_winch, NULL);
}

bool term_is_live(void)
{
	return term.live;
}

void term_live_draw(struct slice text)
{
	struct buf out = { 0 };
	unsigned rows = term_rows(), row = 0, how = term_utf8() ? VISIBLE_LINE : VISIBLE_ASCII;

	buf_text(&out, "\033[?2026h\033[H"); /* where it is known: show nothing before the end */
	while (text.n && row < rows) {
		const uint8_t *end = memchr(text.p, '\n', text.n);
		size_t n = end ? (size_t)(end - text.p) : text.n;

		buf_text(&out, row++ ? "\r\n" : "");
		visible_put(&out, (struct slice){ text.p, n }, how);
		buf_text(&out, "\033[K");
		text.p += n + (end != NULL);
		text.n -= n + (end != NULL);
	}
	buf_text(&out, row < rows ? "\r\n\033[J\033[?2026l" : "\033[?2026l");
	if (!out.err)
		write_all(out.p, out.n);
	buf_release(&out);
}

/* ---- keys ---------------------------------------------------------------------------------- */

/* What terminals send for a key, behind ESC. */
static const struct {
	const char *text;
	int key;
} sequences[] = {
	{ "[A", TERM_UP },	   { "[B", TERM_DOWN }, { "[C", TERM_RIGHT },
	{ "[D", TERM_LEFT },	   { "OA", TERM_UP },	{ "OB", TERM_DOWN },
	{ "OC", TERM_RIGHT },	   { "OD", TERM_LEFT }, { "[5~", TERM_PAGE_UP },
	{ "[6~", TERM_PAGE_DOWN }, { "[H", TERM_HOME }, { "[F", TERM_END },
	{ "[1~", TERM_HOME },	   { "[4~", TERM_END }, { "OH", TERM_HOME },
	{ "OF", TERM_END },
};

/* How many of the typed bytes are one key. */
static size_t key_bytes(const unsigned char *p, size_t n)
{
	size_t i = 1;

	if (p[0] >= 0x80) /* a character of UTF-8 */
		while (i < n && (p[i] & 0xc0) == 0x80)
			i++;
	if (p[0] != 033 || n == 1 || (p[1] != '[' && p[1] != 'O'))
		return i;
	for (i = 2; i < n && (p[i] < 0x40 || p[i] > 0x7e);)
		i++;
	return i < n ? i + 1 : n;
}

static int take_key(void)
{
	size_t n = key_bytes(term.typed, term.n_typed);
	int key = n == 1 && term.typed[0] < 0x80 ? term.typed[0] : 0;

	for (size_t i = 0; n > 1 && term.typed[0] == 033 && i < COUNT(sequences); i++)
		if (slice_is((struct slice){ term.typed + 1, n - 1 }, sequences[i].text))
			key = sequences[i].key;
	term.n_typed -= n;
	memmove(term.typed, term.typed + n, term.n_typed);
	return key;
}

int term_live_key(int timeout_ms)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	ssize_t n;

	if (term.n_typed)
		return take_key();
	if (poll(&in, term.keys && !term.ended ? 1 : 0, timeout_ms) <= 0)
		return 0;
	n = read(STDIN_FILENO, term.typed, sizeof(term.typed));
	term.ended = n == 0 || (n < 0 && errno != EINTR);
	term.n_typed = n > 0 ? (size_t)n : 0;
	return n > 0 ? take_key() : 0;
}
