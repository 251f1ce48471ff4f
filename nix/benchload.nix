# benchload, the load generator: one static program.
{
  pkgs,
  doCheck ? false,
}: let
  locked = builtins.fromTOML (builtins.readFile ./vendor-hash.toml);
  source = ../harness/benchload;
  project = (builtins.fromTOML (builtins.readFile ../harness/pyproject.toml)).project;
  stale =
    builtins.filter (file: builtins.hashFile "sha256" (source + "/${file}") != locked.${file})
    ["go.mod" "go.sum"];
in
  if stale != []
  then throw "nix/vendor-hash.toml was made for another harness/benchload/${builtins.head stale}: run nix/vendor-hash and commit what it writes."
  else
    pkgs.buildGoModule {
      pname = "benchload";
      inherit (project) version;
      src = source;
      inherit (locked) vendorHash;
      inherit doCheck;
      env.CGO_ENABLED = 0;
      ldflags = ["-s" "-w"];
      meta = {
        description = "Generators, loaders and query drivers of Benchbook";
        mainProgram = "benchload";
      };
    }
