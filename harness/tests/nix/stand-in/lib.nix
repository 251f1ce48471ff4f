# The functions of nixpkgs' lib that the flake uses, with the meaning that nixpkgs documents.
let
  listed = (builtins.fromTOML (builtins.readFile ./surface.toml)).lib;
  made = rec {
    inherit (builtins) concatStringsSep mapAttrs;
    fetchers.proxyImpureEnvVars = ["http_proxy" "https_proxy" "no_proxy"];
    filterAttrs = keep: set:
      builtins.removeAttrs set (builtins.filter (name: !keep name set.${name}) (builtins.attrNames set));
    genAttrs = names: value:
      builtins.listToAttrs (map (name: {
          inherit name;
          value = value name;
        })
        names);
    getName = package: package.pname or package.name;
    hasPrefix = prefix: text: builtins.substring 0 (builtins.stringLength prefix) text == prefix;
    hasSuffix = suffix: text: let
      start = builtins.stringLength text - builtins.stringLength suffix;
    in
      start >= 0 && builtins.substring start (-1) text == suffix;
    makeBinPath = packages: concatStringsSep ":" (map (one: "${one}/bin") packages);
    makeLibraryPath = packages: concatStringsSep ":" (map (one: "${one}/lib") packages);
    mapAttrsToList = convert: set: map (name: convert name set.${name}) (builtins.attrNames set);
    optionalString = wanted: text:
      if wanted
      then text
      else "";
    removeSuffix = suffix: text:
      if hasSuffix suffix text
      then builtins.substring 0 (builtins.stringLength text - builtins.stringLength suffix) text
      else text;
    unique = builtins.foldl' (seen: one:
      if builtins.elem one seen
      then seen
      else seen ++ [one]) [];
  };
in
  builtins.mapAttrs (name: _: made.${name} or (throw "the stand-in's lib has no ${name}: add it to stand-in/lib.nix.")) listed
