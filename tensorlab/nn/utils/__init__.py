"""Around parameters: clip their gradients, or see all of them as one vector."""

from tensorlab.nn.utils.clip_grad import clip_grad_norm_ as clip_grad_norm_
from tensorlab.nn.utils.clip_grad import clip_grad_value_ as clip_grad_value_
from tensorlab.nn.utils.convert_parameters import parameters_to_vector as parameters_to_vector
from tensorlab.nn.utils.convert_parameters import vector_to_parameters as vector_to_parameters
