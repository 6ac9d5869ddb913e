/* SPDX-License-Identifier: Apache-2.0 */
/* top_keys.c - the names of functions that are kept here are the profile's, which keeps all it ever had. */
#include "cli/top/top_keys.h"

#include "cli/screen/term.h"

enum { ESCAPE = 033, BACKSPACE = 0177, CONTROL_H = 010 };

static enum top_does to_page(struct top_look *look, enum top_page page)
{
	look->page = page;
	look->cursor = look->first = 0;
	return TOP_ANEW;
}

/* ---- a text that is typed ------------------------------------------------------------------ */

static enum top_does type(struct top_look *look, int key)
{
	size_t n = strlen(look->filter);

	if (key == '\n' || key == '\r') {
		look->typing = false;
	} else if (key == ESCAPE) {
		look->typing = false;
		look->filter[0] = '\0';
	} else if ((key == BACKSPACE || key == CONTROL_H) && n) {
		look->filter[n - 1] = '\0';
	} else if (key >= ' ' && key < BACKSPACE && n < TOP_FILTER_MAX) {
		look->filter[n] = (char)key;
		look->filter[n + 1] = '\0';
	}
	look->cursor = look->first = 0;
	return TOP_ANEW;
}

/* ---- in and out ---------------------------------------------------------------------------- */

static enum top_does show_function(struct top_look *look, struct slice name)
{
	if (look->depth == TOP_TRAIL_MAX) { /* the oldest steps are forgotten */
		memmove(look->trail, look->trail + 1, (TOP_TRAIL_MAX - 1) * sizeof(*look->trail));
		look->depth--;
	}
	look->trail[look->depth++] = name;
	return to_page(look, TOP_FUNCTION);
}

static enum top_does enter(struct top_look *look, const struct top_list *l, const struct ranking *r)
{
	if (look->cursor >= l->n)
		return TOP_SAME;
	if (look->page != TOP_THREADS)
		return show_function(look, r->v[l->v[look->cursor].id].name);
	look->thread = l->v[look->cursor].id;
	look->filter[0] = '\0';
	return to_page(look, TOP_FUNCTIONS);
}

static enum top_does leave(struct top_look *look)
{
	if (look->page == TOP_FUNCTION) {
		look->depth--;
		return to_page(look, look->depth ? TOP_FUNCTION : TOP_FUNCTIONS);
	}
	if (look->filter[0]) {
		look->filter[0] = '\0';
		return to_page(look, look->page);
	}
	if (look->page == TOP_THREADS)
		return to_page(look, TOP_FUNCTIONS);
	if (!look->thread)
		return TOP_SAME;
	look->thread = 0;
	return to_page(look, TOP_THREADS);
}

/* ---- up and down --------------------------------------------------------------------------- */

static void move(struct top_look *look, const struct top_list *l, const struct ranking *r, int key,
		 size_t page)
{
	size_t last = l->n ? l->n - 1 : 0, at = look->cursor;

	if (key == TERM_UP || key == 'k')
		at -= at > 0;
	else if (key == TERM_DOWN || key == 'j')
		at++;
	else if (key == TERM_PAGE_UP)
		at -= at < page ? at : page;
	else if (key == TERM_PAGE_DOWN)
		at += page;
	else if (key == TERM_HOME)
		at = 0;
	else if (key == TERM_END)
		at = last;
	look->cursor = at < last ? at : last;
	if (look->cursor < l->n && look->page != TOP_THREADS)
		look->chosen = r->v[l->v[look->cursor].id].name;
}

/* ---- all keys ------------------------------------------------------------------------------ */

static enum top_does press_letter(struct top_look *look, int key)
{
	switch (key) {
	case 's':
		look->by_total = !look->by_total;
		return to_page(look, look->page == TOP_FUNCTION ? TOP_FUNCTIONS : look->page);
	case 't':
		look->depth = 0;
		return to_page(look, look->page == TOP_THREADS ? TOP_FUNCTIONS : TOP_THREADS);
	case 'f':
		look->depth = 0;
		look->thread = 0;
		return to_page(look, TOP_FUNCTIONS);
	case '/':
		look->typing = look->page != TOP_FUNCTION;
		return TOP_SAME;
	case 'p':
	case ' ':
		look->paused = !look->paused;
		return TOP_ANEW;
	case 'r':
		return TOP_FORGET;
	case 'h':
	case '?':
		look->before = look->page;
		look->page = TOP_HELP;
		return TOP_SAME;
	default:
		return TOP_SAME;
	}
}

enum top_does top_keys_press(struct top_look *look, const struct top_list *l,
			     const struct ranking *r, int key, size_t page)
{
	if (look->page == TOP_HELP) {
		look->page = look->before;
		return TOP_SAME;
	}
	if (look->typing)
		return type(look, key);
	switch (key) {
	case '\n':
	case '\r':
	case TERM_RIGHT:
		return enter(look, l, r);
	case ESCAPE:
	case BACKSPACE:
	case CONTROL_H:
	case TERM_LEFT:
		return leave(look);
	default:
		move(look, l, r, key, page);
		return press_letter(look, key);
	}
}
