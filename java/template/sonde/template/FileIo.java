// SPDX-License-Identifier: Apache-2.0
package sonde.template;

import java.util.SondeProbe;
import sonde.Here;

/** Files: which. Bytes are the business of {@link Bytes}, except where one call does it all. */
final class FileIo {
    /** Opening by File, Path or name. Without branches, so that it fits constructors. */
    static void path() {
        long token = SondeProbe.enter(Here.id());
        SondeProbe.text(Here.id(), token, "path", Here.arg(1));
        Here.body();
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** open(FileDescriptor, name, ...). */
    static void second() {
        long token = SondeProbe.enter(Here.id());
        SondeProbe.text(Here.id(), token, "path", Here.arg(2));
        Here.body();
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** byte[] readAllBytes(Path). */
    static void read() {
        long token = SondeProbe.enter(Here.id());
        SondeProbe.text(Here.id(), token, "path", Here.arg(1));
        Here.body();
        Object read = Here.result();
        if (read instanceof byte[]) {
            SondeProbe.bytes(Here.id(), token, ((byte[]) read).length);
        }
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** write(Path, byte[], ...). */
    static void write() {
        byte[] written = (byte[]) Here.arg(2);
        long token = SondeProbe.enter(Here.id());
        SondeProbe.text(Here.id(), token, "path", Here.arg(1));
        Here.body();
        if (Here.thrown() == null && written != null) {
            SondeProbe.bytes(Here.id(), token, written.length);
        }
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }
}
