// SPDX-License-Identifier: Apache-2.0

/** Says hello, and stays until it is killed. */
public class Hello {
    public static void main(String[] args) throws InterruptedException {
        System.out.println("hello");
        Thread.sleep(60_000);
    }
}
