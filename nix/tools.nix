# The programs that Benchbook starts, besides the systems: for each experiment only those that its declarations need.
{
  declared,
  lib,
  pkgs,
}: let
  java = pkgs.jdk17_headless;
  image = [pkgs.bubblewrap pkgs.crane];

  # Quarto runs cells with the Python of the harness, so it brings neither R nor a second Python with Jupyter.
  quarto = pkgs.quarto.override {
    python3 = null;
    rWrapper = null;
  };

  # util-linux starts servers as another user than root.
  always = [pkgs.bash pkgs.coreutils pkgs.git pkgs.util-linux quarto];

  # A package of Python that is a server runs on Java. Java's servers start from shell scripts, which use grep.
  bySource = {
    inherit image;
    docker = image;
    maven = [java pkgs.gnugrep];
    python = [java pkgs.gnugrep];
  };
  # psql, for a server that is already running.
  byDriver.postgresql = [pkgs.postgresql_15];
  byStorage = {
    loop_disks = [pkgs.e2fsprogs];
    loop = [pkgs.e2fsprogs pkgs.xfsprogs];
  };
  byWorkload = {
    blob = [pkgs.fio];
    command = [pkgs.hyperfine];
  };

  ofSystem = system: let
    sources = builtins.attrNames system.source;
    starts = kind: kind != "python" || system.source.python ? program;
  in
    builtins.concatMap (kind: bySource.${kind} or []) (builtins.filter starts sources)
    ++ byDriver.${system.driver} or [];

  of = experiment: let
    drivers = map (name: declared.storages.${name}.driver) (declared.storagesOf experiment);
  in {
    first = lib.unique (always
      ++ builtins.concatMap (name: ofSystem declared.systems.${name}) (declared.systemsOf experiment)
      ++ builtins.concatMap (driver: byStorage.${driver} or []) drivers
      ++ builtins.concatMap (phase: byWorkload.${phase.workload} or []) (experiment.phases or [])
      ++ (
        if experiment.hasClient
        then [pkgs.go]
        else []
      ));
    # The store has no setuid programs, so the machine's own fusermount, which ordinary users need, has to come first.
    last =
      if builtins.elem "minio_s3fs" drivers
      then [pkgs.fuse]
      else [];
  };
in {
  inherit of;

  none = {
    first = [];
    last = [];
  };

  # For pages: the harness renders with Quarto if it is on PATH.
  rendering = {
    first = [quarto];
    last = [];
  };

  # For the command line alone, which runs any experiment, and an old one again with Nix. It reads no experiment, so it
  # can report an invalid one.
  all = {
    first = lib.unique (always
      ++ builtins.concatMap (by: builtins.concatLists (builtins.attrValues by)) [bySource byDriver byStorage byWorkload]
      ++ [pkgs.go (pkgs.maven.override {jdk_headless = java;})]);
    last = [pkgs.fuse pkgs.nix];
  };
}
