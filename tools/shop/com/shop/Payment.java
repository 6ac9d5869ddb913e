// SPDX-License-Identifier: Apache-2.0
package com.shop;

/** Reserves the money, then the goods. */
final class Payment {
    private final Inventory inventory;

    Payment(Inventory inventory) {
        this.inventory = inventory;
    }

    void reserve(Order order, int amount) {
        authorise(order.card, amount);
        for (int item : order.items) {
            inventory.adjust(item, order.type);
        }
    }

    private static void authorise(String card, int amount) {
        if (card.startsWith("0")) {
            throw new IllegalStateException("card declined, amount " + amount);
        }
    }
}
