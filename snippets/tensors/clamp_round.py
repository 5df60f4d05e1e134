"""Limit values to a range, round them, and cut off the fraction."""

import torch

x = torch.tensor([-1.26, -0.5, 0.5, 1.5, 2.49, 9.0])

limited = x.clamp(0, 2)  # between 0 and 2; clamp(min=0) has no upper end
whole = x.round()  # halves to the even neighbour: 0.5 -> 0, 1.5 -> 2
places = x.round(decimals=1)  # to 1 decimal
cut = x.trunc()  # towards 0; .floor() down, .ceil() up
numbers = x.round().long()  # .long() alone cuts off

for result in (limited, whole, places, cut, numbers):
    print(result)
