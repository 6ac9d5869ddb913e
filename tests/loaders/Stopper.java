// SPDX-License-Identifier: Apache-2.0

import com.sun.jdi.Bootstrap;
import com.sun.jdi.IntegerValue;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * A debugger that stops the thread "first" of Busy at random moments, looks whether "second" goes on
 * loading classes meanwhile, and has sonde answer.
 *
 * Arguments: port, rounds, sonde, process id.  The last line is "went on N rounds" or says what did
 * not.
 */
public final class Stopper {
	private static final int SECONDS = 60;

	private final VirtualMachine vm;
	private final ReferenceType busy;
	private final ThreadReference first, second;

	private Stopper(String port) throws Exception {
		AttachingConnector by = null;

		for (AttachingConnector c : Bootstrap.virtualMachineManager().attachingConnectors())
			if (c.name().equals("com.sun.jdi.SocketAttach"))
				by = c;
		Map<String, Connector.Argument> arguments = by.defaultArguments();
		arguments.get("hostname").setValue("127.0.0.1");
		arguments.get("port").setValue(port);
		vm = by.attach(arguments);
		busy = vm.classesByName("Busy").get(0);
		first = thread("first");
		second = thread("second");
	}

	private ThreadReference thread(String name) {
		return vm.allThreads().stream().filter(t -> t.name().equals(name)).findFirst().get();
	}

	private int loaded() {
		return ((IntegerValue) busy.getValue(busy.fieldByName("second"))).value();
	}

	/** Does it wait for a Java lock that the stopped thread has?  That is the program's own affair. */
	private boolean waitsForFirst() throws Exception {
		boolean waits;

		second.suspend();
		waits = second.currentContendedMonitor() != null;
		second.resume();
		return waits;
	}

	/** "" when classes are loaded, or why not. */
	private String stuck() throws Exception {
		long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
		int before = loaded();

		/* One load may have been past everything when the other thread was stopped. */
		while (loaded() < before + 3) {
			long left = end - System.nanoTime();

			if (left < TimeUnit.SECONDS.toNanos(SECONDS - 2) && waitsForFirst())
				return "";
			if (left < 0)
				return "no class is loaded while a thread is stopped " + where();
			Thread.sleep(1);
		}
		return "";
	}

	private String where() throws Exception {
		StringBuilder text = new StringBuilder();

		second.suspend();
		for (var frame : first.frames())
			text.append("\n  first:  ").append(frame.location());
		for (var frame : second.frames())
			text.append("\n  second: ").append(frame.location());
		second.resume();
		return text.toString();
	}

	private static boolean answers(String... command) throws Exception {
		Process p = new ProcessBuilder(command).inheritIO().start();

		if (p.waitFor(SECONDS, TimeUnit.SECONDS))
			return true;
		p.destroyForcibly();
		return false;
	}

	private static void end(String why) {
		System.out.println(why);
		System.exit(1);
	}

	public static void main(String[] args) throws Exception {
		Stopper s = new Stopper(args[0]);
		int rounds = Integer.parseInt(args[1]);
		String sonde = args[2], pid = args[3];
		Random random = new Random(rounds);

		for (int i = 0; i < rounds; i++) {
			TimeUnit.MICROSECONDS.sleep(random.nextInt(2000));
			s.first.suspend();
			String why = s.stuck();
			if (!why.isEmpty())
				end("stuck in round " + i + ": " + why);
			if (i % 64 == 20 && !answers(sonde, "unhook", pid, "all"))
				end("stuck in round " + i + ": sonde unhook does not answer");
			if (i % 64 == 20 && !answers(sonde, "hook", "--yes", pid, "hook Guest::* light"))
				end("stuck in round " + i + ": sonde hook does not answer");
			if (i < rounds - 1)
				s.first.resume();
		}
		if (!answers(sonde, "detach", pid))
			end("stuck: sonde detach does not answer");
		System.out.println("went on " + rounds + " rounds");
		System.exit(0);
	}
}
