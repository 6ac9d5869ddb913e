/* SPDX-License-Identifier: Apache-2.0 */
/* bus_key.c - "plan" and "com.shop.Main" is plan.com=2Eshop=2EMain. */
#include "manager/bus/bus_key.h"

#include <stdio.h>

static bool is_plain(unsigned c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_';
}

bool bus_key_make(char to[BUS_KEY], const char *word, struct slice name)
{
	size_t n = (size_t)snprintf(to, BUS_KEY, "%s.", word);

	for (size_t i = 0; i < name.n; i++) {
		if (n + 4 > BUS_KEY)
			return false;
		n += (size_t)snprintf(to + n, 4, is_plain(name.p[i]) ? "%c" : "=%02X", name.p[i]);
	}
	return name.n > 0;
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool bus_key_read(const char *key, const char *word, char *to, size_t room)
{
	size_t n = strlen(word), at = 0;

	if (strncmp(key, word, n) != 0 || key[n] != '.' || !key[n + 1])
		return false;
	for (key += n + 1; *key; key++) {
		int c = (unsigned char)*key;

		if (c == '=') {
			int high = digit(key[1]), low = high < 0 ? -1 : digit(key[2]);

			c = low < 0 ? 0 : high * 16 + low;
			if (!c || is_plain((unsigned)c)) /* it has another spelling */
				return false;
			key += 2;
		} else if (!is_plain((unsigned)c)) {
			return false;
		}
		if (at + 1 >= room)
			return false;
		to[at++] = (char)c;
	}
	to[at] = '\0';
	return true;
}
