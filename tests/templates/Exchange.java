// SPDX-License-Identifier: Apache-2.0
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** The JDK's own HTTP server. */
public class Exchange {
    static class Hello implements HttpHandler {
        @Override
        public void handle(HttpExchange x) throws IOException {
            byte[] hello = "hello".getBytes();
            x.sendResponseHeaders(202, hello.length);
            x.getResponseBody().write(hello);
            x.close();
        }
    }

    public static void main(String[] args) throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        HttpServer server = HttpServer.create(new InetSocketAddress(loopback, 0), 0);
        server.createContext("/", new Hello());
        ExecutorService threads = Executors.newSingleThreadExecutor();
        server.setExecutor(threads);
        server.start();
        URL url = new URL("http://127.0.0.1:" + server.getAddress().getPort() + "/a/b?secret");
        HttpURLConnection c = (HttpURLConnection) url.openConnection();
        System.out.println(c.getResponseCode());
        System.out.println(new String(c.getInputStream().readAllBytes()));
        server.stop(0);
        threads.shutdown();
        threads.awaitTermination(1, TimeUnit.MINUTES); // until the handler has returned
    }
}
