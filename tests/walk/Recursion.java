// SPDX-License-Identifier: Apache-2.0
// A tree walked by two methods that call each other; Audit begins nearly all of these walks.
public class Recursion {
	static class Node {
		Node left, right;
		double value = 1;
	}

	static volatile double sink;

	static Node grow(int depth) {
		Node n = new Node();

		if (depth > 0) {
			n.left = grow(depth - 1);
			n.right = grow(depth - 1);
		}
		return n;
	}

	static double work(double v) {
		for (int i = 0; i < 200; i++)
			v = Math.sqrt(v + i);
		return v;
	}

	static double even(Node n) {
		return n == null ? 0 : work(n.value) + odd(n.left) + odd(n.right);
	}

	static double odd(Node n) {
		return n == null ? 0 : work(n.value) + even(n.left) + even(n.right);
	}

	static double audit(Node root) {
		double sum = 0;

		for (int i = 0; i < 30; i++)
			sum += even(root);
		return sum;
	}

	static double glance(Node root) {
		return even(root.left.left.left.left);
	}

	public static void main(String[] args) throws Exception {
		Node root = grow(9);

		System.out.println("ready");
		for (;;) {
			sink = audit(root) + glance(root);
			Thread.sleep(1);
		}
	}
}
