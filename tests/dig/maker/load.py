# SPDX-License-Identifier: Apache-2.0
"""Requests and who makes them: a closed load on 1 to 50 threads, platform or virtual; an open one, by a pool or by event
loops; or methods that never return, which take one request after the other."""
from plant import log_uniform

KINDS = {'closed': 5, 'virtual': 1.5, 'open': 2.5, 'loop': 1.5, 'endless': 1}

REQUEST = '''package util;

/** What is asked for. */
public record Request(long id, String tenant, String kind, int size, Customer customer) {
	public record Customer(String plan, String region) {}
}
'''


LOOP = '''package util;

import java.util.concurrent.*;

/** A thread that takes events and sends each along a chain of handlers, which call each other through the loop. */
public final class Loop {
	public interface Handler {
		void read(Context context, Object event);
	}

	public static final class Context {
		private final Handler handler;
		private final Context next;

		Context(Handler handler, Context next) {
			this.handler = handler;
			this.next = next;
		}

		public void fireRead(Object event) {
			next.invokeRead(event);
		}

		void invokeRead(Object event) {
			handler.read(this, event);
		}
	}

	private final BlockingQueue<Object> events = new LinkedBlockingQueue<>();
	private final Context head;

	public Loop(String name, Handler... handlers) {
		Context at = null;
		for (int i = handlers.length; i-- > 0;)
			at = new Context(handlers[i], at);
		head = at;
		new Thread(this::run, name).start();
	}

	public void offer(Object event) {
		events.add(event);
	}

	private void run() {
		try {
			for (;;)
				head.invokeRead(events.take());
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}
}
'''


class Load:
	def __init__(self, program, kind):
		rng = program.rng
		self.program = program
		self.threads = rng.choice([1, 2, 4, 8, 16, 30, 50])
		drawn = rng.choices(list(KINDS), list(KINDS.values()))[0]
		self.kind = kind or drawn
		self.tenants = rng.choice([8, 40, 300])
		self.think_us = 1000
		program.helpers.append(('util', 'Request', REQUEST))
		if self.kind == 'loop':
			program.helpers.append(('util', 'Loop', LOOP))

	def most(self):
		"""Requests a second at most."""
		return min(8000 if self.program.small else 1000, 0.3e9 / self.base_ns)

	def estimate(self):
		"""About what a request takes without a plant."""
		cost = {'executor': 2e5, 'stage': 2e5, 'both': 2e5, 'worker': 2e5}  # on a busy machine
		self.program.weigh()
		least, each = (2e3, 1e3) if self.program.small else (2e4, 2e3)
		self.base_ns = least + sum(m.weight * (each + sum(c.times * cost.get(c.way, 0) for c in m.calls))
					   for m in self.program.methods())

	def fit(self, rate, slow_ns):
		busy = rate * (slow_ns + self.base_ns) / 1e9
		self.threads = max(self.threads, min(50, int(3 * busy) + 1))
		self.rate = rate
		self.think_us = max(int(1e6 * self.threads / rate - (slow_ns + self.base_ns) / 1e3), 100)

	def fit_without(self):
		rate = log_uniform(self.program.rng, 20, self.most())
		self.fit(rate, 0)

	def draw(self, condition, share):
		"""Java expressions of the fields, such that the condition holds for its share of the requests."""
		fields = {'tenant': f'"t-" + (10 + random.nextInt({self.tenants}))',
			  'kind': 'List.of("single", "gift", "return", "sample").get(random.nextInt(4))',
			  'size': '1 + random.nextInt(100)',
			  'plan': 'random.nextInt(3) == 0 ? "silver" : "bronze"'}
		if condition:
			special = f'"{condition["value"]}"' if 'value' in condition else f'{condition["from"]} + random.nextInt(200)'
			rest = fields[condition['field']]
			fields[condition['field']] = f'random.nextDouble() < {share:.5f} ? {special} : {rest}'
		return fields

	def main(self, wiring, condition, share):
		f, root = self.draw(condition, share), self.program.root()
		entry = root.of.name[0].lower() + root.of.name[1:]
		jobs = '\n'.join('\t\t' + j for j in self.program.jobs)
		start = {'open': self.open_load, 'loop': self.loops, 'endless': self.endless}.get(self.kind, self.closed_load)()
		return f'''package util;

import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
{self.imports()}

public final class Main {{
	private static final AtomicLong IDS = new AtomicLong(), DONE = new AtomicLong();
	private static volatile long kept;

	private Main() {{}}

	private static Request next(Random random) {{
		return new Request(IDS.incrementAndGet(), {f['tenant']},
			{f['kind']}, {f['size']},
			new Request.Customer({f['plan']}, "north"));
	}}

	private static void think(Random random) {{
		LockSupport.parkNanos((long) ({self.think_us}e3 * (0.5 + random.nextDouble())));
	}}

	private static void start(String name, Runnable what) {{
		try {{
			if ({'true' if self.kind == 'virtual' else 'false'}) {{
				Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, what);
				return;
			}}
		}} catch (ReflectiveOperationException e) {{
			// before 21
		}}
		new Thread(what, name).start();
	}}

	private static void watch() {{
		Thread t = new Thread(() -> {{
			for (;;) {{
				LockSupport.parkNanos(2_000_000_000L);
				System.out.println("done " + DONE.get());
			}}
		}}, "watch");
		t.start();
	}}

	public static void main(String[] args) throws Exception {{
{jobs}
{wiring}
		watch();
{start.format(entry=entry, method=root.name)}
	}}
}}
'''

	def imports(self):
		return '\n'.join(f'import {p}.*;' for p in sorted({c.package for c in self.program.classes()}))

	def closed_load(self):
		return f'''		for (int i = 0; i < {self.threads}; i++) {{{{
			Random random = new Random(i);
			start("client-" + i, () -> {{{{
				for (;;) {{{{
					think(random);
					kept += {{entry}}.{{method}}(next(random));
					DONE.incrementAndGet();
				}}}}
			}}}});
		}}}}'''

	def open_load(self):
		period = max(int(1e6 / self.rate), 100)
		return f'''		ExecutorService workers = Tasks.pool("worker", {self.threads});
		Random random = new Random(1);
		long due = System.nanoTime();
		for (;;) {{{{
			Request request = next(random);
			workers.execute(() -> {{{{
				kept += {{entry}}.{{method}}(request);
				DONE.incrementAndGet();
			}}}});
			due += {period}000L;
			LockSupport.parkNanos(due - System.nanoTime());
		}}}}'''


	def loops(self):
		period = max(int(1e6 / self.rate), 100)
		return f'''		Loop.Handler pass = (context, event) -> context.fireRead(event);
		Loop.Handler last = (context, event) -> {{{{
			kept += {{entry}}.{{method}}((Request) event);
			DONE.incrementAndGet();
		}}}};
		Loop[] loops = new Loop[{self.threads}];
		for (int i = 0; i < loops.length; i++)
			loops[i] = new Loop("loop-" + i, pass, pass, last);
		Random random = new Random(1);
		long due = System.nanoTime();
		for (int i = 0;; i++) {{{{
			loops[i % loops.length].offer(next(random));
			due += {period}000L;
			LockSupport.parkNanos(due - System.nanoTime());
		}}}}'''

	def endless(self):
		return f'''		for (int i = 0; i < {self.threads}; i++) {{{{
			Random random = new Random(i);
			start("client-" + i, () -> kept += {{entry}}.{{method}}(() -> {{{{
				think(random);
				DONE.incrementAndGet();
				return next(random);
			}}}}));
		}}}}'''
