/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_process.c - any bytes as what a process tells of itself: the account of a JVM (hsperfdata),
 * its command line and its environment.  The first byte says which. */
#include <stdlib.h>

#include "jvm/hsperf.h"
#include "jvm/jvm_args.h"
#include "jvm/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need_inside(struct slice part, struct slice all)
{
	if (part.n && (part.p < all.p || part.p + part.n > all.p + all.n))
		abort();
}

static void account(struct slice in)
{
	struct hsperf h;

	if (hsperf_parse(in, &h) < 0)
		return;
	need_inside(h.command, in);
	need_inside(h.vm_args, in);
	need_inside(h.java_version, in);
	need_inside(h.java_home, in);
	need_inside(h.capabilities, in);
}

static void arguments(struct slice in)
{
	struct buf options = { 0 }, before = { 0 }, after = { 0 };
	struct slice main, rest, name, word, list;

	jvm_args_split(in, &options, &main, &rest);
	need_inside(main, in);
	need_inside(rest, in);
	name = jvm_args_name(main, rest);
	need_inside(name, in);
	(void)jvm_args_match(name, "shop.jar");
	jvm_args_environ(in, &before, &after);
	list = buf_slice(&options);
	while (jvm_args_word(&list, &word))
		need_inside(word, buf_slice(&options));
	(void)jvm_args_has(buf_slice(&options), "-XX:+DisableAttachMechanism");
	buf_release(&options);
	buf_release(&before);
	buf_release(&after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = { data + 1, size - 1 }, line, text = in;

	if (!size)
		return 0;
	if (data[0] & 1)
		account(in);
	else
		arguments(in);
	while (proc_line(&text, &line))
		need_inside(line, in);
	return 0;
}
