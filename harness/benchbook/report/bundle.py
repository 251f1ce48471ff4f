"""The code that draws charts in a page: Vega, Vega-Lite and Vega-Embed, as vl-convert carries them."""

from __future__ import annotations

import functools


@functools.cache
def bundle() -> str:
    """Return the code, safe inside a ``script`` element. Making it takes about a second; no network is used."""
    import vl_convert

    code = str(vl_convert.javascript_bundle())  # type: ignore[call-arg]  # the stub asks for a snippet
    return code.replace("</script", "<\\/script").replace("<!--", "<\\!--")
