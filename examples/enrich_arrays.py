"""Sinew over numpy arrays, without Blender: a rod on a shaking table, its foot held, its top left to physics.

    PYTHONPATH=addon python examples/enrich_arrays.py
"""

import numpy as np
import sinew

# Any triangle mesh will do; here a ring of 12 points, stacked 30 high, open at both ends.
around, height = np.arange(12) * np.pi / 6, np.linspace(0.0, 1.0, 30)
rest = np.array([[0.1 * np.cos(a), 0.1 * np.sin(a), z] for z in height for a in around])
corners = [(12 * i + j, 12 * i + (j + 1) % 12) for i in range(29) for j in range(12)]
triangles = np.array([face for a, b in corners for face in ((a, b, b + 12), (a, b + 12, a + 12))])

# The input animation: the whole rod slides to and fro. Follow weights: 1 at the foot, 0 above.
frames = [rest + [0.2 * np.sin(2 * np.pi * k / 24), 0.0, 0.0] for k in range(72)]
follow = (rest[:, 2] < 0.1).astype(float)

results = sinew.enrich(rest, triangles, frames, follow, frame_rate=24, resolution=12, jiggle=2.0)
for number, result in enumerate(results):
    offset = np.linalg.norm(result - frames[number], axis=1)
    print(f"frame {number:2d}: foot {offset[follow == 1].max():.1e} m off its input, top {offset.max():.3f} m")
