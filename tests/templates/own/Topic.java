// SPDX-License-Identifier: Apache-2.0
package own;

import java.util.SondeProbe;
import sonde.Here;

/** A template of a user's own: the example of docs/templates.md. */
final class Topic {
    static void send() {
        long token = SondeProbe.enter(Here.id());
        Object record = Here.arg(1);
        if (record instanceof bus.Record) {
            SondeProbe.text(Here.id(), token, "topic", ((bus.Record) record).topic());
        }
        long start = System.nanoTime();
        Here.body();
        if (Here.thrown() == null && System.nanoTime() - start >= 0) {
            SondeProbe.data(Here.id(), token, "to", Here.method());
        }
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }
}
