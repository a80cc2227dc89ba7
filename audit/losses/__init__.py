"""The privacy loss of a pair of laws, exactly or in bounds: what `audit.divergence` is computed from."""

from audit.losses.loss import SLACK, Loss, Part
from audit.losses.pair import loss_of
from audit.losses.vector import VectorLoss

__all__ = ["SLACK", "Loss", "Part", "VectorLoss", "loss_of"]
