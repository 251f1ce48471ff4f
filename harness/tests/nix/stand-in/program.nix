# A program of the host as a package, or one that says that the host has none.
{
  builders,
  host,
}: let
  absent = name: ''
    #!/bin/sh
    echo "${name}: the stand-in for nixpkgs offers this machine's ${name}, and there is none on PATH." >&2
    exit 127
  '';
  package = name: {
    absence ? absent name,
    path ? null,
  }:
    builders.build name {
      text = absence;
      target =
        if path == null
        then ""
        else path;
      script = ''
        mkdir -p "$out/bin"
        if [ -n "$target" ]; then
          ln -s "$target" "$out/bin/$name"
        else
          printf %s "$text" >"$out/bin/$name"
          chmod +x "$out/bin/$name"
        fi
      '';
    }
    # The host's own, whichever that is: there is no version to hold against a declaration.
    // {version = null;};
in {
  __functor = _: name: package name {path = host.programs.${name} or null;};

  # A system that only nixpkgs has: it builds, so that the others can be had, and holds no program.
  missing = name:
    builders.build name {
      script = ''
        echo "The stand-in for nixpkgs has no $name: give a program with --system NAME=PATH, or use nixpkgs itself." >&2
        mkdir -p "$out/bin"
      '';
    }
    // {version = null;};
}
