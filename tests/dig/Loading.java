// SPDX-License-Identifier: Apache-2.0
// Every request looks for classes that are not there, in hundreds of directories.
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

public class Loading {
	static String handler(ClassLoader plugins, String name) {
		try {
			return plugins.loadClass("plugin." + name).getName();
		} catch (ClassNotFoundException e) {
			return "default";
		}
	}

	static int answer(ClassLoader plugins) {
		int n = 0;
		for (int i = 0; i < 40; i++)
			n += handler(plugins, "Handler" + i).length();
		return n;
	}

	public static void main(String[] args) throws Exception {
		URL[] path = new URL[800];
		for (int i = 0; i < path.length; i++)
			path[i] = Path.of("/tmp/plugins-of-nobody-" + i + "/").toUri().toURL();
		ClassLoader plugins = new URLClassLoader(path);
		for (;;) {
			answer(plugins);
			Thread.sleep(5);
		}
	}
}
