// SPDX-License-Identifier: Apache-2.0
package sonde.template;

import java.util.SondeProbe;
import sonde.Here;

/** Tells the probe when the method begins and when it ends, whichever way. */
final class Timed {
    static void any() {
        long token = SondeProbe.enter(Here.id());
        Here.body();
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }
}
