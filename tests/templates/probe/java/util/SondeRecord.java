// SPDX-License-Identifier: Apache-2.0
package java.util;

import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;

/**
 * Keeps what the probe is told, instead of handing it to the agent: a line for each event. A token
 * tells whose it is, and asks for data.
 */
public final class SondeRecord {
    private static final ArrayList<String> events = new ArrayList<>();
    private static boolean on;
    private static long calls;

    public static synchronized void start() {
        on = true;
    }

    public static void stop(String path) throws IOException {
        synchronized (SondeRecord.class) {
            on = false;
        }
        try (PrintWriter out = new PrintWriter(new FileWriter(path))) {
            for (String event : events) {
                out.println(event);
            }
        }
    }

    static byte[] open(int methods) {
        byte[] all = new byte[methods];
        Arrays.fill(all, (byte) 1);
        return all;
    }

    static synchronized long enter(int id) {
        put(id, "enter", null);
        return ++calls * 2 * SondeProbe.METHODS + 2 * id + 1;
    }

    static synchronized void exit(int id, long token) {
        if (token / 2 % SondeProbe.METHODS != id) {
            put(id, "mispaired", token);
        }
        put(id, "exit", null);
    }

    static synchronized void put(int id, String event, Object value) {
        if (!on) {
            return;
        }
        if (value != null && !(value instanceof String) && !(value instanceof Long)) {
            value = "an object of " + value.getClass(); // which a probe could not do much with
        }
        events.add(id + "\t" + event + "\t" + value);
    }
}
