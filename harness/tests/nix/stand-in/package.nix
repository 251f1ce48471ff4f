# A package that consists of programs of this machine, without those that it does not have. It always builds, so that
# an app starts, and Benchbook itself reports which program is missing.
{
  builders,
  host,
}: name: programs: let
  present = builtins.filter (one: host.programs ? ${one}) programs;
  link = one: ''
    ln -s '${host.programs.${one}}' "$out/bin/${one}"
  '';
  absence = ''
    echo "The stand-in for nixpkgs has no $name: install it, give a system with --system NAME=PATH, or use nixpkgs." >&2
  '';
in
  builders.build name {
    script = ''
      mkdir -p "$out/bin"
      ${
        if present == []
        then absence
        else builtins.concatStringsSep "" (map link present)
      }
    '';
  }
  # Programs of any version: there is no version to compare with a declaration.
  // {version = null;}
