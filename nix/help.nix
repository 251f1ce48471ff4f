# `nix run .`: lists the apps of the flake.
{
  experiments,
  lib,
  pkgs,
}:
pkgs.writeShellApplication {
  name = "benchbook-help";
  runtimeInputs = [pkgs.coreutils];
  text = ''
    cat <<'TEXT'
    Benchbook: rerun published comparisons of databases and storage.

      nix run .#experiment -- quickstart --profile smoke   run an experiment, in seconds
      nix run .#quickstart -- resume                        any command, with that experiment's systems
      nix run .#benchbook -- list                           the command line alone
      nix run .#test                                        every test
      nix build -L .#vm.quickstart                          a test in a virtual machine; there is also .#vm.server
      nix develop                                           a shell with all tools

    Experiments: ${lib.concatStringsSep ", " (builtins.attrNames experiments)}
    Results go to ./results of the folder you are in.
    TEXT
  '';
}
