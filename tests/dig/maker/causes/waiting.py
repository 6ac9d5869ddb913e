# SPDX-License-Identifier: Apache-2.0
"""Causes that wait: for time to pass, for another process, for the disk."""
from causes import Cause

# Another process, so that nothing of it is seen in the program.
DOWNSTREAM = '''package util;

import java.io.*;
import java.net.*;
import java.util.*;

/** A service in a process of its own, which takes as long as it is told to. */
public final class Downstream {
	private static int port;
	private static final ThreadLocal<DataOutputStream> OUT = new ThreadLocal<>();
	private static final ThreadLocal<DataInputStream> IN = new ThreadLocal<>();

	private Downstream() {}

	public static void main(String[] args) throws Exception {
		ServerSocket server = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
		System.out.println(server.getLocalPort());
		Thread end = new Thread(() -> {
			try {
				while (System.in.read() >= 0)
					continue;
			} catch (IOException e) {
				// as good as its end
			}
			System.exit(0);
		});
		end.start();
		for (;;) {
			Socket s = server.accept();
			new Thread(() -> serve(s)).start();
		}
	}

	private static void serve(Socket s) {
		try (s) {
			DataInputStream in = new DataInputStream(s.getInputStream());
			for (;;) {
				Thread.sleep(in.readInt());
				s.getOutputStream().write(1);
			}
		} catch (IOException | InterruptedException e) {
			// the client has gone
		}
	}

	public static synchronized void begin() {
		try {
			Process p = new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-Xmx32m", "-Xint", "-cp",
				System.getProperty("java.class.path"), "util.Downstream").redirectError(ProcessBuilder.Redirect.INHERIT).start();
			port = Integer.parseInt(new BufferedReader(new InputStreamReader(p.getInputStream())).readLine());
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	public static int ask(int millis) {
		try {
			if (OUT.get() == null) {
				Socket s = new Socket(InetAddress.getLoopbackAddress(), port);
				OUT.set(new DataOutputStream(s.getOutputStream()));
				IN.set(new DataInputStream(s.getInputStream()));
			}
			OUT.get().writeInt(millis);
			return IN.get().read();
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}
}
'''


def napping(_):
	return Cause('backing off', ['sleep'], 1e6, '', '''		try {
			Thread.sleep(amount - 1);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
''', computes=False)


def downstream(_):
	return Cause('slow service', ['socket'], 1e6, '', '''		sum += Downstream.ask(amount - 1);
''', computes=False, helpers=[('util', 'Downstream', DOWNSTREAM)], jobs=['Downstream.begin();'],
		     also=['util.Downstream.ask'])


def unbuffered(_):
	return Cause('file read by bytes', ['file'], 700, '''	private static final File PAGES = pages();

	private static File pages() {
		try {
			File f = File.createTempFile("pages", ".bin");
			f.deleteOnExit();
			try (FileOutputStream out = new FileOutputStream(f)) {
				out.write(new byte[4 << 20]);
			}
			return f;
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}
''', '''		try (FileInputStream in = new FileInputStream(PAGES)) {
			for (int i = 0; i < amount; i++)
				sum += in.read();
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
''')


ALL = [napping, downstream, downstream, unbuffered]
