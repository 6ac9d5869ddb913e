// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** DIRECTORY...: compiles the program in each of them into its folder "classes"; many in one JVM, since that is faster. */
public class Compile {
	public static void main(String[] args) throws Exception {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		int bad = 0;
		for (String directory : args) {
			List<Path> sources;
			try (Stream<Path> all = Files.walk(Path.of(directory))) {
				sources = all.filter(p -> p.toString().endsWith(".java")).collect(Collectors.toList());
			}
			Files.createDirectories(Path.of(directory, "classes"));
			try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
				List<String> options = List.of("--release", "17", "-nowarn", "-d", directory + "/classes");
				if (!compiler.getTask(null, files, null, options, null, files.getJavaFileObjectsFromPaths(sources)).call()) {
					System.out.println(directory + " does not compile");
					bad++;
				}
			}
		}
		System.exit(bad > 0 ? 1 : 0);
	}
}
