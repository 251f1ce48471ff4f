# Files of registries by digest, fetched by the host's tools with the host's settings.
{
  builders,
  host,
}: let
  fetched = name: sha256: script:
    builders.build name {
      inherit script;
      impureEnvVars = ["PIP_INDEX_URL" "UV_INDEX_URL" "UV_DEFAULT_INDEX" "SSL_CERT_FILE" "http_proxy" "https_proxy" "no_proxy"];
      outputHashMode = "flat";
      outputHashAlgo = "sha256";
      outputHash = sha256;
    };
in {
  # mirror://maven/GROUP/ARTIFACT/VERSION/FILE; nothing else is fetched by its address.
  fetchurl = {
    url,
    sha256,
  }: let
    part = builtins.elemAt (builtins.match "mirror://maven/(.+)/([^/]+)/([^/]+)/([^/]+)" url);
    group = builtins.replaceStrings ["/"] ["."] (part 0);
    stem = "${part 1}-${part 2}";
    rest = builtins.substring (builtins.stringLength stem) (-1) (part 3);
    kind = builtins.elemAt (builtins.match "(-(.+))?[.]([a-z]+)" rest);
    classifier =
      if kind 1 == null
      then ""
      else ":${kind 1}";
  in
    fetched (part 3) sha256 ''
      ${host.programs.mvn} --batch-mode --quiet org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
        -Dartifact=${group}:${part 1}:${part 2}:${kind 2}${classifier} -DoutputDirectory="$TMPDIR/files"
      mv "$TMPDIR"/files/* "$out"
    '';

  # The source of a package of the harness is not fetched here: a test compares its hash with that of the lock.
  fetchPypi = {
    pname,
    version,
    hash ? null,
    format ? "setuptools",
    dist ? "py2.py3",
    python ? "py2.py3",
    abi ? "none",
    platform ? "any",
    sha256 ? null,
  }: let
    file = "${pname}-${version}-${python}-${abi}-${platform}.whl";
  in
    if format != "wheel"
    then {inherit pname version hash;}
    else
      fetched file sha256 ''
        ${host.programs.python} - ${pname} ${version} ${file} ${host.programs.uv} "$out" <<'PYTHON'
        ${builtins.readFile ./wheel.py}
        PYTHON
      '';
}
