"""Mixed precision: ``autocast`` computes where it is safe in a narrow type, ``GradScaler`` keeps small gradients from vanishing."""

from tensorlab.amp.autocast_mode import autocast as autocast
from tensorlab.amp.autocast_mode import is_autocast_available as is_autocast_available
from tensorlab.amp.custom import custom_bwd as custom_bwd
from tensorlab.amp.custom import custom_fwd as custom_fwd
from tensorlab.amp.grad_scaler import GradScaler as GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
