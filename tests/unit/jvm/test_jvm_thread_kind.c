/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/thread_kind.h"
#include "test.h"

TEST(threads_are_known_by_their_names)
{
	CHECK(thread_kind("G1 Conc#0") == THREAD_GC);
	CHECK(thread_kind("C2 CompilerThre") == THREAD_JIT);
	CHECK(thread_kind("sonde") == THREAD_OWN);
	CHECK(thread_kind("http-nio-8080-e") == THREAD_PROGRAM);
	CHECK(thread_kind("") == THREAD_PROGRAM);
}
