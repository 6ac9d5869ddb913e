// SPDX-License-Identifier: Apache-2.0
// Three callers of one hot method.  Export calls it two thousand times for each page, the other two once.
public class Guilty {
	static final double[] rates = new double[400];
	static volatile double sink;

	static double price(int from) {
		double sum = 0;

		for (int i = 0; i < rates.length; i++)
			sum += Math.sqrt(rates[i] + from) * 1.0001;
		return sum;
	}

	static double tax(int page) {
		return price(page) * 0.19;
	}

	static class Cart {
		static double total(int page) {
			return price(page) + tax(page);
		}
	}

	static class Preview {
		static double first(int page) {
			return price(page);
		}
	}

	static class Export {
		static double write(int page) {
			double sum = 0;

			for (int i = 0; i < 2000; i++)
				sum += price(i);
			return sum;
		}
	}

	static double render(int page) {
		return Cart.total(page) + Preview.first(page) + Export.write(page);
	}

	static double handle(int page) {
		return render(page) + 1;
	}

	static void serve() {
		for (int page = 0;; page++) {
			sink = handle(page);
			try {
				Thread.sleep(1);
			} catch (InterruptedException e) {
				return;
			}
		}
	}

	public static void main(String[] args) {
		for (int i = 0; i < rates.length; i++)
			rates[i] = i;
		new Thread(Guilty::serve, "server").start();
		System.out.println("ready");
	}
}
