// SPDX-License-Identifier: Apache-2.0
package com.shop;

/** The stock. Gift wrapping was added in a hurry. */
final class Inventory {
    private final int[] stock = new int[Catalog.SIZE];
    private String wrapped = "";

    void adjust(int item, Order.Type type) {
        stock[item]--;
        if (stock[item] < 0) {
            stock[item] = 1000;
        }
        if (type == Order.Type.GIFT) {
            wrap(item);
        }
    }

    /** Keeps the list of wrapped items sorted and without doubles: by building it anew each time. */
    private void wrap(int item) {
        StringBuilder list = new StringBuilder();
        for (int k = 0; k < Catalog.SIZE; k++) {
            String entry = String.format("[%03d]", k);
            if (k == item || wrapped.contains(entry)) {
                list.append(entry);
            }
        }
        wrapped = list.toString();
    }
}
