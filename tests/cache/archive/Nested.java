// SPDX-License-Identifier: Apache-2.0
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/** Nested ARCHIVE CLASS: runs a class of an archive whose classes lie in folders and archives in it. */
public final class Nested extends ClassLoader {
    private final Map<String, byte[]> classes = new HashMap<>();

    private void read(InputStream from) throws Exception {
        ZipInputStream zip = new ZipInputStream(from);
        for (ZipEntry e; (e = zip.getNextEntry()) != null; ) {
            String name = e.getName().replaceFirst("^(BOOT|WEB)-INF/classes/", "");
            if (name.endsWith(".jar")) {
                read(zip);
            } else if (name.endsWith(".class") && !name.startsWith("META-INF/")) {
                classes.put(name.substring(0, name.length() - 6).replace('/', '.'), zip.readAllBytes());
            }
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        byte[] b = classes.get(name);
        if (b == null) {
            throw new ClassNotFoundException(name);
        }
        return defineClass(name, b, 0, b.length);
    }

    public static void main(String[] args) throws Exception {
        Nested loader = new Nested();
        try (InputStream in = new java.io.FileInputStream(args[0])) {
            loader.read(in);
        }
        loader.loadClass(args[1]).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
    }
}
