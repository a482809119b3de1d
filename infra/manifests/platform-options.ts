import { monitorUrls, optionalUrl, platformSettings } from "../../runtime/settings/platform-settings.ts";
import {
  choice,
  flag,
  list,
  optionalText,
  port,
  text,
  whole,
  type Setting,
  type Settings,
} from "../../runtime/settings/setting.ts";
import { textRule } from "../../runtime/settings/text-rules.ts";
import { natsImageName, weirImageName } from "../../runtime/api/version.ts";
import { historyOptions } from "./history/history-options.ts";
import { iamOptions } from "./iam/iam-options.ts";
import { annotationsOption, labelsOption } from "./mapping-options.ts";
import { partOption } from "./options/part-options.ts";
import { optionText, pemOf } from "./options/option-texts.ts";
import { sizeRule as size } from "./sizes.ts";
import { podCountOption } from "./replicas/replica-range.ts";
import { tolerations } from "./toleration-option.ts";

const { domain, objectName, image, cores, range, partRange, portNumber, address, balancerClass } = optionText;

/** Options of the whole platform. Their names are keys of a stack and of a settings file. */
export const generalOptions = {
  edition: platformSettings.edition,
  platformNamespace: { ...platformSettings.platformNamespace, name: "platformNamespace" },
  functionNamespace: { ...platformSettings.functionNamespace, name: "functionNamespace" },
  createNamespaces: flag("createNamespaces", {
    fallback: "true",
    about: "Whether the two namespaces are created; if false, they must exist already",
  }),
  clusterDomain: text("clusterDomain", {
    fallback: "cluster.local",
    about: "Domain of names in the cluster",
    rule: domain,
  }),
  clusterRanges: list("clusterRanges", {
    fallback: "",
    about: "Ranges of the cluster's pods and services, which callbacks and functions may not reach",
    rule: partRange,
  }),
  commonLabels: labelsOption("commonLabels", "Labels of all objects of the platform and its pods"),
  trustedAuthorities: optionalText("trustedAuthorities", {
    about: "Authorities that issuers of tokens and receivers of callbacks may have certificates of, too: PEM",
    rule: pemOf("CERTIFICATE"),
  }),
  publicUrl: { ...optionalUrl("publicUrl", { about: "Address of the gateway for clients outside" }) },
  ...historyOptions,
};

/** Default namespace of functions. */
export const defaultFunctionNamespace = platformSettings.functionNamespace.fallback ?? "functions";

/** Whether a leader-elected component has one or two pods. */
const pair = (about: string) => ({ replicas: choice("replicas", ["1", "2"], { fallback: "1", about }) });

/** The parts whose resources can be set. */
export const componentNames = [
  "nats",
  "gateway",
  "queueWorker",
  "queueDoctor",
  "autoscaler",
  "operator",
  "history",
] as const;

/** A part of the platform that runs in its own pods. */
export type Component = (typeof componentNames)[number];

const partNames: Readonly<Record<Component, string>> = {
  nats: "the broker",
  gateway: "the gateway",
  queueWorker: "queue-workers",
  queueDoctor: "the queue-doctor",
  autoscaler: "the autoscaler",
  operator: "the operator",
  history: "the history",
};

/** Options of one part each; a group is a mapping in the settings file. */
export const groupedOptions = {
  images: {
    weir: text("weir", { fallback: weirImageName, about: "Image of all processes", rule: image }),
    nats: text("nats", { fallback: natsImageName, about: "Image of the broker", rule: image }),
    pullPolicy: choice("pullPolicy", ["IfNotPresent", "Always", "Never"], {
      fallback: "IfNotPresent",
      about: "When nodes pull images",
    }),
    architecture: optionalText("architecture", {
      about: "Architecture of the nodes, if the images are for one only",
      rule: { test: (name: string) => ["amd64", "arm64"].includes(name), expected: "amd64 or arm64" },
    }),
    pullSecrets: list("pullSecrets", {
      fallback: "",
      about: "Secrets for pulling from the registry",
      rule: objectName,
    }),
  },
  nats: {
    replicas: choice("replicas", ["1", "3"], { fallback: "1", about: "Servers of the broker" }),
    storage: text("storage", { fallback: "10Gi", about: "Disk of each server", rule: size }),
    storageClass: optionalText("storageClass", { about: "Class of the disks", rule: objectName }),
    tls: flag("tls", { fallback: "true", about: "Whether the broker's connections are encrypted (secret nats-tls)" }),
    url: optionalText("url", {
      about: "Addresses of a broker that runs elsewhere, separated by commas; then none is created",
      rule: textRule.brokers,
    }),
    monitorUrl: monitorUrls("monitorUrl", { about: "Addresses of that broker's monitoring, one per server" }),
  },
  gateway: {
    replicas: podCountOption("replicas", {
      fallback: "1",
      max: 100,
      about:
        "Pods of the gateway; with min and max an autoscaler makes more or fewer, at 70 % of their reserved CPU or that of cpu",
    }),
    serviceType: choice("serviceType", ["ClusterIP", "NodePort", "LoadBalancer"], {
      fallback: "ClusterIP",
      about: "Type of the Service gateway",
    }),
    annotations: annotationsOption(
      "annotations",
      "Annotations of the Service for clients outside, for a load balancer",
    ),
    loadBalancerClass: optionalText("loadBalancerClass", {
      about: "Class of the load balancer, if not the cloud's default; it cannot be changed later",
      rule: balancerClass,
    }),
    loadBalancerSourceRanges: list("loadBalancerSourceRanges", {
      fallback: "",
      about: "Ranges of clients that the load balancer admits; all when absent",
      rule: range,
    }),
  },
  ingress: ingressOptions("Host name of the gateway outside; if set, an Ingress is created"),
  console: {
    ...ingressOptions(
      "Host name of the console outside, where people sign in with a browser; if set, an Ingress of its own is created",
    ),
    port: port("port", {
      fallback: "0",
      about:
        "Port of the console in the gateways' pods and of the Service gateway-console; 0 = none, or 8081 with host",
    }),
    origins: list("origins", {
      fallback: "",
      about: "Origins that browsers know the console by; when absent, https with host, else loopback only",
      rule: textRule.origins,
    }),
  },
  httpRoute: {
    host: optionalText("host", {
      about: "Host name of the gateway outside; if set, an HTTPRoute is created",
      rule: domain,
    }),
    gateway: optionalText("gateway", { about: "Gateway (gateway.networking.k8s.io) of the route", rule: objectName }),
    gatewayNamespace: optionalText("gatewayNamespace", {
      about: "Namespace of the Gateway; that of the platform when absent",
      rule: objectName,
    }),
    sectionName: optionalText("sectionName", {
      about: "Listener of the Gateway; all that match when absent",
      rule: objectName,
    }),
  },
  apiServer: {
    ports: list("ports", {
      fallback: "",
      about:
        "Ports on which API servers listen; when absent, pulumi up reads them from the cluster, and render allows 443 and 6443",
      rule: portNumber,
    }),
    serviceAddresses: list("serviceAddresses", {
      fallback: "",
      about:
        "Addresses of the Service kubernetes, which has port 443; when absent, pulumi up reads them, and render allows any",
      rule: address,
    }),
    ranges: list("ranges", {
      fallback: "",
      about: "Ranges that contain the API servers: processes may reach no others; any address when absent",
      rule: range,
    }),
  },
  queueDoctor: pair("Pods of the queue-doctor"),
  autoscaler: pair("Pods of the autoscaler"),
  operator: {
    ...pair("Pods of the operator"),
    functions: whole("functions", {
      fallback: "10000",
      min: 1,
      max: 1_000_000,
      about:
        "Largest expected number of functions, in the whole cluster if the edition has many namespaces; memory is derived from it",
    }),
    namespaces: whole("namespaces", {
      fallback: "1000",
      min: 1,
      max: 100_000,
      about: "Largest expected number of function namespaces, if the edition has many; memory is derived from it, too",
    }),
  },
  pods: {
    priorityClass: optionalText("priorityClass", {
      about: "Priority class of all pods of the platform",
      rule: objectName,
    }),
    nodeSelector: labelsOption("nodeSelector", "Labels of the nodes on which the platform's pods run"),
    tolerations: tolerations("tolerations", "Taints of nodes that the platform's pods tolerate"),
    annotations: annotationsOption("annotations", "Annotations of the pods"),
    labels: labelsOption("labels", "Labels of the pods, beside those of the platform"),
  },
  parts: eachPart((name) => partOption(name, partNames[name])),
  monitoring: {
    namespaceLabels: labelsOption("namespaceLabels", "Labels of the namespace from which metrics are scraped"),
    podLabels: labelsOption("podLabels", "Labels of the pods that scrape them"),
  },
  memory: amounts("Memory of each pod of", size),
  cpu: amounts("CPUs reserved for each pod of", cores),
  iam: iamOptions,
};

/** Options of an Ingress. */
function ingressOptions(aboutHost: string) {
  return {
    host: optionalText("host", { about: aboutHost, rule: domain }),
    className: optionalText("className", { about: "Class of the Ingress", rule: objectName }),
    tlsSecret: optionalText("tlsSecret", { about: "Secret with its certificate", rule: objectName }),
    clusterIssuer: optionalText("clusterIssuer", {
      about: "Issuer of cert-manager that issues the certificate",
      rule: objectName,
    }),
    annotations: annotationsOption("annotations", "Annotations of the Ingress"),
  };
}

function amounts(what: string, rule: typeof size): Readonly<Record<Component, Setting<string | undefined>>> {
  const of = (name: Component) =>
    optionalText(name, { about: `${what} ${partNames[name]}; derived when absent`, rule });
  return eachPart(of);
}

function eachPart<T>(of: (name: Component) => T): Readonly<Record<Component, T>> {
  return {
    nats: of("nats"),
    gateway: of("gateway"),
    queueWorker: of("queueWorker"),
    queueDoctor: of("queueDoctor"),
    autoscaler: of("autoscaler"),
    operator: of("operator"),
    history: of("history"),
  };
}

/** All tables by group, for code that iterates over them. */
export const optionTables: Readonly<Record<string, Settings>> = groupedOptions;
