"""What several families share: tiles, exact renaming, random streams, hashes."""
