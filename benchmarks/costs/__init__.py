"""What gramlet alone costs: time, memory, cold starts, compared with limits and revisions."""
