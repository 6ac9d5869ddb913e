// SPDX-License-Identifier: Apache-2.0
package sonde.template;

import java.util.SondeProbe;
import sonde.Here;

/** Reading and writing, the same for sockets and files: how many bytes were moved. */
final class Bytes {
    /** int read(...) and write(...), which return a count. */
    static void counted() {
        SondeProbe.enter(Here.id());
        Here.body();
        SondeProbe.bytes(Here.id(), Here.intResult());
        SondeProbe.exit(Here.id(), Here.thrown());
    }

    /** long read(...), write(...), transferTo(...). */
    static void countedLong() {
        SondeProbe.enter(Here.id());
        Here.body();
        SondeProbe.bytes(Here.id(), Here.longResult());
        SondeProbe.exit(Here.id(), Here.thrown());
    }

    /** byte[] readAllBytes() and the like. */
    static void array() {
        SondeProbe.enter(Here.id());
        Here.body();
        Object read = Here.result();
        if (read instanceof byte[]) {
            SondeProbe.bytes(Here.id(), ((byte[]) read).length);
        }
        SondeProbe.exit(Here.id(), Here.thrown());
    }

    /** int read(), which returns the byte itself. */
    static void readOne() {
        SondeProbe.enter(Here.id());
        Here.body();
        if (Here.thrown() == null && Here.intResult() >= 0) {
            SondeProbe.bytes(Here.id(), 1);
        }
        SondeProbe.exit(Here.id(), Here.thrown());
    }

    /** void write(byte[], offset, length). */
    static void part() {
        int length = Here.intArg(3);
        SondeProbe.enter(Here.id());
        Here.body();
        if (Here.thrown() == null) {
            SondeProbe.bytes(Here.id(), length);
        }
        SondeProbe.exit(Here.id(), Here.thrown());
    }

    /** void write(byte[]). */
    static void whole() {
        byte[] written = (byte[]) Here.arg(1);
        SondeProbe.enter(Here.id());
        Here.body();
        if (Here.thrown() == null && written != null) {
            SondeProbe.bytes(Here.id(), written.length);
        }
        SondeProbe.exit(Here.id(), Here.thrown());
    }

    /** void write(int). */
    static void writeOne() {
        SondeProbe.enter(Here.id());
        Here.body();
        if (Here.thrown() == null) {
            SondeProbe.bytes(Here.id(), 1);
        }
        SondeProbe.exit(Here.id(), Here.thrown());
    }
}
