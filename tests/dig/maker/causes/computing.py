# SPDX-License-Identifier: Apache-2.0
"""Causes that compute."""
from causes import Cause


def linked(rng):
	size = rng.choice([1000, 3000])
	return Cause('linked list by index', ['cpu'], size * 0.7,
		f'''	private static final List<Integer> ENTRIES =
		new LinkedList<>(IntStream.range(0, {size}).boxed().collect(Collectors.toList()));
''', f'''		for (int i = 0; i < amount; i++)
			sum += ENTRIES.get(i * 7 % {size});
''')


def arithmetic(rng):
	size = rng.choice([500, 5000])
	return Cause('arithmetic', ['cpu'], size * 0.8, f'''	private static final int[] TABLE = new int[{size}];
''', '''		for (int i = 0; i < amount; i++)
			for (int j = 0; j < TABLE.length; j++)
				sum += TABLE[j] ^ (sum >>> 3);
''')


def sorting(rng):
	size = rng.choice([100, 1000])
	return Cause('sorting anew', ['cpu'], size * 60, '', f'''		for (int i = 0; i < amount; i++) {{
			List<String> names = new ArrayList<>();
			for (int j = 0; j < {size}; j++)
				names.add("n" + j * 7919 % 1000);
			names.sort(Comparator.comparing(String::length).thenComparing(Comparator.reverseOrder()));
			sum += names.get(0).length();
		}}
''')


def regex(_):
	return Cause('regular expression', ['cpu'], 90000, '''	private static final Pattern LIST = Pattern.compile(".*.*.*=");
''', '''		for (int i = 0; i < amount; i++)
			sum += LIST.matcher("a list of names without what is asked for").matches() ? 1 : 2;
''')


def hashing(rng):
	size = rng.choice([200, 600])
	return Cause('poor hashCode', ['cpu'], size * 1.5, f'''	private static final class Key {{
		private final String name;

		Key(String name) {{
			this.name = name;
		}}

		@Override
		public int hashCode() {{
			return name.length();
		}}

		@Override
		public boolean equals(Object o) {{
			return o instanceof Key && ((Key) o).name.equals(name);
		}}
	}}

	private static final Map<Key, Integer> BY_KEY = new ConcurrentHashMap<>();

	static {{
		for (int i = 100; i < {size + 100}; i++)
			BY_KEY.put(new Key("key" + i), i);
	}}
''', f'''		for (int i = 0; i < amount; i++)
			sum += BY_KEY.getOrDefault(new Key("key" + (i * 7 % {size} + 100)), 0);
''')


def exceptions(rng):
	depth = rng.choice([10, 60])
	return Cause('exceptions', ['exceptions'], 1500 + depth * 250, '''	private static long number(String text, int deep) {
		return deep > 0 ? number(text, deep - 1) + 1 : Long.parseLong(text);
	}
''', f'''		for (int i = 0; i < amount; i++)
			try {{
				sum += number("n/a" + i, {depth});
			}} catch (NumberFormatException e) {{
				sum++;
			}}
''')


def garbage(_):
	return Cause('allocation', ['cpu', 'gc', 'allocation'], 6000, '', '''		for (int i = 0; i < amount; i++) {
			byte[] page = new byte[32 << 10];
			page[i & 1023] = 1;
			sum += Arrays.copyOf(page, 24 << 10)[i & 1023];
		}
''')


def reflection(_):
	return Cause('reflection', ['cpu', 'reflection'], 6000, '', '''		for (int i = 0; i < amount; i++)
			for (java.lang.reflect.Method m : ArrayList.class.getMethods())
				sum += m.getParameterCount();
''')


def serialisation(_):
	return Cause('serialisation', ['cpu', 'serialisation'], 30000, '', '''		for (int i = 0; i < amount; i++)
			try {
				ByteArrayOutputStream bytes = new ByteArrayOutputStream();
				ObjectOutputStream out = new ObjectOutputStream(bytes);
				out.writeObject(new TreeMap<>(Map.of("a", new Date(), "b", new Date(), "c", List.of(1, 2, 3))));
				out.flush();
				sum += ((Map<?, ?>) new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject()).size();
			} catch (IOException | ClassNotFoundException e) {
				throw new IllegalStateException(e);
			}
''')


def deflating(_):
	return Cause('native code', ['native', 'cpu'], 120000, '''	private static final byte[] PAGE = new byte[8 << 10];

	static {
		new Random(7).nextBytes(PAGE);
	}
''', '''		for (int i = 0; i < amount; i++) {
			Deflater deflater = new Deflater(9);
			deflater.setInput(PAGE);
			deflater.finish();
			sum += deflater.deflate(new byte[16 << 10]);
			deflater.end();
		}
''')


def appending(rng):
	size = rng.choice([50, 300])
	return Cause('text added to text', ['cpu'], size * 80, '', f'''		for (int i = 0; i < amount; i++) {{
			String text = "";
			for (int j = 0; j < {size}; j++)
				text += j;
			sum += text.length();
		}}
''')


def boxing(rng):
	size = rng.choice([200, 2000])
	return Cause('boxing', ['cpu', 'gc', 'allocation'], size * 25, '', f'''		for (int i = 0; i < amount; i++) {{
			Long total = 0L;
			List<Long> parts = new ArrayList<>();
			for (long j = 1000; j < {size + 1000}; j++)
				parts.add(j * i);
			for (Long part : parts)
				total += part;
			sum += total;
		}}
''')


def formatting(_):
	return Cause('formatting', ['cpu'], 1500, '', '''		for (int i = 0; i < amount; i++)
			sum += String.format("%08d %-20s %.3f", i, "name" + i, i / 7.0).length();
''')


def scanning(rng):
	size = rng.choice([500, 5000])
	return Cause('list searched from its start', ['cpu'], size * 2.5, f'''	private static final List<String> NAMES =
		IntStream.range(0, {size}).mapToObj(i -> "name" + i).collect(Collectors.toList());
''', f'''		for (int i = 0; i < amount; i++)
			sum += NAMES.contains("name" + ({size} - 1 - i % 10)) ? 1 : 0;
''')


def digits(rng):
	size = rng.choice([2000, 10000])
	return Cause('huge numbers', ['cpu'], size * size * 0.006, f'''	private static final String DIGITS = "7".repeat({size});
''', '''		for (int i = 0; i < amount; i++)
			sum += new java.math.BigInteger(DIGITS).bitLength();
''')


ALL = [linked, arithmetic, sorting, regex, hashing, exceptions, garbage, reflection, serialisation, deflating, appending, boxing,
       formatting, scanning, digits]
