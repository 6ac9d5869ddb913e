// SPDX-License-Identifier: Apache-2.0
// Slow for one value of an argument, which is a secret: it may be neither told nor kept.
public class Secret {
	record Login(int user, String password) {
	}

	static volatile double kept;

	static double check(Login login) {
		double x = login.user();
		int rounds = login.password().equals("tiger") ? 9_000_000 : 2_000;
		for (int i = 0; i < rounds; i++)
			x = Math.sqrt(x + i);
		return x;
	}

	static void enter(Login login) {
		kept = check(login);
	}

	public static void main(String[] args) throws Exception {
		String[] words = {"horse", "tiger", "mouse", "snake"};
		for (int i = 0;; i++) {
			enter(new Login(i, words[i * 7919 % 97 % 4]));
			Thread.sleep(5);
		}
	}
}
