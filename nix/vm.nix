# Tests in a virtual machine with NixOS and nothing else: they show that an app brings what it starts. A virtual machine
# is for function, never for timing.
{
  experiments,
  pkgs,
}: let
  test = name: experiment: arguments:
    pkgs.testers.runNixOSTest {
      inherit name;
      nodes.machine.virtualisation = {
        cores = 2;
        memorySize = 4096;
        diskSize = 8192;
      };
      testScript = ''
        machine.wait_for_unit("multi-user.target")
        machine.succeed(
            "env -i PATH=/var/empty HOME=/root ${experiment}/bin/${experiment.name}"
            " --profile smoke --results /tmp/results --yes ${arguments}"
        )
        machine.succeed("test -s /tmp/results/runs/*/report.html")
        machine.fail("grep -L '\"status\": \"ok\"' /tmp/results/runs/*/trials/*/trial.json | grep .")
      '';
    };
in {
  quickstart = test "benchbook-quickstart" experiments.quickstart "";

  # PostgreSQL as another user than root, on the machine's disk and on an ext4 that the harness makes and mounts.
  server =
    test "benchbook-server" experiments.seaweedfs-vs-postgres
    "--set system=postgresql-15,filesystem --set storage=local,loop-ext4";
}
