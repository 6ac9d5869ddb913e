/* SPDX-License-Identifier: Apache-2.0 */
/* settings_alerts.c - what sonded watches, whom it tells, and where it pushes figures. */
#include <string.h>

#include "base/slice.h"
#include "manager/net/post.h"
#include "manager/settings_priv.h"

static int set_watch(struct settings *c, const char *value)
{
	static const char *const words[] = { "off", "alert", "dig" };

	for (unsigned i = 0; i < COUNT(words); i++)
		if (strcmp(value, words[i]) == 0) {
			c->watch = i;
			return SETTINGS_GO;
		}
	return settings_wrong("--watch wants off, alert or dig", value);
}

/* A multiple of the ten seconds in which figures are kept. */
static int set_window(struct settings *c, const char *value)
{
	double n = 0;
	int rc = settings_number(10, 3600, "watch-window", value, &n);

	c->watch_window_ms = (uint64_t)n / 10 * 10000;
	if (rc == SETTINGS_GO && (uint64_t)n * 1000 != c->watch_window_ms)
		return settings_wrong("--watch-window wants a multiple of 10", value);
	return rc;
}

static int set_url(struct settings *c, const char *value)
{
	if (c->n_alert_urls == SETTINGS_NAMES)
		return settings_wrong("--alert-url was given too often", value);
	if (!post_is_url(value))
		return settings_wrong("--alert-url wants an http or https URL", value);
	return settings_text(c->alert_urls[c->n_alert_urls++], sizeof(c->alert_urls[0]), value);
}

static int set_mail(struct settings *c, const char *value)
{
	if (c->n_alert_mails == SETTINGS_NAMES)
		return settings_wrong("--alert-mail was given too often", value);
	if (!strchr(value, '@') || strpbrk(value, " \t,<>\r\n"))
		return settings_wrong("--alert-mail wants one address", value);
	return settings_text(c->alert_mails[c->n_alert_mails++], sizeof(c->alert_mails[0]), value);
}

static int set_otlp_url(struct settings *c, const char *value)
{
	if (!post_is_url(value) || strpbrk(value, "?#"))
		return settings_wrong("--otlp-url wants an http or https URL", value);
	return settings_text(c->otlp_url, sizeof(c->otlp_url), value);
}

static int set_otlp_header(struct settings *c, const char *value)
{
	if (c->n_otlp_headers == SETTINGS_HEADERS)
		return settings_wrong("--otlp-header was given too often", value);
	if (!strchr(value, ':') || strpbrk(value, "\r\n"))
		return settings_wrong("--otlp-header wants 'Name: value'", value);
	return settings_text(c->otlp_headers[c->n_otlp_headers++], sizeof(c->otlp_headers[0]),
			     value);
}

int settings_alerts(struct settings *c, int id, const char *value)
{
	double n = 0;
	int rc;

	switch (id) {
	case OPT_WATCH:
		return set_watch(c, value);
	case OPT_WINDOW:
		return set_window(c, value);
	case OPT_LEARN:
		rc = settings_number(1, 10000, "watch-learn", value, &n);
		c->watch_learn_ms = (uint64_t)(n * 60000);
		return rc;
	case OPT_FACTOR:
		return settings_number(1.05, 1000, "watch-factor", value, &c->watch_factor);
	case OPT_BUDGET:
		rc = settings_number(0.01, 100, "watch-budget", value, &n);
		c->watch_budget = n / 100;
		return rc;
	case OPT_ALERT_URL:
		return set_url(c, value);
	case OPT_ALERT_MAIL:
		return set_mail(c, value);
	case OPT_SENDMAIL:
		return settings_text(c->sendmail, sizeof(c->sendmail), value);
	case OPT_OTLP_URL:
		return set_otlp_url(c, value);
	case OPT_OTLP_HEADER:
		return set_otlp_header(c, value);
	case OPT_OTLP_INTERVAL:
		rc = settings_number(1, 3600, "otlp-interval", value, &n);
		c->otlp_interval_ms = (uint64_t)(n * 1000);
		return rc;
	default:
		return SETTINGS_USAGE;
	}
}
