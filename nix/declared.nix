# The declarations that the flake follows: systems and experiments, read from the same TOML as the harness reads.
{lib}: let
  read = file: builtins.fromTOML (builtins.readFile file);
  ending = suffix: name: builtins.match ".*${suffix}" name != null;
  files = builtins.filter (ending "[.]toml") (builtins.attrNames (builtins.readDir ../systems));
  folders =
    builtins.filter (name: builtins.pathExists (../experiments + "/${name}/experiment.toml"))
    (builtins.attrNames (builtins.readDir ../experiments));
in rec {
  systems = builtins.listToAttrs (map (file: {
      name = lib.removeSuffix ".toml" file;
      value = read (../systems + "/${file}");
    })
    files);

  experiments = lib.genAttrs folders (slug: read (../experiments + "/${slug}/experiment.toml"));

  # The names of the systems that an experiment can need, at any of its profiles.
  systemsOf = experiment:
    lib.unique (builtins.concatMap (from: from.factors.system or [])
      ([experiment] ++ builtins.attrValues experiment.profiles));
}
