package zoo;

/** What happens before and around this() and super(). */
public class Constructors extends ConstructorsBase {
	static int made;
	final int id = ++made;
	final String name;
	private Object extra;

	{
		extra = "init" + id;
	}

	Constructors(boolean cond, String a, String b) {
		super(cond ? a : b, cond && a != null ? 1 : b.length() > 2 ? 2L : 3);
		name = cond ? "T" : "F";
	}

	Constructors(int n) {
		this(n > 3, n > 5 ? "big" : n < 0 ? null : "small", new StringBuilder().append(n)
				.append(n % 2 == 0 ? new Constructors(true, "in", "ner").name
				: "odd").toString());
		extra = null;
	}

	Constructors(int[] a) {
		super(pick(a), a == null ? new int[0].length : (long) a.length);
		try {
			extra = a[0];
		} catch (RuntimeException e) {
			extra = "none";
		} finally {
			made += 10;
		}
		if (a == null) {
			name = "null";
			return;
		}
		name = "array";
		while (a.length > 100)
			throw new IllegalArgumentException();
	}

	private static String pick(int[] a) {
		return a == null ? "" : "a" + a.length;
	}

	@Override
	public String toString() {
		return text + "/" + size + "/" + id + "/" + name + "/" + extra;
	}

	/** Several objects under construction at once: uninitialized types in frames. */
	static Object pending(boolean b, int i) {
		return new StringBuilder(b ? new String(i > 2 ? new char[] {'a'} : new char[] {'b',
				'c'})
				: i > 1 ? new Constructors(b ? 1 : 2).toString() : "z").append(b ? 1
				: 2L).toString();
	}

	public static void main(String[] args) {
		System.out.println(new Constructors(true, "a", "b") + " " + new Constructors(false,
				"a", "bcd"));
		System.out.println(new Constructors(7) + " " + new Constructors(4) + " "
				+ new Constructors(-1));
		System.out.println(new Constructors((int[]) null) + " "
				+ new Constructors(new int[] {5}));
		System.out.println(pending(true, 3) + " " + pending(true, 1) + " " + pending(false,
				2) + " "
				+ pending(false, 0) + " " + made);
	}
}

class ConstructorsBase {
	final String text;
	final long size;

	protected ConstructorsBase(String text, long size) {
		this.text = text;
		this.size = size;
	}
}
