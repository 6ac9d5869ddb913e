// SPDX-License-Identifier: Apache-2.0
// A cache whose key never equals itself, since somebody forgot equals(): every look misses.
import java.util.LinkedHashMap;
import java.util.Map;

public class Cache {
	static final class Key {
		final int country, product;

		Key(int country, int product) {
			this.country = country;
			this.product = product;
		}

		@Override
		public int hashCode() {
			return country * 31 + product;
		}
	}

	static final class Rates {
		private final Map<Key, Double> rates = new LinkedHashMap<>() {
			@Override
			protected boolean removeEldestEntry(Map.Entry<Key, Double> eldest) {
				return size() > 500;
			}
		};

		double rate(Key key) {
			Double rate = rates.get(key);
			if (rate == null) {
				rate = compute(key);
				rates.put(key, rate);
			}
			return rate;
		}

		double compute(Key key) {
			double x = key.product;
			for (int i = 0; i < 9_000_000; i++)
				x = Math.sqrt(x + key.country + i);
			return x;
		}
	}

	static volatile double kept;

	static void quote(Rates rates, int number) {
		kept += rates.rate(new Key(number % 3, number % 5));
	}

	public static void main(String[] args) throws Exception {
		Rates rates = new Rates();
		for (int i = 0;; i++) {
			quote(rates, i);
			Thread.sleep(2);
		}
	}
}
