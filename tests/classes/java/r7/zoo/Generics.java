package zoo;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Signature attributes of every kind, and the bridge methods they cause. */
public class Generics<K extends Comparable<? super K> & Serializable, V, E extends Exception>
		extends GenericsBase<Map<K, List<? extends V[]>>> implements Iterable<K>,
		Comparable<Generics<K, V, E>> {
	private final List<K> keys = new ArrayList<K>();
	protected V[][] grid;
	public Map.Entry<? super K, int[]> entry;
	Outer<K>.In<V> in;

	static class Outer<A> {
		class In<B> {
			A a;
			B b;
		}
	}

	<T extends E> void maybe(T t) throws T, E {
		if (t != null)
			throw t;
	}

	@SafeVarargs
	static <T extends Object & Comparable<? super T>> T max(T first, T... rest) {
		T best = first;
		for (T t : rest)
			if (t.compareTo(best) > 0)
				best = t;
		return best;
	}

	@Override
	Map<K, List<? extends V[]>> get() {
		return Collections.emptyMap();
	}

	@Override
	public Iterator<K> iterator() {
		return keys.iterator();
	}

	@Override
	public int compareTo(Generics<K, V, E> o) {
		return keys.size() - o.keys.size();
	}

	Generics<K, V, E> add(K k) {
		keys.add(k);
		return this;
	}

	@SuppressWarnings({"unchecked", "rawtypes"})
	public static void main(String[] args) throws Exception {
		Generics<String, Integer, Exception> g = new Generics<String, Integer, Exception>();
		g.add("b").add("a").maybe(null);
		int n = 0;
		for (String s : g)
			n = n * 31 + s.charAt(0);
		System.out.println(n + " " + max(3, 9, 4) + max("x") + g.get().size());
		System.out.println(((Comparable) g).compareTo(g) + " " + ((GenericsBase) g).get());
		try {
			((Comparable) g).compareTo("not one");
		} catch (ClassCastException e) {
			System.out.println("bridge refused");
		}
	}
}

abstract class GenericsBase<T> {
	abstract T get();
}
