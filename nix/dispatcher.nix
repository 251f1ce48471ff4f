# `nix run .#experiment -- X …`: experiment X of this project, with the nixpkgs of this evaluation.
{
  declared,
  experiments,
  inputs,
  lib,
  pinned,
  pkgs,
  project,
  source,
}: let
  locked = (builtins.fromJSON (builtins.readFile ../flake.lock)).nodes;
  # A nixpkgs that differs from the lock was overridden on the command line; pass the override on. Looking at
  # nixpkgs-historic would fetch it, so its override is passed by the user, in BENCHBOOK_NIX_FLAGS. So are the overrides
  # of another project, whose flake names its inputs as it likes.
  override =
    lib.optionalString (project.outPath == source.outPath && inputs.modern.narHash != locked.nixpkgs.locked.narHash)
    "--override-input nixpkgs path:${inputs.modern}";
  flake =
    "path:${project}"
    + lib.optionalString (project ? rev) "?rev=${project.rev}&lastModified=${toString project.lastModified}";
  names = builtins.attrNames experiments;
  origins = import ./origins.nix {inherit declared lib pinned pkgs;};
  origin = slug: experiment: ''
    ${slug})
    ${origins.of experiment}
    ;;
  '';
in
  pkgs.writeShellApplication {
    name = "experiment";
    # The user's Nix comes first, because it fits the user's store.
    text = ''
      PATH="$PATH:${pkgs.nix}/bin"
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
      given=" $* "
      ${origins.functions}
      echo "$slug: where its systems come from" >&2
      case $slug in
      ${lib.concatStringsSep "" (lib.mapAttrsToList origin declared.experiments)}
      esac
      read -ra flags <<<"''${BENCHBOOK_NIX_FLAGS:-}"
      exec nix --extra-experimental-features "nix-command flakes" run --no-write-lock-file ${override} "''${flags[@]}" "${flake}#experiments.$slug" -- "$@"
    '';
  }
