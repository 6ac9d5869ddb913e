// SPDX-License-Identifier: Apache-2.0
// A service on the other side of a connection takes its time.
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

public class Socket {
	static void serve(ServerSocket server) {
		for (;;) {
			try (java.net.Socket s = server.accept()) {
				for (int c; (c = s.getInputStream().read()) >= 0;) {
					Thread.sleep(70);
					s.getOutputStream().write(c + 1);
				}
			} catch (IOException | InterruptedException e) {
				return;
			}
		}
	}

	static final class Stock {
		private final java.net.Socket socket;

		Stock(java.net.Socket socket) {
			this.socket = socket;
		}

		int ask(int item) throws IOException {
			socket.getOutputStream().write(item);
			return socket.getInputStream().read();
		}
	}

	static int reserve(Stock stock, int item) throws IOException {
		return stock.ask(item & 63) + 1;
	}

	public static void main(String[] args) throws Exception {
		ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
		Thread other = new Thread(() -> serve(server), "other side");
		other.setDaemon(true);
		other.start();
		Stock stock = new Stock(new java.net.Socket(InetAddress.getLoopbackAddress(), server.getLocalPort()));
		for (int i = 0;; i++) {
			reserve(stock, i);
			Thread.sleep(3);
		}
	}
}
