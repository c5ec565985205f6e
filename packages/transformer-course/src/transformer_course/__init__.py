"""Transformers from scratch, for somebody who takes the course alone.

`python -m transformer_course`, or the command `transformer-course`, is `gradekit learn` with the course that is in this
package. The notebooks, solutions and checks travel packed, so that nobody reads a solution by accident; they are no secret.
"""

__version__ = "0.4.0"
