// SPDX-License-Identifier: Apache-2.0
package com.shop;

/** Where orders become money. */
final class Cart {
    private final Catalog catalog;
    private final Payment payment;

    Cart(Catalog catalog, Payment payment) {
        this.catalog = catalog;
        this.payment = payment;
    }

    int checkout(Order order) {
        int total = total(order);
        payment.reserve(order, total);
        return total;
    }

    private int total(Order order) {
        int total = 0;
        for (int item : order.items) {
            total += catalog.price(item);
        }
        return total;
    }
}
