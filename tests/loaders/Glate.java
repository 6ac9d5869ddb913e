// SPDX-License-Identifier: Apache-2.0

/** Is shown to agents before its superclass is loaded, and there only afterwards. */
public class Glate extends Gslow implements Runnable {
	private int runs;

	@Override
	public void run() {
		runs++;
	}
}
