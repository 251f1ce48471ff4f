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
    # The host's program, of any version: there is no version to compare with a declaration.
    // {version = null;};
in {
  __functor = _: name: package name {path = host.programs.${name} or null;};

  # A system that only nixpkgs has. It builds, so that the other systems can be built too, but contains no program.
  missing = name:
    builders.build name {
      script = ''
        echo "The stand-in for nixpkgs has no $name: give a program with --system NAME=PATH, or use nixpkgs itself." >&2
        mkdir -p "$out/bin"
      '';
    }
    // {version = null;};
}
