// SPDX-License-Identifier: Apache-2.0
package sonde.template;

import java.util.SondeProbe;
import sonde.Here;

/**
 * Tells the probe when the method begins and ends, and with what it was called while somebody
 * watches. So watching can begin and end without the method being changed.
 */
final class Arguments {
    static void any() {
        long token = SondeProbe.enter(Here.id());
        if ((token & 1) != 0) {
            token = SondeProbe.arguments(Here.id(), token, Here.args());
        }
        Here.body();
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }
}
