/* SPDX-License-Identifier: Apache-2.0 */
/* tell.c - a list of deliveries, each with the time of its next try. */
#include "manager/watch/tell.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "manager/log.h"
#include "manager/net/post.h"
#include "manager/wait.h"

enum {
	WAITING_MAX = 500,
	TRIES = 10,
	FIRST_RETRY_MS = 2000,
	LAST_RETRY_MS = 600000,
	POST_MS = 10000,
	MAIL_MS = 30000,
	TEXT_MAX = 32 << 10, /* less than a pipe takes at once */
};

struct delivery {
	struct delivery *next;
	unsigned url, tries; /* url: index; n_urls and above are addresses */
	uint64_t due_ms;
	char subject[200];
	struct buf body;
};

struct tell {
	const struct settings *config;
	struct poster *poster;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct delivery *first, **last;
	struct tell_counts counts;
	bool ends, runs;
};

static void drop(struct delivery *d)
{
	buf_release(&d->body);
	mem_free(d);
}

static unsigned targets(const struct settings *c)
{
	return c->n_alert_urls + c->n_alert_mails;
}

static const char *target_name(const struct settings *c, unsigned at)
{
	return at < c->n_alert_urls ? c->alert_urls[at] : c->alert_mails[at - c->n_alert_urls];
}

/* ---- mail ---- */

/* Headers are ASCII, and end with their line. */
static void put_header(struct buf *out, const char *name, const char *value)
{
	buf_printf(out, "%s: ", name);
	for (; *value; value++)
		buf_u8(out, *value >= ' ' && *value < 127 ? (uint8_t)*value : '?');
	buf_u8(out, '\n');
}

static void put_mail(const struct delivery *d, const char *to, struct buf *out)
{
	struct slice text = buf_slice(&d->body);

	text.n = text.n < TEXT_MAX ? text.n : TEXT_MAX;
	put_header(out, "To", to);
	put_header(out, "Subject", d->subject);
	buf_text(out, "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
		      "Content-Transfer-Encoding: 8bit\nAuto-Submitted: auto-generated\n\n");
	buf_put(out, text);
}

static pid_t spawn_sendmail(const struct settings *c, int from)
{
	char *argv[] = { (char *)(uintptr_t)c->sendmail, (char *)(uintptr_t) "-t",
			 (char *)(uintptr_t) "-oi", NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t pipe;
	pid_t pid = -1;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &pipe);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, from, 0);
	if (posix_spawn(&pid, c->sendmail, &files, &attr, argv, environ) != 0)
		pid = -1;
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return pid;
}

static bool wait_for(pid_t pid, char *why, size_t n)
{
	uint64_t until = clock_steady_ms() + MAIL_MS;
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (clock_steady_ms() > until)
			kill(pid, SIGKILL);
		usleep(20000);
	}
	snprintf(why, n, "exit status %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool mail(struct tell *t, const struct delivery *d, char *why, size_t n)
{
	struct buf text = { 0 };
	int ends[2];
	pid_t pid = -1;
	bool good = false;

	put_mail(d, target_name(t->config, d->url), &text);
	snprintf(why, n, "%.200s cannot be run", t->config->sendmail);
	if (text.err || pipe2(ends, O_CLOEXEC) < 0)
		goto out;
	good = write(ends[1], text.p, text.n) == (ssize_t)text.n;
	close(ends[1]);
	if (good)
		pid = spawn_sendmail(t->config, ends[0]);
	close(ends[0]);
	good = pid > 0 && wait_for(pid, why, n);
out:
	buf_release(&text);
	return good;
}

/* ---- web hooks ---- */

static bool post(struct tell *t, struct delivery *d, char *why, size_t n)
{
	struct post what = { .url = t->config->alert_urls[d->url],
			     .headers = { "Content-Type: application/json" },
			     .body = buf_slice(&d->body),
			     .limit_ms = POST_MS };
	struct posted said;

	if (post_send(t->poster, &what, &said) && said.status / 100 == 2)
		return true;
	if (!post_may_retry(&said))
		d->tries = TRIES;
	if (said.status)
		snprintf(why, n, "HTTP status %d", said.status);
	else
		snprintf(why, n, "%s", said.why);
	return false;
}

/* ---- the thread ---- */

/* Takes the one that is due first off the list; else tells in `wait` how long that will be. */
static struct delivery *take_due(struct tell *t, uint64_t now, uint64_t *wait)
{
	struct delivery **best = NULL, *d;

	*wait = 60000;
	for (struct delivery **at = &t->first; *at; at = &(*at)->next)
		if (!best || (*at)->due_ms < (*best)->due_ms)
			best = at;
	if (!best)
		return NULL;
	if ((*best)->due_ms > now) {
		*wait = (*best)->due_ms - now;
		return NULL;
	}
	d = *best;
	*best = d->next;
	if (!d->next)
		t->last = best;
	return d;
}

static void put_back(struct tell *t, struct delivery *d)
{
	d->next = NULL;
	*t->last = d;
	t->last = &d->next;
}

static uint64_t retry_ms(unsigned tries)
{
	uint64_t ms = (uint64_t)FIRST_RETRY_MS << (tries < 20 ? tries : 20);

	return ms < LAST_RETRY_MS ? ms : LAST_RETRY_MS;
}

static void deliver(struct tell *t, struct delivery *d)
{
	const char *to = target_name(t->config, d->url);
	char why[256] = "";
	bool good = d->url < t->config->n_alert_urls ? post(t, d, why, sizeof(why))
						     : mail(t, d, why, sizeof(why));
	bool again = !good && ++d->tries < TRIES;

	if (!good)
		log_put(LOG_WARN, "%s was not told of \"%s\": %s%s", to, d->subject, why,
			again ? "; it is tried again" : "; given up");
	pthread_mutex_lock(&t->lock);
	t->counts.delivered += good;
	t->counts.failed += !good && !again;
	t->counts.waiting -= !again;
	if (again) {
		d->due_ms = clock_steady_ms() + retry_ms(d->tries - 1);
		put_back(t, d);
	} else {
		drop(d);
	}
	pthread_mutex_unlock(&t->lock);
}

static void *run(void *arg)
{
	struct tell *t = arg;
	uint64_t wait;

	pthread_mutex_lock(&t->lock);
	while (!t->ends) {
		struct delivery *d = take_due(t, clock_steady_ms(), &wait);

		if (!d) {
			wait_ms(&t->work, &t->lock, wait);
			continue;
		}
		pthread_mutex_unlock(&t->lock);
		deliver(t, d);
		pthread_mutex_lock(&t->lock);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* ---- from outside ---- */

static void put_one(struct tell *t, unsigned target, const struct tell_message *m)
{
	struct delivery *d = t->counts.waiting < WAITING_MAX ? mem_alloc(sizeof(*d)) : NULL;

	if (!d) {
		t->counts.failed++;
		return;
	}
	*d = (struct delivery){ .url = target, .due_ms = clock_steady_ms() };
	snprintf(d->subject, sizeof(d->subject), "%s", m->subject);
	buf_put(&d->body, target < t->config->n_alert_urls ? m->json : m->text);
	t->counts.waiting++;
	put_back(t, d);
}

void tell_put(struct tell *t, const struct tell_message *m)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	for (unsigned i = 0; i < targets(t->config); i++)
		put_one(t, i, m);
	pthread_cond_signal(&t->work);
	pthread_mutex_unlock(&t->lock);
}

struct tell_counts tell_counts(struct tell *t)
{
	struct tell_counts c;

	pthread_mutex_lock(&t->lock);
	c = t->counts;
	pthread_mutex_unlock(&t->lock);
	return c;
}

struct tell *tell_start(const struct settings *c)
{
	struct tell *t = mem_alloc(sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct tell){ .config = c };
	t->last = &t->first;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->work, NULL);
	t->poster = post_open();
	t->runs = t->poster && pthread_create(&t->thread, NULL, run, t) == 0;
	if (t->runs)
		return t;
	tell_stop(t);
	return NULL;
}

void tell_stop(struct tell *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->ends = true;
	pthread_cond_signal(&t->work);
	pthread_mutex_unlock(&t->lock);
	if (t->runs)
		pthread_join(t->thread, NULL);
	while (t->first) {
		struct delivery *d = t->first;

		t->first = d->next;
		drop(d);
	}
	post_close(t->poster);
	mem_free(t);
}
