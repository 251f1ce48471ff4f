# A system from its Go module, at the version in its TOML; nix/go-hash writes the hashes of go-systems.toml.
{
  goHashes,
  lib,
  pkgs,
}: name: one: let
  inherit (one) version;
  inherit (one.source.go) package ldflags program;
  locked = goHashes.${name};
  files =
    pkgs.runCommand "${name}-module" {
      nativeBuildInputs = [pkgs.go pkgs.cacert];
      impureEnvVars = lib.fetchers.proxyImpureEnvVars ++ ["GOPROXY" "GONOPROXY" "GONOSUMDB" "GOPRIVATE" "GOSUMDB"];
      outputHashMode = "recursive";
      outputHash = locked.source;
    } ''
      export HOME=$TMPDIR GOPATH=$TMPDIR/go GOTOOLCHAIN=local
      go mod download ${package}@v${version}
      cp -r "$GOPATH/pkg/mod/${package}@v${version}" "$out"
      chmod -R u+w "$GOPATH" "$out"
    '';
in
  if locked.version != version
  then throw "nix/go-systems.toml has ${locked.version} of ${name}, but systems/${name}.toml says ${version}: run nix/go-hash with the names of all systems there, and commit what it writes."
  else
    pkgs.buildGoModule {
      pname = name;
      inherit version;
      src = files;
      vendorHash = locked.vendor;
      subPackages = ["."];
      ldflags = [(builtins.replaceStrings ["{version}"] [version] ldflags)];
      env.CGO_ENABLED = 0;
      doCheck = false;
      meta.mainProgram = program;
    }
