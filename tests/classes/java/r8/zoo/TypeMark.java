package zoo;

import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The annotations that TypeMarks uses: T is visible at run time and repeatable, C is not. */
public interface TypeMark {
	@Target({ElementType.TYPE_USE, ElementType.TYPE_PARAMETER})
	@Retention(RetentionPolicy.RUNTIME)
	@Repeatable(Ts.class)
	@interface T {
		int value() default 0;
	}

	@Target({ElementType.TYPE_USE, ElementType.TYPE_PARAMETER})
	@Retention(RetentionPolicy.RUNTIME)
	@interface Ts {
		T[] value();
	}

	@Target({ElementType.TYPE_USE, ElementType.TYPE_PARAMETER})
	@Retention(RetentionPolicy.CLASS)
	@interface C {
	}
}
