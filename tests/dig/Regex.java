// SPDX-License-Identifier: Apache-2.0
// A regular expression that tries every way to divide its input, when the input does not match.
import java.util.regex.Pattern;

public class Regex {
	static final Pattern list = Pattern.compile("(\"?)(\\w+,?)+\\1;");

	static boolean isList(String text) {
		return list.matcher(text).matches();
	}

	static boolean check(String text) {
		return !text.isEmpty() && isList(text);
	}

	public static void main(String[] args) throws Exception {
		String good = "alpha,beta,gamma;", bad = "aaaaaaaaaaaaaaaaaaaaa!";
		for (int i = 0;; i++) {
			check(i % 10 == 3 ? bad : good);
			Thread.sleep(4);
		}
	}
}
