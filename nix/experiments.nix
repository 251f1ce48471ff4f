# One program for each experiment. Its systems are known from its TOML, so nothing else is fetched or built.
{
  benchbook,
  declared,
  inputs,
  lib,
  pinned,
  pkgs,
  tools,
}: let
  # A pin that is a function has neither; flake.lock of the project's revision has its inputs.
  stated = pin: {
    narHash = inputs.${pin}.narHash or null;
    revision = inputs.${pin}.rev or null;
  };
  # `nix run` finds the project's own experiments by their names.
  attribute = slug:
    if declared.own.experiments ? ${slug}
    then slug
    else "experiments.${slug}";
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
        export BENCHBOOK_COMMAND="nix run .#${attribute slug} --"
        case ''${1:-} in
        "" | -*) exec ${command}/bin/benchbook run ${slug} "$@" ;;
        *) exec ${command}/bin/benchbook "$@" ;;
        esac
      '';
    };
in
  lib.mapAttrs program declared.experiments
