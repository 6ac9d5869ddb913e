// SPDX-License-Identifier: Apache-2.0
package shop;

/** The program in all the archives: says which version of Part it got. */
public final class Mr {
    int add(int n) {
        return n + Part.name().length();
    }

    public static void main(String[] args) {
        System.out.println(Part.name() + " " + new Mr().add(3));
    }
}
