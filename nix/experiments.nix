# One program for each experiment. Its systems are known from its TOML, so nothing else is fetched or built.
{
  benchbook,
  declared,
  lib,
  nixpkgs,
  nixpkgs-historic,
  pinned,
  pkgs,
  tools,
}: let
  inputs = {
    modern = nixpkgs;
    historic = nixpkgs-historic;
  };
  stated = pin: {
    inherit (inputs.${pin}) narHash;
    revision = inputs.${pin}.rev or null;
  };
  program = slug: experiment: let
    names = declared.systemsOf experiment;
    programs = lib.filterAttrs (name: _: builtins.elem name names) pinned.programs;
    pins = lib.genAttrs (lib.unique (["modern"] ++ pinned.pinsOf names)) stated;
    command = benchbook.commandWith (tools.of experiment);
  in
    pkgs.writeShellApplication {
      name = slug;
      # Without arguments it runs the experiment; otherwise it runs that benchbook command with the same systems.
      text = ''
        export BENCHBOOK_NIX_SYSTEMS="''${BENCHBOOK_NIX_SYSTEMS:-${benchbook.systems slug programs}}"
        export BENCHBOOK_NIX_INPUTS=${pkgs.writeText "${slug}-inputs.json" (builtins.toJSON pins)}
        export BENCHBOOK_COMMAND="nix run .#${slug} --"
        case ''${1:-} in
        "" | -*) exec ${command}/bin/benchbook run ${slug} "$@" ;;
        *) exec ${command}/bin/benchbook "$@" ;;
        esac
      '';
    };
in
  lib.mapAttrs program declared.experiments
