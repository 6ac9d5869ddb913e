// SPDX-License-Identifier: Apache-2.0
package shop;

/** Its name is replaced for the versions of a multi-release jar. */
public final class Part {
    static String name() {
        return "base";
    }
}
