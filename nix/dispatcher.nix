# `nix run .#experiment -- X …`: app X of this source, with the inputs of this evaluation.
{
  experiments,
  lib,
  nixpkgs,
  nixpkgs-historic,
  pkgs,
  self,
}: let
  locked = (builtins.fromJSON (builtins.readFile ../flake.lock)).nodes;
  inputs = {inherit nixpkgs nixpkgs-historic;};
  # An input that differs from the lock was overridden on the command line; pass the override to app X.
  override = name: input:
    lib.optionalString (input.narHash != locked.${name}.locked.narHash)
    "--override-input ${name} path:${input}";
  overrides = lib.concatStringsSep " " (builtins.filter (words: words != "") (lib.mapAttrsToList override inputs));
  flake =
    "path:${self}"
    + lib.optionalString (self ? rev) "?rev=${self.rev}&lastModified=${toString self.lastModified}";
  names = builtins.attrNames experiments;
in
  pkgs.writeShellApplication {
    name = "experiment";
    text = ''
      case ''${1:-} in
      ${lib.concatStringsSep " | " names}) ;;
      "" | -*)
        echo "usage: nix run .#experiment -- EXPERIMENT [--profile smoke] …; experiments: ${lib.concatStringsSep ", " names}" >&2
        exit 2
        ;;
      *)
        echo "bench: there is no experiment \"$1\"; allowed: ${lib.concatStringsSep ", " names}." >&2
        exit 2
        ;;
      esac
      slug=$1
      shift
      exec nix --extra-experimental-features "nix-command flakes" run ${overrides} "${flake}#$slug" -- "$@"
    '';
  }
