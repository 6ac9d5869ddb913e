// What tests/verbs looks at: nested classes, an inherited method, work in another thread after the root.
package com.acme;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public class Main {
	abstract static class Base {
		abstract String name();
		int inherited(int x) { return x + 1; }
	}

	static class Order {
		final String kind;
		Order(String kind) { this.kind = kind; }
	}

	static class OrderService extends Base {
		final ExecutorService pool = Executors.newFixedThreadPool(1);

		String name() { return "orders"; }
		String handle(Order o, int n) { return price(o, n) > 3 ? "dear" : "cheap"; }
		int price(Order o, int n) { return n % 7; }
		String[] wide(int n) { // more than is shown of a value
			String[] all = new String[16];
			java.util.Arrays.setAll(all, i -> "x".repeat(150));
			return all;
		}
		void never(Order o) { }
		void later() { pool.execute(() -> work(40)); } // ends long before its work does
		void work(int ms) {
			try {
				Thread.sleep(ms);
			} catch (InterruptedException e) {
			}
		}
	}

	static class Other {
		void go(OrderService s) { s.price(new Order("OTHER"), 1); }
	}

	static class Twin { void run() { } }
	static class Deep { static class Twin { void run() { } } }

	static Object[] tails() { // loaded in one order and in the other
		return new Object[] { new Tail(), new acme.Tail(), new acme.Tail2(), new Tail2() };
	}

	public static void main(String[] args) throws Exception {
		OrderService s = new OrderService();
		Other other = new Other();
		List<Object> twins = List.of(new Twin(), new Deep.Twin());

		Object[] tails = tails();

		System.out.println("up " + (twins.size() + tails.length));
		for (int i = 0;; i++) {
			s.handle(new Order(i % 2 == 0 ? "GIFT" : "PLAIN"), i);
			s.inherited(i);
			s.wide(i);
			other.go(s);
			if (i % 50 == 0)
				s.later();
			Thread.sleep(2);
		}
	}
}

class Tail {
	void run() { }
}

class Tail2 {
	void run() { }
}
