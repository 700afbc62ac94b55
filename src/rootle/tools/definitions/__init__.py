"""The tools that an app offers to agents: their descriptions, parameters and answers."""
