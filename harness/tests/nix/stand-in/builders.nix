# Derivations built by the host's shell and programs, in the shape of nixpkgs' trivial builders. Each takes the
# arguments that nixpkgs documents and that the flake uses; any other argument is an error.
{
  host,
  system,
}: let
  # Build `script` by the host's bash; the other attributes are its environment.
  build = name: {
    script,
    nativeBuildInputs ? [],
    ...
  } @ arguments:
    derivation ((builtins.removeAttrs arguments ["nativeBuildInputs"])
      // {
        inherit name system;
        builder = host.bash;
        args = ["-euo" "pipefail" "-c" "eval \"$script\""];
        PATH = searchPath nativeBuildInputs;
        outputs = ["out"]; # `nix develop` reads it
        HOME = "/dev/null"; # a home that nothing can be written to, as in the sandbox
      })
    // {inherit name;};
  searchPath = packages: builtins.concatStringsSep ":" (map (one: "${one}/bin") packages ++ [host.path]);
in {
  inherit build;

  runCommand = name: {
    nativeBuildInputs ? [],
    impureEnvVars ? [],
    outputHashMode ? null,
    outputHash ? null,
  } @ arguments: script:
    build name (arguments
    // {
      # The machine has the interpreters where the first lines of scripts say.
      script = "patchShebangs() { :; }\n" + script;
    });

  writeText = name: text:
    build name {
      inherit text;
      script = ''printf %s "$text" >"$out"'';
    };

  writeShellApplication = {
    name,
    text,
    runtimeInputs ? [],
  }:
    build name {
      content = ''
        #!${host.bash}
        set -o errexit
        set -o nounset
        set -o pipefail

        ${
          if runtimeInputs == []
          then ""
          else ''export PATH="${builtins.concatStringsSep ":" (map (one: "${one}/bin") runtimeInputs)}:$PATH"''
        }

        ${text}
      '';
      script = ''
        mkdir -p "$out/bin"
        printf %s "$content" >"$out/bin/$name"
        chmod +x "$out/bin/$name"
        ${host.bash} -n "$out/bin/$name"
        if command -v shellcheck >/dev/null; then shellcheck "$out/bin/$name"; fi
      '';
    }
    // {meta.mainProgram = name;};

  # `nix develop` wants a builder that is called bash. Besides PATH, this shell sets the other arguments.
  mkShell = {packages, ...} @ arguments:
    build "nix-shell" (builtins.removeAttrs arguments ["packages"]
      // {
        nativeBuildInputs = packages;
        script = ''echo "This is a shell to enter with nix develop." >"$out"'';
      });
}
