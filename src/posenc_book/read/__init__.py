"""What reads stored results: a module for each experiment, its plan and its lines.

Each says of itself what trains it, by which rules, where the lines lie, who reads and shows them.
"""
