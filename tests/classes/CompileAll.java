// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/**
 * Compiles the sources below JAVA/rN with this JDK's javac, once for each release it supports from
 * 7 on: release R takes all directories with N <= R and writes to OUT/valid/(44 + R)/javacV.  Adds
 * the programs among them to OUT/programs.
 */
public final class CompileAll {
	private static final ToolProvider JAVAC = ToolProvider.findFirst("javac").orElseThrow();

	public static void main(String[] args) throws IOException {
		Path java = Path.of(args[0]), out = Path.of(args[1]);
		int feature = Runtime.version().feature();
		TreeMap<Integer, Path> levels = new TreeMap<>();
		try (Stream<Path> dirs = Files.list(java)) {
			for (Path d : (Iterable<Path>) dirs.filter(Files::isDirectory)::iterator)
				levels.put(Integer.valueOf(d.getFileName().toString().substring(1)),
						d);
		}
		for (int release = levels.firstKey(); release <= feature; release++) {
			if (release < 8 && feature > 19)
				continue;		// javac 20 dropped --release 7
			TreeSet<Path> sources = new TreeSet<>();
			for (Path d : levels.headMap(release, true).values())
				try (Stream<Path> files = Files.walk(d)) {
					for (Path f : (Iterable<Path>) files::iterator)
						if (f.toString().endsWith(".java"))
							sources.add(f);
				}
			compile(sources, release, out, "javac" + feature, release >= 8
					? new String[] {"-g", "-parameters"} : new String[] {"-g"});
			if (release == feature)
				compile(sources, release, out, "plain" + feature, "-g:none",
						"-proc:none");
		}
	}

	private static void compile(TreeSet<Path> sources, int release, Path out, String set,
			String... options)
			throws IOException {
		String root = "valid/" + (44 + release) + "/" + set;
		List<String> args = new ArrayList<>(List.of("--release", "" + release, "-nowarn",
				"-Xlint:none", "-encoding",
				"UTF-8", "-d", out.resolve(root).toString()));
		args.addAll(Arrays.asList(options));
		for (Path s : sources)
			args.add(s.toString());
		StringWriter messages = new StringWriter();
		PrintWriter w = new PrintWriter(messages);
		if (JAVAC.run(w, w, args.toArray(new String[0])) != 0) {
			System.err.println("make-zoo: javac --release " + release + " failed:\n"
					+ messages);
			System.exit(3);
		}
		List<String> programs = new ArrayList<>();
		for (Path s : sources)
			if (Files.readString(s).contains("static void main("))
				programs.add(root + "\tzoo."
				+ s.getFileName().toString().replace(".java", ""));
		Files.write(out.resolve("programs"), programs, StandardOpenOption.APPEND);
	}
}
