# InfluxDB as the historic nixpkgs has it, from its Go module. The vendorHash is that of nixpkgs.
{go}:
go.buildGoModule rec {
  pname = "influxdb";
  version = "1.8.10";
  src = go.fetchModule {
    module = "github.com/influxdata/influxdb";
    inherit version;
    hash = "sha256-pPc7LZwcLfyx5/zeg8y/U5a5hGTvc/lXso90AFDiJ5k=";
  };
  vendorHash = "sha256-jgAbEWXL1LYRN7ud9ij0Z1KBGHPZ0sRq78tsK92ob8k=";
  env.CGO_ENABLED = 0;
  subPackages = ["cmd/influxd"];
  ldflags = ["-s" "-w" "-X main.version=${version}"];
  doCheck = false;
}
