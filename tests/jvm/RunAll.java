// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/**
 * Runs many little programs in one JVM: reads lines `DIR<TAB>CLASS` from stdin, loads the class
 * from the directory in a loader of its own and calls its main.  Before each it prints
 * `== DIR CLASS`, so that the output of two runs over equally named trees can be compared with
 * diff.  A program that throws prints a line `FAILED ...`, and the exit status is 1.
 */
public final class RunAll {
	public static void main(String[] args) throws Exception {
		boolean failed = false;
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		for (String line; (line = in.readLine()) != null;) {
			String[] f = line.split("\t");
			System.out.println("== " + f[0] + " " + f[1]);
			URL[] path = {Path.of(f[0]).toUri().toURL()};
			try (URLClassLoader loader = new URLClassLoader(path,
					ClassLoader.getPlatformClassLoader())) {
				loader.setDefaultAssertionStatus(true);
				Class.forName(f[1], true, loader).getMethod("main", String[].class)
					.invoke(null, (Object) new String[0]);
			} catch (InvocationTargetException e) {
				System.out.println("FAILED " + f[1] + ": " + e.getCause());
				failed = true;
			} catch (ReflectiveOperationException | LinkageError e) {
				System.out.println("FAILED " + f[1] + ": " + e);
				failed = true;
			}
			System.out.flush();
		}
		System.exit(failed ? 1 : 0);
	}
}
