# Compares a package with the version in a system's TOML: null, or a sentence that describes the difference.
# A package without a version, such as those that the stand-in cannot provide, has nothing to compare.
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
