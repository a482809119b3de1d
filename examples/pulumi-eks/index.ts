import * as aws from "@pulumi/aws";
import * as eks from "@pulumi/eks";
import * as pulumi from "@pulumi/pulumi";
import { Function, WeirPlatform } from "weir/infra";

const cluster = new eks.Cluster("functions", {
  instanceType: "m6i.xlarge",
  desiredCapacity: 3,
  minSize: 3,
  maxSize: 6,
  createOidcProvider: true,
});

// EKS brings no driver for volumes, and class gp2 needs one: without it the broker's claims stay pending.
const role = new aws.iam.Role("ebs-csi", {
  assumeRolePolicy: aws.iam.getPolicyDocumentOutput({
    statements: [
      {
        actions: ["sts:AssumeRoleWithWebIdentity"],
        principals: [{ type: "Federated", identifiers: [cluster.oidcProviderArn] }],
        conditions: [
          {
            test: "StringEquals",
            variable: pulumi.interpolate`${cluster.oidcIssuer}:sub`,
            values: ["system:serviceaccount:kube-system:ebs-csi-controller-sa"],
          },
        ],
      },
    ],
  }).json,
});
const policy = new aws.iam.RolePolicyAttachment("ebs-csi", {
  role,
  policyArn: "arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy",
});
const driver = new eks.Addon(
  "ebs-csi",
  { cluster, addonName: "aws-ebs-csi-driver", serviceAccountRoleArn: role.arn },
  { dependsOn: policy },
);

const platform = new WeirPlatform(
  "weir",
  {
    edition: "pro",
    kubeconfig: cluster.kubeconfigJson,
    nats: { replicas: 3, storage: "20Gi", storageClass: "gp2" },
    gateway: { replicas: 2 },
    // Pods have addresses of the VPC, Services those that EKS chooses.
    clusterRanges: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"],
  },
  { dependsOn: driver },
);

const checksum = new Function("checksum", {
  platform,
  image: "registry.example.com/weir-base:0.1.0",
  handler: "sha256sum",
});

export const { gatewayUrl, adminUser, adminPassword, portForward } = platform;
export const path = checksum.path;
