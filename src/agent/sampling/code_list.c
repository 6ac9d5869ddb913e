/* SPDX-License-Identifier: Apache-2.0 */
/* code_list.c - walks the JVM's code heaps and names each piece, as is done for the addresses of samples.
 *
 * Threads and compilers go on meanwhile: what is replaced while it is read is told in part, or not. */
#include "agent/sampling/code_list.h"

#include "agent/core/agent.h"
#include "agent/sampling/peek.h"
#include "agent/sampling/place_names.h"
#include "wire/wire.h"

enum { PIECES_MAX = 500000 };

struct listing {
	struct conn *c;
	struct place_names names;
	struct buf name;
	unsigned n;
};

static bool put_piece(void *ctx, const struct blob *b)
{
	struct listing *l = ctx;
	unsigned kind;

	buf_clear(&l->name);
	kind = place_names_code(&l->names, b, &l->name);
	wire_put_code_piece(&l->c->out, &(struct wire_code_piece){ .address = b->code,
								   .size = b->end - b->code,
								   .kind = kind,
								   .name = buf_slice(&l->name) });
	return ++l->n < PIECES_MAX && !l->c->out.err;
}

void code_list_run(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct listing l = { .c = c };
	struct vm_layout layout;
	bool open = peek_has_begun(); /* for samples, which go on */
	const char *why = peek_begin() ? vm_layout_find(&layout, agent.jdk)
				       : "its memory cannot be read";

	(void)jni;
	(void)payload;
	if (why) {
		conn_done(c, CANNOT, "the code of this JVM cannot be listed: %s", why);
	} else {
		place_names_init(&l.names, &layout);
		place_names_next_round(&l.names, NULL);
		heaps_each(&layout.heaps, put_piece, &l);
		place_names_release(&l.names);
		buf_release(&l.name);
		conn_done(c, DONE, "%s", "");
	}
	if (!open)
		peek_end();
}
