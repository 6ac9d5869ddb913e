// SPDX-License-Identifier: Apache-2.0
package crowd;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.zip.CRC32;

/** Tomcat in this JVM, and pages of its examples that are the same each time. */
class Web implements Job {
	private static final String[] PATHS = {
		"index.html", "servlets/servlet/HelloWorldExample", "jsp/jsp2/el/basic-arithmetic.jsp",
		"jsp/jsp2/el/basic-comparisons.jsp", "jsp/jsp2/simpletag/hello.jsp", "jsp/jsp2/simpletag/repeat.jsp",
		"jsp/jsp2/simpletag/book.jsp", "jsp/jsp2/tagfiles/hello.jsp", "nothing-here",
		"servlets/servlet/RequestParamExample?firstname=a&lastname=b",
	};

	private final String port;

	Web(String port) {
		this.port = port;
	}

	/** Its own thread waits until Tomcat is told to stop, which nobody does. */
	static void start(String port) throws Exception {
		Thread t = Jobs.daemon(() -> {
			try {
				Class.forName("org.apache.catalina.startup.Bootstrap").getMethod("main", String[].class)
					.invoke(null, (Object)new String[] { "start" });
			} catch (ReflectiveOperationException e) {
				Victim.wrong("Tomcat: " + e.getCause());
			}
		}, "Tomcat");
		t.start();
		for (int i = 0; i < 600; i++) {
			try {
				new Web(port).run(0);
				return;
			} catch (java.net.ConnectException e) {
				Thread.sleep(100);
			}
		}
		throw new IllegalStateException("Tomcat does not answer");
	}

	@Override
	public long run(int n) throws Exception {
		HttpURLConnection c = (HttpURLConnection)URI.create("http://127.0.0.1:" + port + "/examples/"
			+ PATHS[n % PATHS.length]).toURL().openConnection();
		CRC32 crc = new CRC32();
		int status = c.getResponseCode();
		try (InputStream in = status < 400 ? c.getInputStream() : c.getErrorStream();
			InputStream body = in == null ? new ByteArrayInputStream(new byte[0]) : in) {
			crc.update(body.readAllBytes());
		}
		return status + 1000 * crc.getValue();
	}
}
