package zoo;

/** Default and static interface methods, super calls to interfaces, diamonds. */
public interface Defaults {
	int SIZE = "size".length();

	int id();

	default int scaled() {
		return id() * SIZE;
	}

	static Defaults of(int i) {
		return () -> i;
	}

	interface Left extends Defaults {
		@Override
		default int scaled() {
			return Defaults.super.scaled() + 1;
		}
	}

	interface Right extends Defaults {
		@Override
		default int scaled() {
			return Defaults.super.scaled() + 2;
		}
	}

	class Both implements Left, Right {
		public int id() {
			return 3;
		}

		@Override
		public int scaled() {
			return Left.super.scaled() * Right.super.scaled();
		}
	}

	static void main(String[] args) {
		System.out.println(of(5).scaled() + " " + new Both().scaled());
	}
}
