"""Rule sets as tables: inspect, save, load; knows no environment."""
