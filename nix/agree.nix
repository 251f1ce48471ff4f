# Whether a package has the version that a system's TOML states: null, or the sentence that says what disagrees.
# A package without a version is one that the stand-in cannot make; there is nothing to compare then.
{lib}: name: declared: where: found: let
  series = (declared.match or "exact") == "series";
  accepted = found == null || found == declared.version || (series && lib.hasPrefix "${declared.version}." found);
  wanted =
    if series
    then "${declared.version}.x"
    else declared.version;
in
  if accepted
  then null
  else
    "systems/${name}.toml says version ${wanted}, but ${where} is ${found}: "
    + "correct the version there, or pin a nixpkgs that has it (docs/pinning.md)."
