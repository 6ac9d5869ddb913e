# SPDX-License-Identifier: Apache-2.0
"""What can make a method slow.  Each cause is Java that does something `amount` times."""
from dataclasses import dataclass, field


@dataclass
class Cause:
	name: str
	kinds: list  # as dig may call it
	unit_ns: float  # of one of `amount`, roughly
	members: str  # of the class
	body: str  # statements; they have `amount`, and add to `sum`
	computes: bool = True
	helpers: list = field(default_factory=list)
	jobs: list = field(default_factory=list)
	shared: bool = False  # it is slow for whoever comes, by what a background job does
	holder: str = ''  # method of the program that has what others wait for
	also: list = field(default_factory=list)  # further methods that are as right
