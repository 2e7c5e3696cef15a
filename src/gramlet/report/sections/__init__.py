"""The parts of a report, one file each: the data for the template."""
