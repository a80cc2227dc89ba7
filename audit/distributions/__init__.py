"""Output laws that a subject may declare.

Examples
--------
>>> Finite(["no", "yes"], [0.25, 0.75]).pmf("yes")
0.75
"""

from audit.distributions.countable import Countable
from audit.distributions.density import Density
from audit.distributions.finite import Finite
from audit.distributions.law import Law, Partition
from audit.distributions.mixture import Mixture
from audit.distributions.product import Product

__all__ = ["Countable", "Density", "Finite", "Law", "Mixture", "Partition", "Product"]
