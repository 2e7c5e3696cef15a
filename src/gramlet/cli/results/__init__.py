"""What commands print and write: tables, files, feature stores, and the evaluation's table."""
