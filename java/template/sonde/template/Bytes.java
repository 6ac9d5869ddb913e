// SPDX-License-Identifier: Apache-2.0
package sonde.template;

import java.util.SondeProbe;
import sonde.Here;

/** Reading and writing, the same for sockets and files: how many bytes were moved. */
final class Bytes {
    /** int read(...) and write(...), which return a count. */
    static void counted() {
        long token = SondeProbe.enter(Here.id());
        Here.body();
        SondeProbe.bytes(Here.id(), token, Here.intResult());
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** long read(...), write(...), transferTo(...). */
    static void countedLong() {
        long token = SondeProbe.enter(Here.id());
        Here.body();
        SondeProbe.bytes(Here.id(), token, Here.longResult());
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** byte[] readAllBytes() and the like. */
    static void array() {
        long token = SondeProbe.enter(Here.id());
        Here.body();
        Object read = Here.result();
        if (read instanceof byte[]) {
            SondeProbe.bytes(Here.id(), token, ((byte[]) read).length);
        }
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** int read(), which returns the byte itself. */
    static void readOne() {
        long token = SondeProbe.enter(Here.id());
        Here.body();
        if (Here.thrown() == null && Here.intResult() >= 0) {
            SondeProbe.bytes(Here.id(), token, 1);
        }
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** void write(byte[], offset, length). */
    static void part() {
        int length = Here.intArg(3);
        long token = SondeProbe.enter(Here.id());
        Here.body();
        if (Here.thrown() == null) {
            SondeProbe.bytes(Here.id(), token, length);
        }
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** void write(byte[]). */
    static void whole() {
        byte[] written = (byte[]) Here.arg(1);
        long token = SondeProbe.enter(Here.id());
        Here.body();
        if (Here.thrown() == null && written != null) {
            SondeProbe.bytes(Here.id(), token, written.length);
        }
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** void write(int). */
    static void writeOne() {
        long token = SondeProbe.enter(Here.id());
        Here.body();
        if (Here.thrown() == null) {
            SondeProbe.bytes(Here.id(), token, 1);
        }
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }
}
