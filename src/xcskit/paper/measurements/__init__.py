"""The measurements that decide claims: statistics of the tables, by name.

A measurement takes the tables and whatever a claim gives it, and returns a function from indices of
instances, shape (n_resamples, n_instances), to a value for each resample. So each of them can be
bootstrapped over the instances, both variants' instance i together.
"""

from xcskit.paper.measurements import actions, groups, overall, paths
from xcskit.paper.measurements.base import MEASUREMENTS, Statistic, Tables

__all__ = ["MEASUREMENTS", "Statistic", "Tables", "actions", "groups", "overall", "paths"]
