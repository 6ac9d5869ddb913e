// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What programs do when they start: read, write, start others, wait for signals, end. */
public class Hello {
	public static void main(String[] args) throws Exception {
		switch (args.length == 0 ? "" : args[0]) {
		case "echo" -> System.in.transferTo(System.out);
		case "exit" -> System.exit(Integer.parseInt(args[1]));
		case "command" -> System.out.write(Files.readAllBytes(Path.of("/proc/self/cmdline")));
		case "child" -> child();
		case "wait" -> waitForSignal();
		default -> {
			System.out.println("hello " + List.of(args));
			System.err.println("and goodbye");
		}
		}
		System.out.flush();
	}

	static void child() throws IOException, InterruptedException {
		String java = System.getProperty("java.home") + "/bin/java";
		String path = System.getProperty("java.class.path");

		System.exit(new ProcessBuilder(java, "-cp", path, "Hello", "from", "below").inheritIO().start().waitFor());
	}

	static void waitForSignal() throws InterruptedException {
		Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("asked to end")));
		System.out.println("ready");
		Thread.sleep(60_000);
	}
}
