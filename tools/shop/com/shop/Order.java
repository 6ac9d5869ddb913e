// SPDX-License-Identifier: Apache-2.0
package com.shop;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** What a customer wants. */
final class Order {
    enum Type {
        STANDARD,
        EXPRESS,
        GIFT
    }

    final Type type;
    final List<Integer> items = new ArrayList<>();
    final String card;

    private Order(Type type, String card) {
        this.type = type;
        this.card = card;
    }

    /** One order in 25 is a gift, one in 100 has a card that is declined. */
    static Order draw(Random random) {
        int kind = random.nextInt(25);
        Type type = kind == 0 ? Type.GIFT : kind < 5 ? Type.EXPRESS : Type.STANDARD;
        Order order = new Order(type, random.nextInt(100) == 0 ? "0000" : "4711");
        for (int k = 1 + random.nextInt(5); k > 0; k--) {
            order.items.add(random.nextInt(Catalog.SIZE));
        }
        return order;
    }

    @Override
    public String toString() {
        return type + " " + items;
    }
}
