import * as eks from "@pulumi/eks";
import { Function, WeirPlatform } from "weir/infra";

const cluster = new eks.Cluster("functions", {
  instanceType: "m6i.xlarge",
  desiredCapacity: 3,
  minSize: 3,
  maxSize: 6,
});

const platform = new WeirPlatform("weir", {
  edition: "pro",
  kubeconfig: cluster.kubeconfigJson,
  nats: { replicas: 3, storage: "20Gi", storageClass: "gp2" },
  gateway: { replicas: 2 },
  // Pods have addresses of the VPC, Services those that EKS chooses.
  clusterRanges: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"],
});

const checksum = new Function("checksum", {
  platform,
  image: "registry.example.com/weir-base:0.1.0",
  handler: "sha256sum",
});

export const { gatewayUrl, adminUser, adminPassword, portForward } = platform;
export const path = checksum.path;
