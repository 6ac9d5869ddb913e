// SPDX-License-Identifier: Apache-2.0
// truth: Rates.of waits for the network, for customer "c-7" only, since the service answers that one slowly.
// jars:
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Random;
import java.util.concurrent.Executors;

/** Offers whose rates come from a service in another process. */
public class Downstream {
	static final class Rates {
		private final HttpClient client = HttpClient.newHttpClient();
		private final String service;

		Rates(String service) {
			this.service = service;
		}

		int of(String customer) throws Exception {
			HttpRequest ask = HttpRequest.newBuilder(URI.create(service + customer)).build();
			return client.send(ask, HttpResponse.BodyHandlers.ofString()).body().length();
		}
	}

	static final class Offers {
		private final Rates rates;

		Offers(Rates rates) {
			this.rates = rates;
		}

		long make(String customer, int items) throws Exception {
			long sum = 0;
			for (int i = 0; i < items; i++)
				sum = sum * 31 + i;
			return sum + rates.of(customer);
		}
	}

	static void serve() throws Exception {
		HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 100);
		server.setExecutor(Executors.newCachedThreadPool());
		server.createContext("/", exchange -> {
			try {
				Thread.sleep(exchange.getRequestURI().getPath().equals("/c-7") ? 250 : 1);
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
			exchange.sendResponseHeaders(200, 2);
			exchange.getResponseBody().write(new byte[] { '4', '2' });
			exchange.close();
		});
		server.start();
		System.out.println(server.getAddress().getPort());
		while (System.in.read() >= 0)
			continue;
		System.exit(0);
	}

	public static void main(String[] args) throws Exception {
		if (args.length > 0) {
			serve();
			return;
		}
		Process other = new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-Xmx48m", "-Dsun.net.httpserver.nodelay=true", "-cp",
			System.getProperty("java.class.path"), "Downstream", "serve").redirectError(ProcessBuilder.Redirect.INHERIT).start();
		String port = new BufferedReader(new InputStreamReader(other.getInputStream())).readLine();
		Offers offers = new Offers(new Rates("http://127.0.0.1:" + port + "/"));
		for (int t = 0; t < 6; t++) {
			Random random = new Random(t);
			new Thread(() -> {
				try {
					for (;;) {
						offers.make("c-" + (random.nextInt(12) == 0 ? 7 : 10 + random.nextInt(40)), 20);
						Thread.sleep(30);
					}
				} catch (Exception e) {
					throw new IllegalStateException(e);
				}
			}, "client-" + t).start();
		}
		System.out.println("ready");
	}
}
