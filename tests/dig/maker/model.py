# SPDX-License-Identifier: Apache-2.0
"""An application as a graph: classes in layers, their methods, and which method calls which.

A method has one of three kinds of parameters: R (Request r), N (Request r, int n) and K (String key, int n); the
key is one field of the request, the same everywhere, and n is the request's size.  A K method can only call K methods,
since it no longer has the request.
"""
from dataclasses import dataclass, field

PARAMETERS = {'R': 'Request r', 'N': 'Request r, int n', 'K': 'String key, int n'}


@dataclass
class Method:
	of: 'Class'
	name: str
	sig: str
	calls: list = field(default_factory=list)
	work: list = field(default_factory=list)  # Java statements
	weight: float = 0  # calls for each request
	extra: str = ''  # a further parameter

	def whole(self):
		return self.of.whole() + '.' + self.name

	def parameters(self):
		return PARAMETERS[self.sig] + self.extra


@dataclass
class Call:
	target: Method
	way: str = 'direct'
	times: int = 1
	extra: str = ''  # a further argument


@dataclass
class Class:
	package: str
	name: str
	interface: str = ''
	methods: list = field(default_factory=list)
	members: list = field(default_factory=list)  # Java declarations of its own
	fields: list = field(default_factory=list)  # of the ways it calls

	def whole(self):
		return self.package + '.' + self.name

	def dependencies(self):
		seen = []
		for m in self.methods:
			for c in m.calls:
				if c.target.of is not self and c.target.of not in seen:
					seen.append(c.target.of)
		return seen


class Program:
	def __init__(self, rng, names):
		self.rng, self.names = rng, names
		self.key = rng.choice(['tenant', 'kind'])
		self.small = rng.random() < 0.15  # requests of some microseconds, but many of them
		self.depth = 2 if self.small else rng.randint(3, 6)
		self.layers = [self.entry()]
		while len(self.layers) <= self.depth:
			self.layers.append(self.layer(len(self.layers)))
		for above, below in zip(self.layers, self.layers[1:]):
			self.connect(above, below)
		self.helpers = []  # sources: (package, name, text)
		self.jobs = []  # Java statements that start something in the background

	def entry(self):
		c = Class(self.names.package(), self.names.class_name())
		c.methods.append(Method(c, self.rng.choice(['handle', 'serve', 'answer', 'process']), 'R'))
		return [c]

	def layer(self, at):
		made = []
		for _ in range(self.rng.randint(2, 5)):
			package, sigs = self.names.package(), []
			for _ in range(self.rng.randint(1, 4)):
				sigs.append((self.names.method_name(), self.signature(at)))
			if not made and all(s != 'K' for _, s in sigs):
				sigs.append((self.names.method_name(), 'K'))
			many = self.rng.random() < 0.4
			interface = self.names.class_name() if many else ''
			for _ in range(self.rng.randint(2, 3) if many else 1):
				c = Class(package, self.names.class_name(), interface)
				c.methods = [Method(c, n, s) for n, s in sigs]
				made.append(c)
		return made

	def signature(self, at):
		deep = at / self.depth
		return self.rng.choices('RNK', [1 - 0.6 * deep, 0.5, 0.2 + 0.8 * deep])[0]

	def connect(self, above, below):
		for c in above:
			for m in c.methods:
				fit = [t for b in below for t in b.methods if m.sig != 'K' or t.sig == 'K']
				for t in self.rng.sample(fit, min(len(fit), self.rng.choices([1, 2, 3], [4, 3, 1])[0])):
					m.calls.append(Call(t))

	def classes(self):
		return [c for layer in self.layers for c in layer]

	def methods(self):
		return [m for c in self.classes() for m in c.methods]

	def root(self):
		return self.layers[0][0].methods[0]

	def weigh(self):
		"""How often each method is called for one request."""
		for m in self.methods():
			m.weight = 0
		self.root().weight = 1
		for layer in self.layers:
			for c in layer:
				for m in c.methods:
					for call in m.calls:
						call.target.weight += m.weight * call.times

	def callers(self, method):
		return [m for m in self.methods() if any(c.target is method for c in m.calls)]

	def above(self, method):
		"""All methods from which this one is reached, with itself."""
		found, todo = [], [method]
		while todo:
			m = todo.pop()
			if m not in found:
				found.append(m)
				todo += self.callers(m)
		return found
