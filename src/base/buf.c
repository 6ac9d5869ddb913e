/* SPDX-License-Identifier: Apache-2.0 */
/* buf.c - growth by doubling; everything that is hot is inline in the header. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"

enum { BUF_MIN = 256 };

void buf_init(struct buf *b)
{
	*b = (struct buf){ 0 };
}

void buf_release(struct buf *b)
{
	mem_free(b->p);
	buf_init(b);
}

bool buf_grow(struct buf *b, size_t more)
{
	size_t cap = b->cap ? b->cap : BUF_MIN;
	uint8_t *p;

	if (b->err)
		return false;
	if (more > SIZE_MAX / 4 || b->n > SIZE_MAX / 4) {
		b->err = E_LIMIT;
		return false;
	}
	while (cap - b->n < more)
		cap *= 2;
	p = mem_realloc(b->p, cap);
	if (!p) {
		b->err = E_NO_MEMORY;
		b->cap = b->n; /* so that every later write comes here and is refused */
		return false;
	}
	b->p = p;
	b->cap = cap;
	return true;
}

void buf_text(struct buf *b, const char *s)
{
	buf_bytes(b, s, strlen(s));
}

void buf_dotted(struct buf *b, struct slice name)
{
	size_t at = b->n;

	buf_put(b, name);
	if (b->n > at)
		bytes_replace(b->p + at, b->n - at, '/', '.');
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	if (!buf_room(b, 1))
		return;
	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(b->p ? (char *)b->p + b->n : NULL, b->cap - b->n, fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n >= b->cap - b->n) {
		if (buf_room(b, (size_t)n + 1))
			vsnprintf((char *)b->p + b->n, b->cap - b->n, fmt, again);
		else
			n = 0;
	}
	va_end(again);
	if (n > 0)
		b->n += (size_t)n;
}
