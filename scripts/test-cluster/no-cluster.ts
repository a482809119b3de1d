/** Why tests on a cluster cannot run here, with what to do about it. */
export class NoCluster extends Error {
  constructor(reason: string) {
    super(`Cannot run tests on a cluster: ${reason}\n${advice}`);
    this.name = "NoCluster";
  }
}

const advice = `
On Linux with Go 1.26 or newer one is built and started by this command: level "node" needs root, "--level api" does not.
Any other cluster does as well when it is named; the tests make namespaces "weir-test-…" and custom resource definitions in it:

    kind create cluster --name weir-test --kubeconfig weir-test.kubeconfig
    WEIR_TEST_CLUSTER=existing KUBECONFIG=$PWD/weir-test.kubeconfig npm run test:cluster

    k3d cluster create weir-test --kubeconfig-update-default=false
    k3d kubeconfig get weir-test > weir-test.kubeconfig
    WEIR_TEST_CLUSTER=existing KUBECONFIG=$PWD/weir-test.kubeconfig npm run test:cluster
`;
