package zoo.spi;

public interface Service {
	String name();

	class Plain implements Service {
		public String name() {
			return "plain";
		}
	}

	class Fancy {
		public static Service provider() {
			return () -> "fancy";
		}
	}
}
