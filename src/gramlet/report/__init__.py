"""Reports: one HTML page per evaluation (``pip install gramlet[report]``)."""

from gramlet.report.page import report_html, write_report

__all__ = ["report_html", "write_report"]
