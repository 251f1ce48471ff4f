# `nix run .#experiment -- X …`: app X of this source, with the nixpkgs of this evaluation.
{
  declared,
  experiments,
  lib,
  nixpkgs,
  pinned,
  pkgs,
  self,
}: let
  locked = (builtins.fromJSON (builtins.readFile ../flake.lock)).nodes;
  # A nixpkgs that differs from the lock was overridden on the command line; pass the override to app X. Looking at
  # nixpkgs-historic would fetch it, so its override is passed by the user, in BENCHBOOK_NIX_FLAGS.
  override =
    lib.optionalString (nixpkgs.narHash != locked.nixpkgs.locked.narHash)
    "--override-input nixpkgs path:${nixpkgs}";
  flake =
    "path:${self}"
    + lib.optionalString (self ? rev) "?rev=${self.rev}&lastModified=${toString self.lastModified}";
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
      exec nix --extra-experimental-features "nix-command flakes" run ${override} "''${flags[@]}" "${flake}#$slug" -- "$@"
    '';
  }
