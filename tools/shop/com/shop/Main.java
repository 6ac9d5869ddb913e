// SPDX-License-Identifier: Apache-2.0
package com.shop;

import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A small shop under load, for the demo: customers fill carts and check out, for ever or for so many
 * seconds as the argument says. Most orders take well under a millisecond. Some do not; finding out
 * why is the reader's business, or Sonde's.
 */
public final class Main {
    private static final int CUSTOMERS = 4;
    static final AtomicLong ORDERS = new AtomicLong();

    private Main() {}

    private static void customer(int number, long until) {
        Random random = new Random(number);
        Cart cart = new Cart(new Catalog(), new Payment(new Inventory()));
        while (System.nanoTime() < until) {
            Order order = Order.draw(random);
            try {
                cart.checkout(order);
            } catch (IllegalStateException e) {
                // declined: the customer goes away
            }
            ORDERS.incrementAndGet();
            pause(random.nextInt(3));
        }
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        long seconds = args.length > 0 ? Long.parseLong(args[0]) : 1 << 30;
        long until = System.nanoTime() + seconds * 1_000_000_000L;
        Thread[] customers = new Thread[CUSTOMERS];
        for (int k = 0; k < CUSTOMERS; k++) {
            int number = k + 1;
            customers[k] = new Thread(() -> customer(number, until), "customer-" + number);
            customers[k].start();
        }
        System.out.println("the shop is open");
        for (Thread customer : customers) {
            customer.join();
        }
        System.out.println("orders: " + ORDERS);
    }
}
