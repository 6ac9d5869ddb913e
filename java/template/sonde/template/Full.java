// SPDX-License-Identifier: Apache-2.0
package sonde.template;

import java.util.SondeProbe;
import sonde.Here;

/** Shows the probe everything: this, arguments, result, exception. */
final class Full {
    static void any() {
        long token = SondeProbe.enterFull(Here.id(), Here.self(), Here.args());
        Here.body();
        SondeProbe.exitFull(Here.id(), token, Here.result(), Here.thrown());
    }
}
