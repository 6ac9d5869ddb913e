// SPDX-License-Identifier: Apache-2.0
// truth: Requests of one session wait for its monitor, which another request of that session has in Basket.render.
// jars: tomcat10 debian:tomcat10-juli
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/** A basket that is shown under its session's monitor; one browser asks for it in six tabs at once. */
public class Session {
	public static class Basket extends HttpServlet {
		@Override
		protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
			HttpSession session = request.getSession();
			response.getWriter().print(show(session));
		}

		private long show(HttpSession session) {
			synchronized (session) {
				return render(session);
			}
		}

		private long render(HttpSession session) {
			try {
				Thread.sleep(40);
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
			return session.getLastAccessedTime();
		}
	}

	static void browse(int port) throws Exception {
		HttpClient client = HttpClient.newHttpClient();
		URI page = URI.create("http://127.0.0.1:" + port + "/basket");
		String cookie = client.send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString())
			.headers().firstValue("set-cookie").orElseThrow().split(";")[0];
		HttpRequest ask = HttpRequest.newBuilder(page).header("cookie", cookie).build();
		for (int t = 0; t < 6; t++)
			new Thread(() -> {
				try {
					for (;;)
						client.send(ask, HttpResponse.BodyHandlers.ofString());
				} catch (IOException | InterruptedException e) {
					System.exit(0);
				}
			}).start();
	}

	public static void main(String[] args) throws Exception {
		if (args.length > 0) {
			browse(Integer.parseInt(args[0]));
			return;
		}
		Tomcat tomcat = new Tomcat();
		tomcat.setBaseDir(Files.createTempDirectory("session").toString());
		tomcat.setPort(0);
		tomcat.getConnector().setProperty("address", "127.0.0.1");
		Context context = tomcat.addContext("", null);
		Tomcat.addServlet(context, "basket", new Basket());
		context.addServletMappingDecoded("/basket", "basket");
		tomcat.start();
		new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-Xmx48m", "-cp", System.getProperty("java.class.path"),
			"Session", String.valueOf(tomcat.getConnector().getLocalPort())).inheritIO().start();
		System.out.println("ready");
	}
}
