# The declarations of systems, storages and experiments, from the same TOML files that the harness reads: those of the
# project, and under other names those that come with Benchbook.
{
  lib,
  project,
  source,
}: let
  read = file: builtins.addErrorContext "while reading ${file}" (builtins.fromTOML (builtins.readFile file));
  ending = suffix: name: builtins.match ".*${suffix}" name != null;
  inFolder = folder:
    if builtins.pathExists folder
    then builtins.attrNames (builtins.readDir folder)
    else [];
  named = folder:
    builtins.listToAttrs (map (file: {
        name = lib.removeSuffix ".toml" file;
        value = read "${folder}/${file}";
      })
      (builtins.filter (ending "[.]toml") (inFolder folder)));
  # hasClient: the experiment has a client in Go, which the harness builds at its first run.
  experimentsIn = folder:
    lib.genAttrs
    (builtins.filter (slug: builtins.pathExists "${folder}/${slug}/experiment.toml") (inFolder folder))
    (slug:
      read "${folder}/${slug}/experiment.toml"
      // {hasClient = builtins.pathExists "${folder}/${slug}/client/go.mod";});
  layer = flake: {
    systems = named "${flake}/systems";
    storages = named "${flake}/storage";
    experiments = experimentsIn "${flake}/experiments";
  };
  builtIn = layer source;
in rec {
  own = layer project;
  systems = builtIn.systems // own.systems;
  storages = builtIn.storages // own.storages;
  experiments = builtIn.experiments // own.experiments;

  # Systems that run in Benchbook's own Python. SQLite comes with Python itself; a server that comes as a Python package
  # (it names its program) is installed on request, and a binding with its own wheels has its own environment.
  embedded =
    lib.filterAttrs (_: one: one.source ? python && one.source.python.package != "sqlite3" && !(one.source.python ? program) && !(one.source.python ? wheels))
    systems;

  # The levels of a factor in any profile.
  levels = experiment: factor:
    lib.unique (builtins.concatMap (from: from.factors.${factor} or []) ([experiment] ++ builtins.attrValues (experiment.profiles or {})));

  # The harness reports a name that nothing has.
  storagesOf = experiment: builtins.filter (name: storages ? ${name}) (levels experiment "storage");

  # The names of the systems that an experiment can need: those under test, those behind its storages, and tools
  # that are systems themselves.
  systemsOf = experiment: let
    behind = builtins.concatMap (name: storages.${name}.programs or []) (storagesOf experiment);
    tools = map (phase: phase.workload) (experiment.phases or []);
  in
    builtins.filter (name: systems ? ${name}) (lib.unique (levels experiment "system" ++ behind ++ tools));
}
