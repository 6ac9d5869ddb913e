// SPDX-License-Identifier: Apache-2.0
/** Says that it has started, and waits. */
public class Victim {
	public static void main(String[] args) throws Exception {
		System.out.println("started");
		while (true)
			Thread.sleep(1000);
	}
}
