"""What commands are given: options, groups of them, ``--param``, and INPUT."""
