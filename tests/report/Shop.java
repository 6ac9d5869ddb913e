// SPDX-License-Identifier: Apache-2.0

import java.util.Map;
import java.util.Scanner;

/** Does as many rounds as it is told on its standard input, a line each. */
public class Shop {
    static class Line {
        String sku = "a \"b\"\n\u001b[31m\u00e4\ud83d\ude00";
        int count = 3;
        String password = "tiger";
        Map<String, String> headers = Map.of("Authorization", "tiger");
    }

    /** Nothing of this may be called by whoever looks at it. */
    static class Shy {
        int value = 7;

        @Override
        public String toString() {
            System.out.println("touched");
            return "touched";
        }
    }

    static class Cart {
        final int id;
        final Line[] lines = {new Line(), new Line()};

        Cart(int id) {
            this.id = id;
        }

        boolean checkout(String coupon, long[] more, Shy shy) {
            total();
            total(coupon);
            deeper(3);
            if (id % 10 == 0) {
                throw new IllegalStateException("out of stock: " + id);
            }
            return true;
        }

        int total() {
            return price(lines[0]) + price(lines[1]);
        }

        int total(String coupon) {
            return coupon == null ? 0 : total();
        }

        void deeper(int n) {
            if (n > 0) {
                deeper(n - 1);
            }
        }
    }

    static int price(Line line) {
        return line.count * 7;
    }

    static void round(int id) {
        try {
            new Cart(id).checkout(id % 2 == 0 ? "SALE" : null, new long[] {1, id}, new Shy());
        } catch (IllegalStateException e) {
            // every tenth
        }
    }

    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        System.out.println("ready");
        while (in.hasNextInt()) {
            int n = in.nextInt();
            for (int id = 1; id <= n; id++) {
                round(id);
            }
            System.out.println("done " + n);
        }
    }
}
