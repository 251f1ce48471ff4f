"""Finish the pages that Quarto rendered; Quarto runs this."""

from benchbook.site.project import finish

finish()
