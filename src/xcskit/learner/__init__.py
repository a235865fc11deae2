"""XCSF itself: configuration, presets, the learner, its checkpoints."""
