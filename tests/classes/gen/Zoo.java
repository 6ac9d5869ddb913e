// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Where generated classes go; see make-zoo for the tree. */
final class Zoo {
	final Path out;
	final List<String> programs = new ArrayList<>();
	int written;

	Zoo(Path out) {
		this.out = out;
	}

	static int major(byte[] b) {
		return (b[6] & 0xff) << 8 | b[7] & 0xff;
	}

	/** A class the JVM must accept; name is its internal name. */
	void valid(String name, byte[] b) {
		write("valid/" + major(b) + "/gen/" + name + ".class", b);
	}

	/** The same, with a main method whose output must survive any edit. */
	void program(String name, byte[] b) {
		valid(name, b);
		programs.add("valid/" + major(b) + "/gen\t" + name.replace('/', '.'));
	}

	/** Well-formed, but not for a JVM to load, or not with every set of options. */
	void roundtripOnly(String file, byte[] b) {
		write("roundtrip-only/" + file + ".class", b);
	}

	void invalid(String group, String file, byte[] b) {
		write("invalid/" + group + "/" + file + ".class", b);
	}

	void write(String file, byte[] b) {
		try {
			Path p = out.resolve(file);
			if (Files.exists(p))
				throw new IllegalStateException("written twice: " + p);
			Files.createDirectories(p.getParent());
			Files.write(p, b);
			written++;
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}
}
