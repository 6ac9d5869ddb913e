// SPDX-License-Identifier: Apache-2.0
import java.util.SondeProbe;
import sonde.Here;

/** A template that leaves traces of how often it was entered and left. */
final class Own {
    static void any() {
        long token = SondeProbe.enter(Here.id());
        int begun = Integer.getInteger("own.begun", 0).intValue();
        System.setProperty("own.begun", Integer.toString(begun + 1));
        Here.body();
        int ended = Integer.getInteger("own.ended", 0).intValue();
        if (Here.thrown() == null && ended == begun) {
            System.setProperty("own.ended", Integer.toString(begun + 1));
        }
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }
}
