# The package set of the stand-in. with-stand-in writes host.json and copies surface.toml and
# requirements.lock beside this file.
{
  system,
  config ? {},
  overlays ? [],
}: let
  host = builtins.fromJSON (builtins.readFile ./host.json);
  surface = builtins.fromTOML (builtins.readFile ./surface.toml);

  builders = import ./builders.nix {inherit host system;};
  go = import ./go.nix {inherit builders host;};
  package = import ./package.nix {inherit builders host;};
  programs = import ./programs.nix {inherit package;};
  python = import ./python.nix {inherit builders host surface;};

  made = {
    modern =
      programs
      // {
        inherit (builders) mkShell runCommand writeShellApplication writeText;
        inherit (go) buildGoModule;
        inherit (import ./fetch.nix {inherit builders host;}) fetchPypi fetchurl;
        stdenv = {
          cc.cc = package "gcc" [];
          hostPlatform = {inherit system;};
        };
        python3 = python;
        python311 = python.withPackages (_: []);
        go = go.toolchain;
        maven = programs.maven // {override = {jdk_headless}: programs.maven;};
        quarto =
          programs.quarto
          // {
            override = {
              python3,
              rWrapper,
            }:
              programs.quarto;
          };
        testers.runNixOSTest = {
          name,
          nodes,
          testScript,
        }:
          builders.build name {
            inherit testScript;
            script = ''echo "$name: only nixpkgs has virtual machines." >&2; exit 1'';
          };
      };
    historic.influxdb = import ./influxdb.nix {inherit go;};
  };

  # The one list holds for both: what it lacks is refused here, what is missing here says so when it is used.
  unlisted = section: builtins.attrNames (builtins.removeAttrs made.${section} (builtins.attrNames surface.${section}));
  checked = section:
    if unlisted section != []
    then throw "the stand-in makes ${builtins.head (unlisted section)}, which surface.toml does not list under [${section}]."
    else
      builtins.mapAttrs
      (name: _: made.${section}.${name} or (package name []))
      surface.${section};
  final = builtins.foldl' (previous: overlay: previous // overlay final previous) (checked host.pin) overlays;
in
  if builtins.removeAttrs config ["allowUnfreePredicate" "permittedInsecurePackages"] == {}
  then final
  else throw "the stand-in takes only allowUnfreePredicate and permittedInsecurePackages of config."
