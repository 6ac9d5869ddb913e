// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Files;
import java.nio.file.Path;

/** Serves from when the file `go` is there until the file `stop` is, and then tells how often. */
class Shop {
    static final class Item {
        private final int price;

        Item(int price) {
            this.price = price;
        }

        int price() {
            return price;
        }
    }

    static final class Service {
        private final Item[] items = new Item[1000];
        long sum;

        Service() {
            for (int k = 0; k < items.length; k++) {
                items[k] = new Item(k);
            }
        }

        void serve() {
            for (Item item : items) {
                sum += item.price();
            }
            for (long end = System.nanoTime() + 100_000; System.nanoTime() < end; ) {
                sum++;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Path dir = Path.of(args[0]);
        Service service = new Service();
        long served = 0;
        long took = 0;
        while (!Files.exists(dir.resolve("go"))) {
            Thread.sleep(20);
        }
        while (!Files.exists(dir.resolve("stop"))) {
            for (int k = 0; k < 100; k++) {
                long begin = System.nanoTime();
                service.serve();
                took += System.nanoTime() - begin;
                served++;
            }
        }
        Files.writeString(dir.resolve("served"), served + " " + took + "\n");
        Thread.sleep(600_000);
    }
}
