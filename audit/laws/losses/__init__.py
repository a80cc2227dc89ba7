"""The privacy loss of a pair of laws, as exact values or bounds: the base of `audit.laws.divergence`."""

from audit.laws.losses.loss import SLACK, Loss, ScalarLoss
from audit.laws.losses.pair import loss_of
from audit.laws.losses.vector import VectorLoss

__all__ = ["SLACK", "Loss", "ScalarLoss", "VectorLoss", "loss_of"]
