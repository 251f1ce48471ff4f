# The package set of the stand-in. with-stand-in writes host.json and copies surface.toml and
# requirements.lock beside this file.
{
  system,
  config ? {},
}: let
  host = builtins.fromJSON (builtins.readFile ./host.json);
  surface = builtins.fromTOML (builtins.readFile ./surface.toml);

  builders = import ./builders.nix {inherit host system;};
  go = import ./go.nix {inherit builders host;};
  program = import ./program.nix {inherit builders host;};

  made = {
    modern = {
      inherit (builders) mkShell runCommand writeShellApplication writeText;
      inherit (go) buildGoModule;
      # The source is not fetched here: a test compares its hash with that of the lock.
      fetchPypi = {
        pname,
        version,
        hash,
      }: {inherit pname version hash;};
      python3 = import ./python.nix {inherit builders host surface;};
      bashInteractive = program "bash";
      alejandra = program "alejandra";
      duckdb = program "duckdb";
      fio = program "fio";
      git = program "git";
      go = go.toolchain;
      go-tools = program "staticcheck";
      hyperfine = program "hyperfine";
      quarto = program "quarto";
      ruff = program "ruff";
      s3fs = program "s3fs";
      shellcheck = program "shellcheck";
      uv = program "uv";
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
      (name: _: made.${section}.${name} or (program.missing name))
      surface.${section};
in
  assert config == {};
    checked host.pin
