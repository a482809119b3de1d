import * as gcp from "@pulumi/gcp";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Function, WeirPlatform } from "weir/infra";

const location = new pulumi.Config().require("location");
const cluster = new gcp.container.Cluster("functions", { location, initialNodeCount: 3, deletionProtection: false });

/** As `gcloud container clusters get-credentials` writes it. */
const kubeconfig = pulumi.jsonStringify({
  apiVersion: "v1",
  kind: "Config",
  clusters: [
    {
      name: "functions",
      cluster: {
        server: pulumi.interpolate`https://${cluster.endpoint}`,
        "certificate-authority-data": cluster.masterAuth.clusterCaCertificate,
      },
    },
  ],
  users: [
    {
      name: "functions",
      user: {
        exec: {
          apiVersion: "client.authentication.k8s.io/v1beta1",
          command: "gke-gcloud-auth-plugin",
          interactiveMode: "Never",
          provideClusterInfo: true,
        },
      },
    },
  ],
  contexts: [{ name: "functions", context: { cluster: "functions", user: "functions" } }],
  "current-context": "functions",
});

// A provider that the rest of the program uses, too.
const provider = new kubernetes.Provider("functions", {
  kubeconfig,
  enableConfigMapMutable: true,
  enableSecretMutable: true,
});

const platform = new WeirPlatform(
  "weir",
  {
    edition: "pro",
    nats: { replicas: 3, storage: "20Gi", storageClass: "standard-rwo" },
    gateway: { replicas: 2 },
    clusterRanges: ["10.0.0.0/8"],
  },
  { provider, protect: true },
);

const checksum = new Function("checksum", {
  platform,
  image: "registry.example.com/weir-base:0.1.0",
  handler: "sha256sum",
});

export const { gatewayUrl, adminUser, adminPassword, portForward } = platform;
export const path = checksum.path;
