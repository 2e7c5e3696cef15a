"""The parts of a report, one file each: what the template shows of the material."""
