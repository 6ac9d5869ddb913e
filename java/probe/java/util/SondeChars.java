// SPDX-License-Identifier: Apache-2.0
package java.util;

/**
 * A text that can be read so many times and no more: a regular expression that tries for ever must
 * not hold up the program.
 */
final class SondeChars implements CharSequence {
    private final String text;
    private final int from;
    private final int to;
    private final int[] left; // shared with all parts of the text

    SondeChars(String text, int from, int to, int[] left) {
        this.text = text;
        this.from = from;
        this.to = to;
        this.left = left;
    }

    @Override
    public int length() {
        return to - from;
    }

    @Override
    public char charAt(int at) {
        if (--left[0] < 0) {
            throw new IllegalStateException("too many steps");
        }
        return text.charAt(from + at);
    }

    @Override
    public CharSequence subSequence(int start, int end) {
        return new SondeChars(text, from + start, from + end, left);
    }

    @Override
    public String toString() {
        return text.substring(from, to);
    }
}
