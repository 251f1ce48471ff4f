# The declarations of systems and experiments, from the same TOML files that the harness reads.
{lib}: let
  read = file: builtins.fromTOML (builtins.readFile file);
  ending = suffix: name: builtins.match ".*${suffix}" name != null;
  named = folder:
    builtins.listToAttrs (map (file: {
        name = lib.removeSuffix ".toml" file;
        value = read (folder + "/${file}");
      })
      (builtins.filter (ending "[.]toml") (builtins.attrNames (builtins.readDir folder))));
  folders =
    builtins.filter (name: builtins.pathExists (../experiments + "/${name}/experiment.toml"))
    (builtins.attrNames (builtins.readDir ../experiments));
in rec {
  systems = named ../systems;

  storages = named ../storage;

  # hasClient: the experiment has a client in Go, which the harness builds at its first run.
  experiments = lib.genAttrs folders (slug:
    read (../experiments + "/${slug}/experiment.toml")
    // {hasClient = builtins.pathExists (../experiments + "/${slug}/client/go.mod");});

  # The levels of a factor in any profile.
  levels = experiment: factor:
    lib.unique (builtins.concatMap (from: from.factors.${factor} or []) ([experiment] ++ builtins.attrValues experiment.profiles));

  storagesOf = experiment: levels experiment "storage";

  # The names of the systems that an experiment can need: those under test, those behind its storages, and tools
  # that are systems themselves.
  systemsOf = experiment: let
    behind = builtins.concatMap (name: storages.${name}.programs or []) (storagesOf experiment);
    tools = builtins.filter (name: systems ? ${name}) (map (phase: phase.workload) experiment.phases);
  in
    lib.unique (levels experiment "system" ++ behind ++ tools);
}
