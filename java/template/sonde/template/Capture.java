// SPDX-License-Identifier: Apache-2.0
package sonde.template;

import java.util.SondeData;
import sonde.Here;

/** Keeps a value for the thread while the method runs; here id() is the value's slot. */
final class Capture {
    static void any() {
        Object before = SondeData.keep(Here.id(), Here.value());
        Here.body();
        SondeData.restore(Here.id(), before);
    }
}
