// SPDX-License-Identifier: Apache-2.0
import bus.Record;

public class Bus {
    static class Producer {
        int send(Record r) {
            return r.topic().length();
        }

        static void send(String anything) {
            System.out.println(anything);
        }
    }

    public static void main(String[] args) {
        System.out.println(new Producer().send(new bus.Record("prices")));
        Producer.send("hello");
        try {
            new Producer().send((Record) null);
        } catch (NullPointerException e) {
            System.out.println("null");
        }
    }
}
