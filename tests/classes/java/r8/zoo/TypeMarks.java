package zoo;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import zoo.TypeMark.C;
import zoo.TypeMark.T;

/** Type annotations in every place: all target_type values of JVMS 4.7.20.1, all path kinds. */
public class TypeMarks<@T(1) X extends @T(2) Object & @T(3) Comparable<@T(4) X>>
		extends @T(5) ArrayList<@T(6) X> implements @C Cloneable {
	private static final long serialVersionUID = 1L;

	@T(7) Map<@T(8) String, @T(9) ? extends @T(10) List<@C ? super @T(11) Integer>> field;
	@T(12) int @T(13) [] @T(14) [] array;
	static TypeMarks.@T(15) Inner inner;
	Out.@T(46) In<@T(47) String> deep;

	static class Inner {
	}

	static class Out {
		class In<P> {
		}
	}

	@T(16) TypeMarks() {
	}

	<@T(17) A extends @T(18) Runnable & @C Supplier<@T(19) A>,
			@C B> @T(20) @T(21) String method(
			@T(22) TypeMarks<@T(23) X> this, @T(24) int a,
			@C B @T(25) ... b) throws @T(26) IOException, @C Error {
		return a + "" + b.length;
	}

	static String inCode(Object o) throws IOException {
		@T(27) String local = "l";
		for (@T(28) int i = 0; i < 2; i++) {
			@C long wide = i;
			local += wide;
		}
		try (@T(29) ByteArrayInputStream in =
				new @T(30) ByteArrayInputStream(new @T(31) byte @C [] {1})) {
			local += in.read();
		} catch (@T(32) RuntimeException | @T(33) Error e) {
			local += e;
		}
		if (o instanceof @T(34) String)
			local += (@T(35) String & @T(36) Comparable<@T(37) String>) o;
		List<String> list = new @T(38) ArrayList<@T(39) String>();
		Function<@T(40) Object, String> f = @T(41) Object::toString;
		Supplier<List<String>> g = ArrayList<@T(42) String>::new;
		Function<String, String> lambda = (@T(43) String s) -> {
			@T(44) String inside = s + "!";
			return inside;
		};
		TypeMarks.<@T(45) String>generic(local);
		new <@C String>Ctor(local);
		return local + f.apply(1) + g.get().size() + lambda.apply("x") + list.size();
	}

	static <Q> void generic(Q q) {
	}

	static class Ctor {
		<Q> Ctor(Q q) {
		}
	}

	public static void main(String[] args) throws Exception {
		System.out.println(inCode("str") + " " + inCode(5));
		Class<?> c = TypeMarks.class;
		System.out.println(c.getAnnotatedSuperclass().getAnnotations().length);
		System.out.println(new TypeMarks<String>().method(1, 2, 3));
	}
}
