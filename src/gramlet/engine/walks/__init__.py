"""Random walks on direct product graphs."""
