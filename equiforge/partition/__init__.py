"""Programs larger than one e-graph: convex connected subgraphs, each distinct one searched once, composed lazily."""
