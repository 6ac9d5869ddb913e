# SPDX-License-Identifier: Apache-2.0
"""Plants a cause: a method that does something often for some calls, and hardly anything for others.

The twin without the plant is the same program but for the amounts.
"""
import math

from calls import ALWAYS
from causes import computing, sharing, waiting
from model import Call, Class, Method


GROUPS = (computing, waiting, sharing)


def log_uniform(rng, low, high):
	return math.exp(rng.uniform(math.log(low), math.log(high)))


class Plant:
	def __init__(self, program, wanted=None):
		rng = program.rng
		group = rng.choices(GROUPS, [5, 2, 2])[0]
		self.cause = rng.choice(group.ALL)(rng)
		if wanted:
			self.cause = next(c for g in GROUPS for make in g.ALL
					  for c in [make(rng)] if c.name == wanted)
		self.program = program
		self.shape = rng.choices(['plain', 'recursion', 'ways'], [6, 1, 1])[0]
		self.victim = self.choose_victim()
		self.method = self.make_method()
		self.condition = self.choose_condition()
		self.attach()

	def reached(self):
		self.program.weigh()
		return [m for m in self.program.methods() if 0 < m.weight <= 8 and m is not self.program.root()]

	def choose_victim(self):
		found = self.reached()
		layers = {id(c): i for i, layer in enumerate(self.program.layers) for c in layer}
		return self.program.rng.choices(found, [layers[id(m.of)] ** 1.5 for m in found])[0]

	def make_method(self):
		names = self.program.names
		of = Class(names.package(), names.class_name())
		sig = 'K' if self.victim.sig == 'K' else self.program.rng.choice(['N', 'K'])
		m = Method(of, names.method_name(), sig)
		of.methods.append(m)
		of.members.append(self.cause.members)
		self.program.layers.append([of])
		self.program.helpers += self.cause.helpers
		self.program.jobs += self.cause.jobs
		return m

	def others(self):
		"""Methods beside the victim that may call the same."""
		return [m for m in self.reached() if m is not self.victim and (m.sig != 'K' or self.method.sig == 'K') and
			m.of is not self.victim.of and m.of is not self.method.of and m.name != self.victim.name]

	def choose_condition(self):
		"""None, 'caller', or a dict: which field of a request has which value, or is above what."""
		rng = self.program.rng
		if self.cause.shared or self.shape == 'ways':
			self.share = 1
			return None
		kind = rng.choices(['none', 'caller', 'value'], [2, 2, 4])[0]
		if kind == 'caller' and not self.others():
			kind = 'value'
		if kind != 'value':
			self.share = 1
			return 'caller' if kind == 'caller' else None
		self.share = log_uniform(rng, 0.01, 0.5)
		fields = [self.program.key, 'size'] + (['plan'] if self.method.sig != 'K' else [])
		field = rng.choice(fields)
		if field == 'size':
			return {'field': 'size', 'above': 200, 'from': 400}
		return {'field': field, 'value': {'kind': 'bulk', 'tenant': 't-7', 'plan': 'gold'}[field]}

	def test(self):
		c = self.condition
		key = 'key' if self.method.sig == 'K' else f'r.{self.program.key}()'
		if c['field'] == 'size':
			return f'n > {c["above"] + 100}'
		if c['field'] == 'plan':
			return 'r.customer().plan().equals("gold")'
		return f'{key}.equals("{c["value"]}")'

	def attach(self):
		target = self.through_recursion(self.method) if self.shape == 'recursion' else self.method
		rows = ', BIG' if self.condition == 'caller' else ''
		self.victim.calls.append(Call(target, extra=rows))
		self.fast_caller = None
		if self.condition == 'caller':
			self.method.extra = target.extra = ', int rows'
			self.fast_caller = self.program.rng.choice(self.others())
			self.fast_caller.calls.append(Call(target, extra=', 1'))
		if self.shape == 'ways':
			for m in self.program.rng.sample(self.others(), min(2, len(self.others()))):
				m.calls.append(Call(self.method))
		self.protected = self.program.above(self.victim) + [self.method, target]

	def through_recursion(self, method):
		"""A method that calls itself many times before it calls the one to blame."""
		names = self.program.names
		of = Class(names.package(), names.class_name())
		m = Method(of, names.method_name(), method.sig)
		given = 'key, n' if m.sig == 'K' else 'r, n'
		rows = ', rows' if self.condition == 'caller' else ''
		m.calls.append(Call(method, 'descend', extra=rows))
		m.descends = (names.method_name(), given + rows, self.program.rng.randint(20, 120))
		of.methods.append(m)
		self.program.layers.insert(-1, [of])
		return m

	def fit(self, load, twin):
		"""How often and how long: enough to be what the time goes into, not more than the machine has."""
		self.program.weigh()
		rng, share = self.program.rng, self.share
		calls = max(self.method.weight if self.shape == 'ways' else self.victim.weight, 0.1)
		base = load.base_ns
		# Of one thread.
		whole = rng.uniform(0.1, 0.3) * 1e9 if self.cause.computes else rng.uniform(0.2, 2) * 1e9
		least = 2e4 if self.program.small else 3e5
		each = log_uniform(rng, least, 1e8 if self.cause.computes else 5e8)  # of a slow request
		each = max(each, 8 * base / share, 2e6 * calls if self.cause.unit_ns >= 1e6 else 0)
		rate = whole / (share * each)
		most = load.most()
		if self.cause.shared:
			each, rate = rng.uniform(50, 400) * 1e6, log_uniform(rng, 20, min(most, 300))
		if rate > most:
			rate, each = most, whole / (share * most)
		rate = min(max(rate, 2, 1.5 / share), most)
		units = each / calls / self.cause.unit_ns + 1 if not self.cause.shared else each / 1e6
		self.amount = 1 if twin else max(int(units), 2)
		self.each_ns = each
		load.fit(rate, each * share * (0.2 if self.cause.shared else 1))

	def code(self):
		"""Members and statements of the method, with its amounts."""
		c, m = self.condition, self.method
		if self.cause.shared:
			amount = []
		elif c == 'caller':
			amount = ['\t\tint amount = rows;']
		elif c:
			amount = [f'\t\tint amount = {self.test()} ? {self.amount} : 1;']
		else:
			amount = [f'\t\tint amount = {self.amount};']
		return amount + self.cause.body.rstrip('\n').split('\n')

	def helper(self, text):
		return text.replace('AMOUNT', str(self.amount)).replace('PAUSE', str(4 * int(self.each_ns / 1e6)))

	def truth(self):
		near = [m.whole() for m in self.program.callers(self.method)] + self.cause.also
		return {'cause': self.method.whole(), 'also': self.cause.also, 'near': near, 'what': self.cause.name,
			'kinds': self.cause.kinds, 'shape': self.shape, 'amount': self.amount,
			'each_ms': self.each_ns / 1e6, 'share': self.share, 'holder': self.cause.holder,
			'caller': self.victim.whole() if self.condition == 'caller' else None,
			'fast_caller': self.fast_caller.whole() if self.fast_caller else None,
			'condition': self.condition if isinstance(self.condition, dict) else None,
			'path': [m.whole() for m in self.protected], 'calls': self.method.weight}
