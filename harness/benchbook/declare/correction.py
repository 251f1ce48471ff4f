"""Corrections of declarations after runs were made with them: of claims, and of what systems promise."""

from __future__ import annotations

from datetime import date

from benchbook.declare.toml import Model, Text


class Correction(Model):
    """A correction of a declaration. Runs made before are judged and shown by the corrected one, and say so."""

    date: date
    """The day of the correction, such as "2026-11-27"; as text, because Nix reads no dates of TOML."""
    reason: Text
    """What was wrong, and what holds now."""
