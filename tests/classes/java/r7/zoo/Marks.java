package zoo;

import java.lang.annotation.Annotation;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Annotations on declarations: every kind of value, retention and place. */
@Marks.Kept("class")
@Marks.InFile
@Deprecated
public class Marks {
	@Documented
	@Inherited
	@Retention(RetentionPolicy.RUNTIME)
	public @interface Kept {
		String value();
		boolean z() default true;
		byte b() default 1;
		char c() default '\u20ac';
		short s() default -2;
		int i() default Integer.MIN_VALUE;
		long j() default Long.MAX_VALUE;
		float f() default 1.5f;
		double d() default Double.NaN;
		Class<?>[] classes() default {void.class, long[].class, Marks.class};
		ElementType e() default ElementType.FIELD;
		ElementType[] es() default {};
		InFile nested() default @InFile(depth = {1, 2, 3});
		InFile[] many() default {@InFile, @InFile(depth = 4)};
		String[] names() default {"", "\0", "\ud83d\ude00", "\ud83d"};
	}

	@Retention(RetentionPolicy.CLASS)
	public @interface InFile {
		int[] depth() default {};
	}

	@Retention(RetentionPolicy.RUNTIME)
	@Target({ElementType.PARAMETER, ElementType.LOCAL_VARIABLE})
	@interface OnParameter {
	}

	@Kept("field")
	@InFile
	protected transient volatile int field;

	@Kept(value = "constructor", j = 3)
	@Deprecated
	Marks(@OnParameter @InFile int a, @Kept("b") String b, Object bare) {
		@OnParameter int local = a;
		field = local;
	}

	@Kept("method")
	static strictfp double method(@OnParameter long wide, double plain,
			@InFile final Object... rest) {
		return wide * plain + rest.length;
	}

	/** The hidden outer parameter is not in the annotation table. */
	class Member {
		Member(@OnParameter int a) {
			field += a;
		}
	}

	native int nativeMethod(long l);

	public static void main(String[] args) throws Exception {
		Kept k = Marks.class.getAnnotation(Kept.class);
		System.out.println(k.value() + k.c() + k.i() + k.classes().length
				+ k.names()[2].length());
		Annotation[][] pa =
				Marks.class.getDeclaredConstructors()[0].getParameterAnnotations();
		System.out.println(pa.length + " " + pa[0].length + " " + pa[1].length + " "
				+ method(2, 3.5, 1, 2));
		System.out.println(Marks.class.getPackage().getAnnotation(Kept.class).value());
		System.out.println(new Marks(4, null, null).new Member(5) != null);
	}
}
