"""H and VE of softmax(logits / T_stat), a row each, over any arrays.

`xp` is what the arithmetic needs beside + - * / and >=: exp, log, where, row_max and row_sum, the last two with a last
axis of 1 kept. torch_arrays.py has it for torch; the tests have it for plain lists and for numpy.
"""


def entropy_and_varentropy(xp, logits, stat_temperature):
    """logits [rows, vocabulary], stat_temperature [rows, 1] -> H [rows, 1] in nats, VE [rows, 1] in nats^2.

    A logit of -infinity has no probability and adds nothing. The variance is taken around the mean, in a second pass:
    the difference of two large sums would lose it where one token has nearly all of the probability.
    """
    scaled = logits / stat_temperature
    shifted = scaled - xp.row_max(scaled)
    weight = xp.exp(shifted)
    # 0 * -infinity is no number: such tokens are taken out.
    shifted = xp.where(weight > 0, shifted, 0.0)
    total = xp.row_sum(weight)
    mean = xp.row_sum(weight * shifted) / total
    off = shifted - mean
    return xp.log(total) - mean, xp.row_sum(weight * off * off) / total
