"""The privacy loss of a pair of laws, exactly or within bounds."""

from audit.laws.losses.loss import SLACK, Loss, ScalarLoss
from audit.laws.losses.pair import loss_of
from audit.laws.losses.vector import VectorLoss

__all__ = ["SLACK", "Loss", "ScalarLoss", "VectorLoss", "loss_of"]
