// SPDX-License-Identifier: Apache-2.0
/** Waits for what never comes. */
public final class Idle {
	public static void main(String[] args) throws Exception {
		System.out.println("ready");
		System.in.read();
	}
}
