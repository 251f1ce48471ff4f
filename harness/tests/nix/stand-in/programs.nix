# The packages of programs.txt.
{package}: let
  words = line: builtins.filter (word: builtins.isString word && word != "") (builtins.split " " line);
  lines = builtins.filter builtins.isString (builtins.split "\n" (builtins.readFile ./programs.txt));
  packages = builtins.filter (line: line != [] && builtins.head line != "#") (map words lines);
in
  builtins.listToAttrs (map (line: rec {
      name = builtins.head line;
      value = package name (builtins.tail line);
    })
    packages)
