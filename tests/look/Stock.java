// SPDX-License-Identifier: Apache-2.0
package com.acme;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

// What there is to look at: values of all kinds, secrets, and getters that must not be called.
public class Stock {
	static final class Item {
		final String name;
		final int price;
		private int seen;

		Item(String name, int price) {
			this.name = name;
			this.price = price;
		}

		String getName() {
			return name;
		}

		int look() {
			return ++seen;
		}

		synchronized int locked() {
			return price;
		}
	}

	static class Never {
		static int value = start();

		static int start() {
			System.out.println("Never was initialised");
			return 1;
		}
	}

	static class Limits {
		static final int LOWEST = 3;
	}

	static class Special extends Limits {}

	static final Map<String, Item> ITEMS = new HashMap<>();
	static final List<Item> ORDER = new ArrayList<>();
	static final Map<String, Item> SHARED = Collections.synchronizedMap(ITEMS);
	static final Map<String, Item> SORTED = new TreeMap<>((a, b) -> {
		throw new IllegalStateException("the program's comparator was called");
	});
	static final String apiToken = "hush-hush";
	static final Map<String, String> HEADERS = new HashMap<>();
	static final int[] PRIMES = {2, 3, 5};
	static boolean open = true;
	static byte small = -7;
	static char letter = 'x';
	static long large = 1L << 40;
	static float half = 0.5f;
	static double third = 1.0 / 3;
	static Item none;
	static String evil = "\u001b[2J\nrm";
	int instance = 1;

	interface Chime {
		int ring();
	}

	static final Chime CHIME = (Chime) java.lang.reflect.Proxy.newProxyInstance(Stock.class.getClassLoader(),
			new Class<?>[] {Chime.class}, (proxy, method, values) -> 7);

	static void fill() {
		Item tea = new Item("tea", 250);

		ITEMS.put("tea", tea);
		ORDER.add(tea);
		HEADERS.put("Authorization", "Bearer hush-hush");
		HEADERS.put("Accept", "text/plain");
		new Special();
		Never[] loaded = {};
		System.out.println("chime " + CHIME.getClass().getName());
		System.out.println(loaded.length + Stock.class.getDeclaredClasses().length);
	}
}
