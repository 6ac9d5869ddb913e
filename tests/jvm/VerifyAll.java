// SPDX-License-Identifier: Apache-2.0
//
// VerifyAll - asks the running JVM whether it accepts class files.
//
//   java -Xverify:all VerifyAll [--cp PATH:PATH...] [--list FILE] DIR|JAR...
//   java -Xverify:all VerifyAll --jdk [--list FILE] [MODULE...]		(see verify-jdk)
//   java -Xverify:all VerifyAll [--cp PATH:PATH...] --accepts DIR|FILE|-
//
// The first form links every class of the given directories and jars, the second every class of
// the JVM's own modules.  Linking is where HotSpot verifies; nothing is ever initialised, so no
// code of the classes runs.  Both print one summary line and exit 1 when a class failed.
//
// The third form treats each file as a class of its own: it is defined in a throw-away loader, and
// one line per file says `accept`, `refuse ERROR: MESSAGE` or `unresolved ERROR: MESSAGE`, followed
// by a tab and the file when a directory was given.  With `-` the classes come from stdin as
// records of [u4 big-endian length][bytes]; the answers are flushed whenever no input is waiting.
//
// How a class is linked.  Class.forName(name, false, loader) only loads.  The natives behind
// getDeclaredConstructors() and getDeclaredFields() call InstanceKlass::link_class first and
// resolve the types of the members afterwards; the first is not called for interfaces.
//
// Missing classes.  Jars name optional libraries that are not there.  The loader makes a stub for
// each: an exception when it is named like one, a class when it is somebody's superclass, else an
// interface.  The verifier lets any reference pass for an interface (JVMS 4.10.1.2), so most users
// of a stub still get verified.  It refuses where a stub is passed for a class type: an error that
// names a stub or a subclass of one is counted `unresolved`, as is a NoClassDefFoundError
// and a supertype in a package that the JDK does not export.

import java.io.BufferedInputStream;
import java.io.BufferedWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.module.ModuleDescriptor;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

public final class VerifyAll {
	private static final int BATCH = 512;		// answers between two forced flushes
	private static final int MAX_RECORD = 1 << 28;	// a longer record means a broken stream

	private int linked, failed, unresolved;
	private PrintWriter list;

	public static void main(String[] args) throws IOException {
		List<String> paths = new ArrayList<>();
		List<String> cp = new ArrayList<>();
		String listFile = null, accepts = null;
		boolean jdk = false;

		for (int i = 0; i < args.length; i++) {
			boolean last = i + 1 == args.length;
			if (args[i].equals("--jdk"))
				jdk = true;
			else if (args[i].equals("--cp") && !last)
				Collections.addAll(cp, args[++i].split(":"));
			else if (args[i].equals("--list") && !last)
				listFile = args[++i];
			else if (args[i].equals("--accepts") && !last)
				accepts = args[++i];
			else if (args[i].startsWith("--"))
				usage();
			else
				paths.add(args[i]);
		}
		if (accepts != null ? jdk || !paths.isEmpty() : !jdk && paths.isEmpty())
			usage();

		if (accepts != null) {
			new Acceptor(indexAll(cp)).run(accepts);
			return;
		}
		VerifyAll all = new VerifyAll();
		if (listFile != null)
			all.list = new PrintWriter(listFile, StandardCharsets.UTF_8);
		if (jdk)
			all.verifyModules(new HashSet<>(paths));
		else
			all.verifyPaths(paths, cp);
		if (all.list != null)
			all.list.close();
		System.out.println(all.linked + " classes linked, " + all.failed + " failed, "
				+ all.unresolved + " unresolved");
		System.exit(all.failed == 0 ? 0 : 1);
	}

	private static void usage() {
		System.err.println("usage: VerifyAll [--cp PATH:...] [--list FILE] DIR|JAR...\n"
				+ "       VerifyAll --jdk [--list FILE] [MODULE...]\n"
				+ "       VerifyAll [--cp PATH:...] --accepts DIR|FILE|-");
		System.exit(2);
	}

	// ---- directories and jars

	private void verifyPaths(List<String> paths, List<String> cp) throws IOException {
		List<Root> roots = new ArrayList<>();
		for (String path : paths)
			roots.addAll(Root.open(path));
		List<Root> libraries = indexAll(cp);

		// Roots that share no class name share one loader; a root that repeats a name gets
		// its own, in which its classes come first.  So does each META-INF/versions/N.
		List<Root> shared = new ArrayList<>();
		List<Root> alone = new ArrayList<>();
		Set<String> seen = new HashSet<>();
		for (Root r : roots) {
			Set<String> names = new HashSet<>(r.classes.keySet());
			names.remove("module-info");		// never loaded as a class
			if (r.stem != null || !Collections.disjoint(seen, names)) {
				alone.add(r);
				continue;
			}
			shared.add(r);
			seen.addAll(names);
		}
		List<Root> order = new ArrayList<>(shared);
		for (Root r : alone)
			if (r.stem == null)
				order.add(r);
		order.addAll(libraries);
		Loader loader = new Loader(Loader.merge(order));
		for (Root r : shared)
			verifyRoot(r, loader);
		for (Root r : alone) {
			List<Root> own = new ArrayList<>();
			own.add(r);
			own.addAll(r.below);
			own.addAll(order);
			verifyRoot(r, new Loader(Loader.merge(own)));
		}
	}

	private void verifyRoot(Root root, Loader loader) {
		for (Map.Entry<String, byte[]> e : root.classes.entrySet()) {
			String where = root.where + ": ";
			if (e.getKey().endsWith("module-info"))
				verifyModuleInfo(where, e.getValue());
			else
				verify(where, e.getKey(), loader);
		}
		for (Map.Entry<String, byte[]> e : root.nameless.entrySet()) {
			String verdict = new Acceptor(List.of()).judge(e.getValue());
			// A class that has no readable name cannot be good.
			report(root.where + ": ", e.getKey(), verdict.startsWith("unresolved") ? 'u'
					: 'f', verdict);
		}
	}

	private void verifyModuleInfo(String where, byte[] bytes) {
		try {
			ModuleDescriptor.read(ByteBuffer.wrap(bytes));
			report(where, "module-info", 'l', "");
		} catch (RuntimeException e) {
			report(where, "module-info", 'f', e.toString());
		}
	}

	private void verify(String where, String name, Loader loader) {
		try {
			link(Class.forName(name, false, loader));
			report(where, name, 'l', "");
		} catch (Throwable e) {
			report(where, name, loader.blames(e) ? 'u' : 'f', describe(e));
		}
	}

	private void report(String where, String name, char status, String why) {
		String word;
		if (status == 'l') {
			linked++;
			word = "linked";
		} else if (status == 'u') {
			unresolved++;
			word = "unresolved";
		} else {
			failed++;
			word = "failed";
			System.out.println("FAILED " + where + name + ": " + why);
		}
		if (list != null)
			list.println(name + "\t" + word + (why.isEmpty() ? "" : "\t" + why));
	}

	/** Verifies c and throws what the verifier throws; runs no code of c. */
	private static void link(Class<?> c) {
		if (c.isInterface())
			c.getDeclaredFields();
		else
			c.getDeclaredConstructors();
	}

	/** The error on one line. */
	private static String describe(Throwable e) {
		String text = e.getMessage() == null ? "" : ": " + withoutDump(e.getMessage());
		return (e.getClass().getSimpleName() + text).replaceAll("\\s+", " ").trim();
	}

	/** A VerifyError's message without the frames, tables and bytes that HotSpot adds. */
	private static String withoutDump(String text) {
		for (String part : new String[] {"Current Frame:", "Bytecode:", "Stackmap Table:",
				"Exception Handler Table:"})
			if (text.contains(part))
				text = text.substring(0, text.indexOf(part));
		return text;
	}

	// ---- the JVM's own modules

	private void verifyModules(Set<String> only) throws IOException {
		Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
		Map<String, List<String>> byModule = new TreeMap<>();
		try (Stream<Path> files = Files.walk(modules)) {
			for (Iterator<Path> it = files.iterator(); it.hasNext();) {
				Path p = it.next();
				String text = p.toString();
				if (!text.endsWith(".class") || text.endsWith("module-info.class"))
					continue;
				String module = p.getName(1).toString();
				String name = p.subpath(2, p.getNameCount()).toString();
				if (only.isEmpty() || only.contains(module))
					byModule.computeIfAbsent(module, m -> new ArrayList<>())
						.add(name.substring(0,
						name.length() - 6).replace('/', '.'));
			}
		}
		for (Map.Entry<String, List<String>> e : byModule.entrySet()) {
			Module module = ModuleLayer.boot().findModule(e.getKey()).orElse(null);
			if (module == null) {
				System.out.println("SKIPPED module " + e.getKey()
						+ ": not in the boot layer, use --add-modules");
				continue;
			}
			for (String name : e.getValue())
				verifyIn(module, name);
		}
	}

	private void verifyIn(Module module, String name) {
		String where = module.getName() + "/";
		try {
			Class<?> c = Class.forName(name, false, module.getClassLoader());
			if (c.getModule() != module)
				throw new NoClassDefFoundError("found in " + c.getModule()
						+ " instead");
			link(c);
			report(where, name, 'l', "");
		} catch (ClassNotFoundException | NoClassDefFoundError e) {
			report(where, name, 'u', describe(e));
		} catch (Throwable e) {
			report(where, name, 'f', describe(e));
		}
	}

	// ---- where classes come from

	private static List<Root> indexAll(List<String> paths) throws IOException {
		List<Root> roots = new ArrayList<>();
		for (String p : paths)
			if (!p.isEmpty())
				roots.addAll(Root.open(p));
		roots.removeIf(r -> r.stem != null);
		return roots;
	}

	/**
	 * The classes below one point of a directory or jar, all in memory.  The point is where the
	 * path in the class's name begins: "", "WEB-INF/classes/", "META-INF/versions/11/".
	 */
	private static final class Root {
		private static final Pattern VERSION =
				Pattern.compile("(.*)META-INF/versions/(\\d{1,4})/");

		final String where;
		final String stem;		// of an overlay: what it lies upon; else null
		final int version;		// of an overlay, else 0
		// what an overlay lies upon, topmost first
		final List<Root> below = new ArrayList<>();
		final Map<String, byte[]> classes = new LinkedHashMap<>();	// by binary name
		// unreadable ones, by file
		final Map<String, byte[]> nameless = new LinkedHashMap<>();

		private Root(String path, String prefix) {
			Matcher m = VERSION.matcher(prefix);
			boolean overlay = m.matches();
			where = prefix.isEmpty() ? path : path + "!" + prefix;
			stem = overlay ? m.group(1) : null;
			version = overlay ? Integer.parseInt(m.group(2)) : 0;
		}

		static List<Root> open(String path) throws IOException {
			TreeMap<String, Root> roots = new TreeMap<>();	// by prefix
			Path p = Path.of(path);
			if (Files.isDirectory(p)) {
				try (Stream<Path> files = Files.walk(p)) {
					for (Path f : (Iterable<Path>) files.sorted()::iterator) {
						String name = p.relativize(f).toString();
						if (name.endsWith(".class")
								&& Files.isRegularFile(f))
							add(roots, path, name,
							Files.readAllBytes(f));
					}
				}
			} else {
				try (ZipFile zip = new ZipFile(p.toFile())) {
					for (var en = zip.entries(); en.hasMoreElements();) {
						ZipEntry ze = en.nextElement();
						if (!ze.getName().endsWith(".class")
								|| ze.isDirectory())
							continue;
						try (InputStream in = zip.getInputStream(ze)) {
							add(roots, path, ze.getName(),
									in.readAllBytes());
						}
					}
				}
			}
			for (Root r : roots.values())
				for (Root other : roots.values())
					if (r.stem != null && (other.stem == null
							&& roots.get(r.stem) == other
							|| r.stem.equals(other.stem)
							&& other.version < r.version))
						r.below.add(other);
			for (Root r : roots.values())
				r.below.sort((a, b) -> b.version - a.version);
			return new ArrayList<>(roots.values());
		}

		private static void add(TreeMap<String, Root> roots, String path, String file,
				byte[] bytes) {
			String name = nameOf(bytes);
			String prefix = "";
			if (name != null) {
				String tail = name.replace('.', '/') + ".class";
				if (file.endsWith(tail))
					prefix = file.substring(0, file.length() - tail.length());
			}
			Root root = roots.computeIfAbsent(prefix, k -> new Root(path, k));
			if (name == null)
				root.nameless.put(file, bytes);
			else
				root.classes.putIfAbsent(name, bytes);
		}
	}

	/** The binary name of a class file, or null when its head cannot be read. */
	private static String nameOf(byte[] b) {
		try {
			return new Head(b).name(0).replace('/', '.');
		} catch (RuntimeException | IOException e) {
			return null;
		}
	}

	/** Constant pool and header of a class file: enough for its name and its superclass. */
	private static final class Head {
		private final ByteBuffer in;
		private final int[] at;
		final int thisClass;		// where this_class stands

		Head(byte[] bytes) {
			in = ByteBuffer.wrap(bytes);
			if (in.getInt(0) != 0xcafebabe)
				throw new IllegalArgumentException();
			int count = in.getShort(8) & 0xffff;
			at = new int[count];
			int p = 10;
			for (int i = 1; i < count; i++) {
				at[i] = p;
				switch (in.get(p)) {
				case 1: p += 3 + (in.getShort(p + 1) & 0xffff); break;
				case 5: case 6: p += 9; i++; break;
				case 7: case 8: case 16: case 19: case 20: p += 3; break;
				case 15: p += 4; break;
				default: p += 5;
				}
			}
			thisClass = p + 2;
		}

		/** 0: this class, 1: its superclass (null for none). */
		String name(int which) throws IOException {
			return className(in.getShort(thisClass + 2 * which) & 0xffff);
		}

		private String className(int index) throws IOException {
			if (index == 0)
				return null;
			int utf8 = at[in.getShort(at[index] + 1) & 0xffff];
			int len = in.getShort(utf8 + 1) & 0xffff;
			return new DataInputStream(new ByteArrayInputStream(in.array(), utf8 + 1,
					len + 2)).readUTF();
		}
	}

	// ---- loaders

	/** Child-first over its roots, except java.*; makes stubs for what nobody has. */
	private static class Loader extends ClassLoader {
		private final Map<String, byte[]> bytes;
		private final Set<String> superclasses = new HashSet<>();
		// stubs and their subclasses
		private final Set<String> unknown = new HashSet<>();

		Loader(Map<String, byte[]> bytes) {
			super(ClassLoader.getPlatformClassLoader());
			this.bytes = bytes;
		}

		static Map<String, byte[]> merge(List<Root> roots) {
			Map<String, byte[]> all = new HashMap<>();
			for (Root r : roots)
				r.classes.forEach(all::putIfAbsent);
			return all;
		}

		@Override
		protected Class<?> loadClass(String name,
		boolean resolve) throws ClassNotFoundException {
			synchronized (getClassLoadingLock(name)) {
				Class<?> c = findLoadedClass(name);
				if (c != null)
					return c;
				byte[] b = name.startsWith("java.") ? null : bytes.get(name);
				if (b != null)
					return define(name, b);
				try {
					return super.loadClass(name, false);
				} catch (ClassNotFoundException e) {
					if (name.startsWith("java."))
						throw e;
					return stub(name);
				}
			}
		}

		/** name may be null: take the one in the file. */
		Class<?> define(String name, byte[] b) {
			try {
				String s = new Head(b).name(1);
				if (s != null)
					superclasses.add(s.replace('/', '.'));
			} catch (RuntimeException | IOException e) {
				// Not readable: defineClass will say why.
			}
			Class<?> c = defineClass(name, b, 0, b.length);
			Class<?> parent = c.getSuperclass();
			if (parent != null && parent.getClassLoader() == this
					&& unknown.contains(parent.getName()))
				unknown.add(c.getName());
			return c;
		}

		private Class<?> stub(String name) {
			byte[] b = stubBytes(name.replace('.', '/'), superclasses.contains(name));
			unknown.add(name);
			return defineClass(name, b, 0, b.length);
		}

		/** Does the error come from a class that is not here rather than from a bad one? */
		boolean blames(Throwable e) {
			String text = e.getMessage();
			if (e instanceof ClassNotFoundException
					|| e instanceof NoClassDefFoundError)
				return text == null || !text.contains("wrong name")
						&& !text.contains("is not a class because");
			if (text == null)
				return false;
			if (e instanceof IllegalAccessError && text.contains("does not export"))
				return true;	// a JDK package that this JVM's modules hide
			// HotSpot quotes the types that did not fit after "Reason:".  Before it are
			// method and descriptor, behind it a dump: they prove nothing.
			int reason = text.indexOf("Reason:");
			String types = withoutDump(reason < 0 ? text : text.substring(reason));
			for (String s : unknown) {
				String internal = s.replace('.', '/');
				if (types.contains("'" + internal + "'")
						|| types.contains("L" + internal + ";'")
						|| reason < 0 && namesWord(types, s))
					return true;
			}
			return false;
		}

		private static boolean namesWord(String text, String name) {
			return Pattern.compile("(?<![\\w$.])" + Pattern.quote(name) + "(?![\\w$.])")
				.matcher(text).find();
		}
	}

	private static byte[] stubBytes(String name, boolean isSuperclass) {
		boolean thrown = name.endsWith("Exception") || name.endsWith("Error");
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (DataOutputStream out = new DataOutputStream(bytes)) {
			out.writeInt(0xcafebabe);
			out.writeInt(52);
			out.writeShort(5);
			out.writeByte(7);
			out.writeShort(2);
			out.writeByte(1);
			out.writeUTF(name);
			out.writeByte(7);
			out.writeShort(4);
			out.writeByte(1);
			out.writeUTF(thrown ? "java/lang/RuntimeException" : "java/lang/Object");
			out.writeShort(isSuperclass || thrown ? 0x0021 : 0x0601);
			out.writeShort(1);
			out.writeShort(3);
			// no interfaces, fields, methods, attributes
			out.writeLong(0);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
		return bytes.toByteArray();
	}

	// ---- one verdict per file

	private static final class Acceptor {
		private final Map<String, byte[]> siblings;

		Acceptor(List<Root> libraries) {
			siblings = Loader.merge(libraries);
		}

		void run(String from) throws IOException {
			try (PrintWriter out = new PrintWriter(new BufferedWriter(
					new OutputStreamWriter(System.out, StandardCharsets.UTF_8),
					1 << 16))) {
				if (from.equals("-")) {
					judgeStream(out);
					return;
				}
				try (Stream<Path> files = Files.walk(Path.of(from))) {
					for (Path f : (Iterable<Path>) files.sorted()::iterator)
						if (Files.isRegularFile(f))
							out.println(judge(Files.readAllBytes(f))
									+ "\t" + f);
				}
			}
		}

		private void judgeStream(PrintWriter out) throws IOException {
			DataInputStream in = new DataInputStream(new BufferedInputStream(System.in,
					1 << 16));
			for (int n = 1;; n++) {
				int len;
				try {
					len = in.readInt();
				} catch (EOFException e) {
					return;
				}
				if (len < 0 || len > MAX_RECORD)
					throw new IOException("record " + n + " claims " + len
							+ " bytes");
				byte[] b = new byte[len];
				in.readFully(b);
				out.println(judge(b));
				if (n % BATCH == 0 || in.available() == 0)
					out.flush();
			}
		}

		String judge(byte[] b) {
			Loader loader = new Loader(siblings);
			try {
				if ("module-info".equals(nameOf(b)))
					// never a class to the JVM
					ModuleDescriptor.read(ByteBuffer.wrap(b));
				else
					link(loader.define(null, b));
				return "accept";
			} catch (Throwable e) {
				boolean missing = loader.blames(e);
				return (missing ? "unresolved " : "refuse ") + describe(e);
			}
		}
	}
}
