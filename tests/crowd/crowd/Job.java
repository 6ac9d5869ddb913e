// SPDX-License-Identifier: Apache-2.0
package crowd;

/** A piece of work that has one right result for each n. */
public interface Job {
	long run(int n) throws Exception;
}
