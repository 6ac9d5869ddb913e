// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Runs a woven program and checks afterwards that every method that began has ended, with the
 * token that it was given.
 *
 *   java Balance IDS REPORT CLASS [ARGUMENT]...
 *
 * IDS is what sonde weave --ids wrote.  REPORT gets one line per method for which the numbers
 * differ and a last line with sums.  Methods whose names begin with "overflow" run out of stack:
 * with none left for the probe either, an end may be missed there.
 */
public final class Balance {
	public static void main(String[] args) throws Throwable {
		Method main = Class.forName(args[2]).getMethod("main", String[].class);
		Runtime.getRuntime().addShutdownHook(new Thread(() -> report(args[0], args[1])));
		try {
			main.invoke(null, (Object) Arrays.copyOfRange(args, 3, args.length));
		} catch (InvocationTargetException e) {
			throw e.getCause();
		}
	}

	private static void report(String ids, String file) {
		long methods = 0, calls = 0, wrong = 0;
		try (PrintWriter out = new PrintWriter(file)) {
			Class<?> probe = Class.forName("java.util.SondeProbe");
			Method entered = probe.getMethod("entered", int.class);
			Method left = probe.getMethod("left", int.class);
			Method owed = probe.getMethod("owed", int.class);
			for (String line : Files.readAllLines(Path.of(ids))) {
				String[] f = line.split("\t");
				int id = Integer.parseInt(f[0]);
				int in = (Integer) entered.invoke(null, id);
				int gone = (Integer) left.invoke(null, id);
				if (in != 0)
					methods++;
				calls += in;
				long debt = (Long) owed.invoke(null, id);
				if (in == gone && debt == 0 || f[1].contains(".overflow"))
					continue;
				wrong++;
				out.println(f[1] + ": began " + in + ", ended " + gone + ", owes " + debt);
			}
			int bad = (Integer) probe.getMethod("bad").invoke(null);
			out.println("methods " + methods + " calls " + calls + " unbalanced " + wrong
					+ " bad " + bad);
		} catch (ReflectiveOperationException | IOException e) {
			e.printStackTrace();
		}
	}
}
