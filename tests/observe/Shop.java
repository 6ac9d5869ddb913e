// SPDX-License-Identifier: Apache-2.0
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;

/** A program with something of each: a border, a wait for the network, a lock, a getter that is hot. */
public final class Shop {
    private static final Object LOCK = new Object();
    private static volatile long sink;
    private int price = 3;

    int price() {
        return price;
    }

    /** Called all the time, and tiny. */
    long sum(int n) {
        long all = 0;
        for (int i = 0; i < n; i++) {
            price ^= i;
            all += price();
        }
        return all;
    }

    /** Waits for another program. */
    static int ask(InputStream in, OutputStream out) throws Exception {
        out.write(1);
        return in.read();
    }

    static void reserve() throws Exception {
        synchronized (LOCK) {
            Thread.sleep(2);
        }
    }

    void checkout(InputStream in, OutputStream out) throws Exception {
        sink += sum(200_000);
        sink += ask(in, out);
        reserve();
    }

    private static void serve(ServerSocket server) {
        try (Socket s = server.accept()) {
            InputStream in = s.getInputStream();
            OutputStream out = s.getOutputStream();
            for (int c; (c = in.read()) >= 0; ) {
                Thread.sleep(5);
                out.write(c);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static void customer(int port, long until) {
        Shop shop = new Shop();
        try (Socket s = new Socket("127.0.0.1", port)) {
            while (System.nanoTime() < until) {
                shop.checkout(s.getInputStream(), s.getOutputStream());
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        long until = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        for (int i = 0; i < 2; i++) {
            ServerSocket server = new ServerSocket(0, 5, java.net.InetAddress.getByName("127.0.0.1"));
            Thread t = new Thread(() -> serve(server), "echo");
            t.setDaemon(true);
            t.start();
            new Thread(() -> customer(server.getLocalPort(), until), "customer").start();
        }
        System.out.println("ready");
    }
}
