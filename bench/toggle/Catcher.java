// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.ObjectName;

/** A class that catches Throwable in every way, called all the time by two threads.  For each line of
 * its input it collects garbage and prints what the JVM says of its memory, in bytes. */
public class Catcher {
	static final Pattern COMMITTED = Pattern.compile("Total: reserved=\\d+KB, committed=(\\d+)KB");
	static volatile long calls, wrong;

	static int plain(int i) {
		try {
			return 100 / (i & 3);
		} catch (Throwable t) {
			return -1;
		}
	}

	static int nested(int i) {
		int n = 0;
		try {
			try {
				n += thrower(i);
			} catch (IllegalStateException e) {
				n += 2;
				throw e;
			} finally {
				n += 4;
			}
		} catch (Throwable t) {
			n += 8;
		}
		return n;
	}

	static int thrower(int i) {
		if ((i & 7) == 0)
			throw new IllegalStateException();
		if ((i & 7) == 1)
			throw new StackOverflowError();
		return 1;
	}

	static int loop(int i) {
		int n = 0;
		for (int k = 0; k < 4; k++) {
			try {
				n += plain(i + k);
			} catch (Throwable t) {
				n = -1000;
			}
		}
		return n;
	}

	synchronized int locked(int i) {
		synchronized (this) {
			try {
				return nested(i) + loop(i);
			} catch (Throwable t) {
				return -1;
			}
		}
	}

	static int expected(int i) {
		return (i & 7) == 0 ? 14 : (i & 7) == 1 ? 12 : 5;
	}

	static void work() {
		Catcher c = new Catcher();
		for (int i = 0;; i++) {
			if (c.locked(i) != expected(i) + 182) /* 100 + 50 + 33 - 1 */
				wrong++;
			if ((i & 1023) == 0)
				calls += 1024;
		}
	}

	/** What the JVM's own accounts say that it has asked of the system; 0: not known. */
	static long committed() {
		try {
			Object text = ManagementFactory.getPlatformMBeanServer().invoke(
				new ObjectName("com.sun.management:type=DiagnosticCommand"), "vmNativeMemory",
				new Object[] { new String[] { "summary" } }, new String[] { String[].class.getName() });
			Matcher m = COMMITTED.matcher(text.toString());
			return m.find() ? Long.parseLong(m.group(1)) * 1024 : 0;
		} catch (Exception e) {
			return 0;
		}
	}

	static void report() {
		long metaspace = 0, code = 0;
		System.gc();
		System.gc();
		for (MemoryPoolMXBean p : ManagementFactory.getMemoryPoolMXBeans()) {
			if (p.getName().equals("Metaspace"))
				metaspace = p.getUsage().getUsed();
			else if (p.getName().startsWith("Code"))
				code += p.getUsage().getUsed();
		}
		System.out.println(metaspace + " " + ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed()
			+ " " + code + " " + committed() + " " + calls + " " + wrong);
	}

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		for (int i = 0; i < 2; i++) {
			Thread t = new Thread(Catcher::work, "load-" + i);
			t.setDaemon(true);
			t.start();
		}
		System.out.println("ready");
		while (in.readLine() != null)
			report();
	}
}
