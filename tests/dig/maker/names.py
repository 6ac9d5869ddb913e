# SPDX-License-Identifier: Apache-2.0
"""Names of packages, classes and methods that a business application could have, each used once."""

PACKAGES = ['orders', 'stock', 'billing', 'search', 'users', 'mail', 'rates', 'audit', 'routes', 'media', 'risk', 'tax']
NOUNS = ['Order', 'Stock', 'Price', 'Cart', 'Invoice', 'Customer', 'Offer', 'Route', 'Ticket', 'Payment', 'Label',
	 'Rebate', 'Contract', 'Parcel', 'Quote', 'Claim', 'Policy', 'Booking', 'Tariff', 'Voucher', 'Review', 'Shelf']
ROLES = ['Service', 'Store', 'Engine', 'Gateway', 'Book', 'Rules', 'Finder', 'Planner', 'Desk', 'Feed', 'Mapper', 'Board']
VERBS = ['load', 'check', 'rank', 'merge', 'resolve', 'render', 'apply', 'sum', 'match', 'place', 'fetch', 'score',
	 'plan', 'sort', 'fold', 'trace', 'quote', 'assign', 'collect', 'count']
OBJECTS = ['Lines', 'Totals', 'Rates', 'Items', 'Terms', 'Slots', 'Parts', 'Names', 'Limits', 'Codes', 'Days', 'Rows']


class Names:
	def __init__(self, rng):
		self.rng = rng
		self.classes = [n + r for n in NOUNS for r in ROLES]
		self.methods = [v + o for v in VERBS for o in OBJECTS]
		rng.shuffle(self.classes)
		rng.shuffle(self.methods)
		self.packages = ['com.' + rng.choice(['acme', 'nord', 'lumen', 'orbis']) + '.' + p
				 for p in rng.sample(PACKAGES, rng.randint(3, 6))]

	def class_name(self):
		return self.classes.pop()

	def method_name(self):
		return self.methods.pop()

	def package(self):
		return self.rng.choice(self.packages)
