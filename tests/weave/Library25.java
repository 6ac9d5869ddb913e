// SPDX-License-Identifier: Apache-2.0

import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Gatherers;
import java.util.stream.Stream;

/** As Library: what came after JDK 17. */
public class Library25 {
	static final ScopedValue<String> NAME = ScopedValue.newInstance();

	static int deep(int n) {
		if (n > 0)
			return deep(n - 1) + 1;
		LockSupport.parkNanos(1000);
		Thread.yield();
		return 0;
	}

	static int overflow(int n) {
		return overflow(n + 1) + (NAME.isBound() ? 1 : 0);
	}

	/** Virtual threads that park, yield and pin at every depth. */
	static Object virtual() throws Exception {
		AtomicInteger count = new AtomicInteger();
		try (var pool = Executors.newVirtualThreadPerTaskExecutor()) {
			for (int i = 0; i < 1000; i++)
				pool.submit(() -> {
					Thread.sleep(1);
					return count.incrementAndGet();
				});
		}
		ReentrantLock lock = new ReentrantLock();
		Object monitor = new Object();
		int[] n = { 0, 0, 0 };
		List<Thread> all = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			int depth = i * 3;
			all.add(Thread.startVirtualThread(() -> {
				for (int k = 0; k < 100; k++) {
					lock.lock();
					try {
						n[0]++;
					} finally {
						lock.unlock();
					}
					synchronized (monitor) {
						n[1]++;
						if (k % 50 == 0)
							n[2] += deep(depth);
					}
				}
			}));
		}
		for (Thread t : all)
			t.join();
		return count + Arrays.toString(n);
	}

	static Object traces() throws Exception {
		StringBuffer out = new StringBuffer();
		Thread t = Thread.ofVirtual().name("v").uncaughtExceptionHandler((th, e) ->
			out.append(Library.trace(e))).start(() -> {
				throw new IllegalStateException("virtual");
			});
		t.join();
		t = Thread.startVirtualThread(() -> {
			try {
				overflow(0);
			} catch (StackOverflowError e) {
				out.append("overflow");
			}
		});
		t.join();
		CountDownLatch latch = new CountDownLatch(1);
		t = Thread.startVirtualThread(() -> {
			try {
				latch.await();
			} catch (InterruptedException e) {
				out.append("interrupted");
			}
		});
		while (t.getState() != Thread.State.WAITING)
			Thread.sleep(1);
		for (StackTraceElement f : t.getStackTrace())
			out.append(' ').append(f.getMethodName());
		t.interrupt();
		t.join();
		return out;
	}

	static Object scoped() {
		StringBuilder out = new StringBuilder();
		ScopedValue.where(NAME, "a").run(() -> {
			out.append(NAME.get());
			ScopedValue.where(NAME, "b").run(() -> out.append(NAME.get()));
			out.append(NAME.get());
		});
		try {
			ScopedValue.where(NAME, "x").run(() -> {
				throw new IllegalStateException();
			});
		} catch (IllegalStateException e) {
			out.append(NAME.isBound());
		}
		try {
			ScopedValue.where(NAME, "x").run(() -> overflow(0));
		} catch (StackOverflowError e) {
			out.append(NAME.isBound());
		}
		return out;
	}

	static int compare(MemorySegment a, MemorySegment b) {
		return Integer.compare(a.get(ValueLayout.JAVA_INT, 0), b.get(ValueLayout.JAVA_INT, 0));
	}

	/** Down to C, and from there up again. */
	static Object foreign() throws Throwable {
		Linker linker = Linker.nativeLinker();
		var pointer = ValueLayout.ADDRESS.withTargetLayout(ValueLayout.JAVA_INT);
		MethodHandle sort = linker.downcallHandle(linker.defaultLookup().find("qsort").get(),
			FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG,
				ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
		MethodHandle compare = MethodHandles.lookup().findStatic(Library25.class, "compare",
			MethodType.methodType(int.class, MemorySegment.class, MemorySegment.class));
		MemorySegment array;
		StringBuilder out = new StringBuilder();
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment stub = linker.upcallStub(compare,
				FunctionDescriptor.of(ValueLayout.JAVA_INT, pointer, pointer), arena);
			array = arena.allocateFrom(ValueLayout.JAVA_INT, 5, 3, 9, 1);
			sort.invokeExact(array, 4L, 4L, stub);
			out.append(Arrays.toString(array.toArray(ValueLayout.JAVA_INT)));
		}
		try {
			array.get(ValueLayout.JAVA_INT, 0);
		} catch (IllegalStateException e) {
			out.append(e.getMessage());
		}
		return out;
	}

	static Object generated() throws Exception {
		byte[] bytes = ClassFile.of().build(ClassDesc.of("Generated"), c ->
			c.withMethod("f", MethodTypeDesc.ofDescriptor("()I"), 9, m ->
				m.withCode(code -> code.loadConstant(42).ireturn())));
		return MethodHandles.lookup().defineClass(bytes).getMethod("f").invoke(null);
	}

	public static void main(String[] args) {
		Library.part("virtual", Library25::virtual);
		Library.part("traces", Library25::traces);
		Library.part("scoped", Library25::scoped);
		Library.part("foreign", Library25::foreign);
		Library.part("generated", Library25::generated);
		Library.part("gathered", () ->
			Stream.of(1, 2, 3, 4, 5).gather(Gatherers.windowFixed(2)).toList());
		Library.main(args);
	}
}
