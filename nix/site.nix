# The reports website, rendered by Quarto from the results that are committed under reports/data.
{
  command,
  pkgs,
  project,
}: let
  data = "${project}/reports/data";
  files =
    if builtins.pathExists data
    then builtins.attrNames (builtins.readDir data)
    else [];
in
  pkgs.runCommand "site" {nativeBuildInputs = [command];} (
    if files == []
    then ''
      echo "There is no site yet: reports/data holds no published results. Publish a run with: bench export --publish" >&2
      exit 1
    ''
    else ''
      export HOME=$TMPDIR BENCHBOOK_PROJECT=${project}
      benchbook site --output "$out"
    ''
  )
