# What the app `experiment` prints before it builds an experiment: for each system its source, and if this machine cannot
# run it, how to get it. As shell commands; the harness itself decides at the run, in the same order.
{
  declared,
  lib,
  pinned,
  pkgs,
}: let
  line = name: let
    inherit (declared.systems.${name}) source;
    image = ''image ${name} "${source.docker.image}" "${source.host.program or ""}"'';
    from = text: ''listed ${name} "${text}"'';
  in
    if pinned.programs ? ${name}
    then from "from Nix"
    else if source ? own
    then from "part of Benchbook"
    else if source ? docker
    then image
    else if !(source ? python)
    then from "a program of this machine: --system ${name}=PATH"
    else if source.python ? program
    then from "missing: only ./bench, without Nix, can install its Python package ${source.python.package}"
    else from "from the Python of the app";
in {
  functions = ''
    listed() {
      case $given in
      *" --system $1="* | *" --system=$1="*) printf '  %s: given with --system\n' "$1" ;;
      *) printf '  %s: %s\n' "$1" "$2" ;;
      esac >&2
    }
    # An image needs an engine, or user namespaces.
    runs_images() {
      local socket sockets=(/var/run/docker.sock "/run/user/$UID/podman/podman.sock" /run/podman/podman.sock)
      [ -z "''${DOCKER_HOST:-}" ] || sockets=("''${DOCKER_HOST#unix://}")
      for socket in "''${sockets[@]}"; do
        [ ! -S "$socket" ] || return 0
      done
      ${pkgs.bubblewrap}/bin/bwrap --unshare-user --ro-bind / / -- /proc/self/exe --version >/dev/null 2>&1
    }
    image() {
      local name=$1 image=$2 program=$3
      if runs_images; then
        listed "$name" "from its image $image"
      elif [ -n "$program" ] && command -v "$program" >/dev/null; then
        listed "$name" "$program of this machine, if it has the declared version"
      else
        listed "$name" "missing: its image $image needs Docker, Podman or user namespaces, and this machine has none. Install one, or give its program with --system $name=PATH; without it, its trials are skipped"
      fi
    }
  '';

  # The lines of one experiment.
  of = experiment: lib.concatStringsSep "\n" (map line (declared.systemsOf experiment));
}
