// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * What the victims share: they write which figures they expect into the file of the property `want`
 * (see Frames), and wait for files in the directory of the property `steps`. Nothing here is
 * hooked.
 */
final class Want {
    private Want() {}

    static synchronized void that(String method, String field, String op, long number) {
        String file = System.getProperty("want");
        if (file == null) {
            return;
        }
        String line = "want " + method + " " + field + " " + op + " " + number + "\n";
        try {
            Files.writeString(
                    Path.of(file), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static void calls(String method, long calls) {
        that(method, "calls", "=", calls);
    }

    /** Says that it has come so far, and waits for the file of that name. */
    static void step(String name) throws Exception {
        System.out.println("step " + name);
        Path file = Path.of(System.getProperty("steps"), name);
        for (int k = 0; k < 5000 && !Files.exists(file); k++) {
            Thread.sleep(50);
        }
    }
}
