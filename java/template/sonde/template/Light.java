// SPDX-License-Identifier: Apache-2.0
package sonde.template;

import java.util.SondeProbe;
import sonde.Here;

/** Counts calls; adds nothing to the way out. */
final class Light {
    static void any() {
        SondeProbe.count(Here.id());
        Here.body();
    }
}
