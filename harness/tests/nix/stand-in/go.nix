# Go from the host, and nixpkgs' buildGoModule: the dependencies by their vendorHash, the build without network.
{
  builders,
  host,
}: let
  # Where the host's Go fetches modules from, and through which proxy, is the host's own matter.
  impureEnvVars = ["GOPROXY" "GONOPROXY" "GONOSUMDB" "GOPRIVATE" "GOSUMDB" "SSL_CERT_FILE" "http_proxy" "https_proxy" "no_proxy"];
  prepare = ''
    export HOME=$TMPDIR GOPATH=$TMPDIR/go GOCACHE=$TMPDIR/go-cache GOENV=off GOTOOLCHAIN=local GO111MODULE=on
  '';
in rec {
  toolchain = builders.build "go" {
    script = ''
      mkdir -p "$out/bin"
      ln -s ${host.programs.go} "$out/bin/go"
      ln -s ${host.programs.gofmt} "$out/bin/gofmt"
    '';
  };

  # The source of a module at a version, for what the stand-in itself builds.
  fetchModule = {
    module,
    version,
    hash,
  }:
    builders.build "${baseNameOf module}-${version}-source" {
      inherit impureEnvVars;
      nativeBuildInputs = [toolchain];
      outputHashMode = "recursive";
      outputHash = hash;
      script = ''
        ${prepare}
        go mod download ${module}@v${version}
        cp -r "$GOPATH/pkg/mod/${module}@v${version}" "$out"
        chmod -R u+w "$GOPATH" "$out"
      '';
    };

  buildGoModule = {
    pname,
    version,
    src,
    vendorHash,
    env ? {},
    ldflags ? [],
    subPackages ? ["..."],
    doCheck ? true,
    meta ? {},
  }: let
    goModules = builders.build "${pname}-${version}-go-modules" {
      inherit impureEnvVars src;
      nativeBuildInputs = [toolchain];
      outputHashMode = "recursive";
      outputHash = vendorHash;
      script = ''
        ${prepare}
        cp -r "$src" source
        chmod -R u+w source
        cd source
        go mod vendor
        cp -r vendor "$out"
        chmod -R u+w "$GOPATH"
      '';
    };
    checkPhase =
      if doCheck
      then "go test -vet=off -p 2 ./..."
      else "";
    package = builders.build "${pname}-${version}" (env
      // {
        inherit goModules src;
        ldflags = builtins.concatStringsSep " " (ldflags ++ ["-buildid="]);
        nativeBuildInputs = [toolchain];
        script = ''
          ${prepare}
          export GOPROXY=off GOSUMDB=off GOFLAGS="-mod=vendor -buildvcs=false"
          cp -r "$src" source
          chmod -R u+w source
          cd source
          cp -r "$goModules" vendor
          for package in ${toString subPackages}; do
            go install -p 2 -trimpath -ldflags "$ldflags" "./$package"
          done
          ${checkPhase}
          mkdir -p "$out"
          cp -r "$GOPATH/bin" "$out/bin"
        '';
      });
  in
    package // {inherit goModules meta pname version;};
}
