// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Pack STEP CORPUS JAR|DIRECTORY...: writes every STEP-th of all classes, in the order of their
 * names, into one file: [u4 length][bytes]...
 */
class Pack {
	static final TreeMap<String, byte[]> classes = new TreeMap<>();

	static void collect(Path root) throws IOException {
		List<Path> files;
		try (Stream<Path> all = Files.walk(root)) {
			files = all.filter(p -> p.toString().endsWith(".class")).toList();
		}
		for (Path p : files) {
			String name = root.relativize(p).toString();
			if (!name.startsWith("META-INF"))
				classes.putIfAbsent(name, Files.readAllBytes(p));
		}
	}

	public static void main(String[] args) throws IOException {
		int step = Integer.parseInt(args[0]), i = 0;
		for (int a = 2; a < args.length; a++) {
			Path path = Path.of(args[a]);
			if (Files.isDirectory(path)) {
				collect(path);
				continue;
			}
			try (FileSystem jar = FileSystems.newFileSystem(path)) {
				collect(jar.getPath("/"));
			}
		}
		var file = new BufferedOutputStream(Files.newOutputStream(Path.of(args[1])));
		try (var out = new DataOutputStream(file)) {
			for (byte[] bytes : classes.values()) {
				if (i++ % step == 0) {
					out.writeInt(bytes.length);
					out.write(bytes);
				}
			}
		}
	}
}
