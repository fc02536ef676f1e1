"""Answers to "why?": no gradient, a value that is not finite, a value overwritten, shapes that do not meet."""

from tensorlab.observe.why.errors import why_error as why_error
from tensorlab.observe.why.errors import why_inplace as why_inplace
from tensorlab.observe.why.errors import why_shape as why_shape
from tensorlab.observe.why.nan import why_nan as why_nan
from tensorlab.observe.why.none import why_none as why_none
from tensorlab.observe.why.story import Link as Link
from tensorlab.observe.why.story import Story as Story
