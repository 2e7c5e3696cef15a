"""A Sphinx extension that translates formulas to MathML when the pages are built.

Browsers render MathML natively, so a page needs neither a script nor the network. latex2mathml
translates the formulas; Sphinx provides the numbers and anchors of numbered equations.
"""

from __future__ import annotations

import html
import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util.math import get_node_equation_number

# The prime character is already raised: as a superscript it would be raised twice.
_PRIME = re.compile(r"<msup>(<mi>[^<]*</mi>)<mi>&#x02032;</mi></msup>")
_PRIME_AND_INDEX = re.compile(
    r"<msubsup>(<mi>[^<]*</mi>)(<m[in]>[^<]*</m[in]>)<mi>&#x02032;</mi></msubsup>"
)
# Bars of absolute values and norms: as high as the letters, without space to what they enclose.
_BAR = re.compile(r"<mo(?: fence=\"false\")?(?: stretchy=\"false\")?>(&#x02016;|&#x0007C;|\|)</mo>")


def _markup(formula: str, display: str) -> str:
    """MathML of a formula, with its LaTeX source for copying and for screen readers."""
    markup = convert(formula, display=display)
    prime = '<mo lspace="0" rspace="0">&#x02032;</mo>'
    markup = _PRIME.sub(rf"<mrow>\1{prime}</mrow>", markup)
    markup = _PRIME_AND_INDEX.sub(rf"<msub><mrow>\1{prime}</mrow>\2</msub>", markup)
    markup = _BAR.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', markup)
    label = html.escape(" ".join(formula.split()), quote=True)
    return markup.replace("<math ", f'<math alttext="{label}" ', 1)


def _visit_inline(self: Any, node: nodes.math) -> None:
    self.body.append(_markup(node.astext(), "inline"))
    raise nodes.SkipNode


def _visit_block(self: Any, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node.get("number"):
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(_markup(node.astext(), "block"))
    self.body.append("</div>")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer under the name that Sphinx expects."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
