// SPDX-License-Identifier: Apache-2.0
package com.shop;

import java.util.HashMap;
import java.util.Map;

/** Names and prices. */
final class Catalog {
    static final int SIZE = 500;

    private final Map<Integer, Integer> prices = new HashMap<>();

    Catalog() {
        for (int item = 0; item < SIZE; item++) {
            prices.put(item, 100 + item * 37 % 900);
        }
    }

    int price(int item) {
        return prices.get(item);
    }
}
