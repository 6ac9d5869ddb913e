// SPDX-License-Identifier: Apache-2.0
/** What JDK 17 does not have. */
final class Newer {
    private Newer() {}

    static void virtual() {
        throw new UnsupportedOperationException();
    }

    static void perTask() {
        throw new UnsupportedOperationException();
    }

    static void scope() {
        throw new UnsupportedOperationException();
    }
}
