"""How far from optimal: value error, policy accuracy, regret, rollouts."""
