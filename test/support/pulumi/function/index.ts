import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";

import { Function } from "../../../../infra/exports.ts";

const config = new pulumi.Config();
const provider = new k8s.Provider("cluster", { kubeconfig: config.require("kubeconfig"), context: "weir" });
const hello = new Function(
  "hello",
  { namespace: config.require("namespace"), image: config.require("image") },
  { provider, customTimeouts: { create: "90s", update: "90s" } },
);

/** What comes after the function. */
export const { path } = hello;
