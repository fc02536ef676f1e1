"""Linear algebra under PyTorch's names: ``tensorlab.linalg.solve`` and its kind.

Matrices are the last two dimensions; those before are batches, and broadcast where two tensors meet. float32, float64, complex64 and
complex128 are factorised; integers and types of 16 bits are refused with a ``RuntimeError``. What cannot be done for a matrix raises
``LinAlgError``, naming the matrix of the batch and the pivot; the functions in ``_ex`` return that as ``info`` instead.
"""

from tensorlab.errors import LinAlgError as LinAlgError
from tensorlab.linalg.factors import cholesky as cholesky
from tensorlab.linalg.factors import cholesky_ex as cholesky_ex
from tensorlab.linalg.factors import householder_product as householder_product
from tensorlab.linalg.factors import ldl_factor as ldl_factor
from tensorlab.linalg.factors import ldl_factor_ex as ldl_factor_ex
from tensorlab.linalg.factors import ldl_solve as ldl_solve
from tensorlab.linalg.factors import lu as lu
from tensorlab.linalg.factors import lu_factor as lu_factor
from tensorlab.linalg.factors import lu_factor_ex as lu_factor_ex
from tensorlab.linalg.factors import lu_solve as lu_solve
from tensorlab.linalg.factors import qr as qr
from tensorlab.linalg.norms import cond as cond
from tensorlab.linalg.norms import matrix_norm as matrix_norm
from tensorlab.linalg.norms import norm as norm
from tensorlab.linalg.norms import vector_norm as vector_norm
from tensorlab.linalg.products import cross as cross
from tensorlab.linalg.products import diagonal as diagonal
from tensorlab.linalg.products import matmul as matmul
from tensorlab.linalg.products import matrix_power as matrix_power
from tensorlab.linalg.products import multi_dot as multi_dot
from tensorlab.linalg.products import vander as vander
from tensorlab.linalg.products import vecdot as vecdot
from tensorlab.linalg.solving import det as det
from tensorlab.linalg.solving import inv as inv
from tensorlab.linalg.solving import inv_ex as inv_ex
from tensorlab.linalg.solving import lstsq as lstsq
from tensorlab.linalg.solving import slogdet as slogdet
from tensorlab.linalg.solving import solve as solve
from tensorlab.linalg.solving import solve_ex as solve_ex
from tensorlab.linalg.solving import solve_triangular as solve_triangular
from tensorlab.linalg.solving import tensorinv as tensorinv
from tensorlab.linalg.solving import tensorsolve as tensorsolve
from tensorlab.linalg.spectral import eig as eig
from tensorlab.linalg.spectral import eigh as eigh
from tensorlab.linalg.spectral import eigvals as eigvals
from tensorlab.linalg.spectral import eigvalsh as eigvalsh
from tensorlab.linalg.spectral import matrix_exp as matrix_exp
from tensorlab.linalg.spectral import matrix_rank as matrix_rank
from tensorlab.linalg.spectral import pinv as pinv
from tensorlab.linalg.spectral import svd as svd
from tensorlab.linalg.spectral import svdvals as svdvals
