// SPDX-License-Identifier: Apache-2.0
package java.util;

/** Arguments and results are none of these tests' business: only the exception is told. */
final class SondeText {
    static void enter(int id, Object self, Object[] args) {}

    static void exit(int id, Object result, Throwable thrown) {
        if (thrown != null) {
            SondeProbe.data0(id, "thrown", thrown.getClass().getName());
        }
    }
}
