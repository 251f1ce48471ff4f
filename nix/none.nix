# A check by evaluation: it fails with all sentences, or builds an empty file.
{
  lib,
  pkgs,
}: name: sentences:
if sentences == []
then pkgs.writeText name "nothing disagrees\n"
else throw (lib.concatStringsSep " " sentences)
