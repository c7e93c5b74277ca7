"""The same over numpy, in single precision as on a device."""

import numpy

exp = numpy.exp
log = numpy.log
where = numpy.where


def row_max(x):
    return numpy.max(x, axis=-1, keepdims=True)


def row_sum(x):
    return numpy.sum(x, axis=-1, keepdims=True)
