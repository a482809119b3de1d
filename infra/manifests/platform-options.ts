import { grammarRule } from "../../runtime/api/grammar.ts";
import { monitorUrls, optionalUrl, platformSettings } from "../../runtime/settings/platform-settings.ts";
import {
  choice,
  flag,
  list,
  optionalText,
  text,
  whole,
  type Setting,
  type Settings,
} from "../../runtime/settings/setting.ts";
import { natsImageName, weirImageName } from "../../runtime/api/version.ts";

const label = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const domain = {
  test: (name: string) => name.length <= 253 && name.split(".").every((part) => label.test(part)),
  expected: "a name such as cluster.local",
};
const objectName = { test: domain.test, expected: `a name: ${grammarRule.secret}` };
const image = { test: (name: string) => /^[a-z0-9][^\s]{0,499}$/.test(name), expected: "an image such as weir:1.0" };
const size = {
  test: (amount: string) => /^[1-9]\d{0,5}[MGT]i$/.test(amount),
  expected: "a size such as 512Mi or 10Gi",
};
const cores = { test: (amount: string) => /^[1-9]\d{0,5}m?$/.test(amount), expected: "processors such as 2 or 500m" };
const range = {
  test: (given: string) => /^[0-9a-fA-F.:]+\/\d{1,3}$/.test(given),
  expected: 'ranges such as "10.0.0.0/8"',
};

const balancerClass = {
  test: (name: string) => /^(?:[a-z0-9.-]{1,253}\/)?[A-Za-z0-9][\w.-]{0,62}$/.test(name),
  expected: "a class such as service.k8s.aws/nlb",
};

/** What is said of the whole platform. Names of settings here are keys of a stack and of a settings file. */
export const generalOptions = {
  edition: platformSettings.edition,
  platformNamespace: { ...platformSettings.platformNamespace, name: "platformNamespace" },
  functionNamespace: { ...platformSettings.functionNamespace, name: "functionNamespace" },
  createNamespaces: flag("createNamespaces", {
    fallback: "true",
    about: "Whether the two namespaces are made; without, they are there already",
  }),
  clusterDomain: text("clusterDomain", {
    fallback: "cluster.local",
    about: "Domain of names in the cluster",
    rule: domain,
  }),
  clusterRanges: list("clusterRanges", {
    fallback: "",
    about: "Ranges of the cluster's pods and services, which callbacks and functions may not reach",
    rule: range,
  }),
  publicUrl: { ...optionalUrl("publicUrl", { about: "Address of the gateway for clients outside" }) },
};

/** Namespace of functions unless somebody says otherwise. */
export const defaultFunctionNamespace = platformSettings.functionNamespace.fallback ?? "functions";

/** Whether a component has one or two pods, of which one acts. */
const pair = (about: string) => ({ replicas: choice("replicas", ["1", "2"], { fallback: "1", about }) });

/** What is said of one part each: the group is a mapping in the settings file. */
export const groupedOptions = {
  images: {
    weir: text("weir", { fallback: weirImageName, about: "Image of all processes", rule: image }),
    nats: text("nats", { fallback: natsImageName, about: "Image of the broker", rule: image }),
    pullPolicy: choice("pullPolicy", ["IfNotPresent", "Always", "Never"], {
      fallback: "IfNotPresent",
      about: "When nodes fetch images",
    }),
    architecture: optionalText("architecture", {
      about: "Architecture of the nodes, where there are images for one alone",
      rule: { test: (name: string) => ["amd64", "arm64"].includes(name), expected: "amd64 or arm64" },
    }),
    pullSecrets: list("pullSecrets", { fallback: "", about: "Secrets of the registry", rule: objectName }),
  },
  nats: {
    replicas: choice("replicas", ["1", "3"], { fallback: "1", about: "Servers of the broker" }),
    storage: text("storage", { fallback: "10Gi", about: "Disk of each server", rule: size }),
    storageClass: optionalText("storageClass", { about: "Class of the disks", rule: objectName }),
    tls: flag("tls", { fallback: "true", about: "Whether the broker's connections are encrypted (secret nats-tls)" }),
    url: optionalText("url", {
      about: "Addresses of a broker that runs elsewhere; none is made then",
      rule: platformUrlRule(),
    }),
    monitorUrl: monitorUrls("monitorUrl", { about: "Addresses of that broker's monitoring, one per server" }),
  },
  gateway: {
    replicas: whole("replicas", { fallback: "1", min: 1, max: 100, about: "Pods of the gateway" }),
    serviceType: choice("serviceType", ["ClusterIP", "NodePort", "LoadBalancer"], {
      fallback: "ClusterIP",
      about: "Type of the Service gateway",
    }),
    annotations: objectOf(
      "annotations",
      "Annotations of the Service that is reached from outside, for a load balancer",
    ),
    loadBalancerClass: optionalText("loadBalancerClass", {
      about: "Who makes the load balancer, where it is not the cloud's own; it cannot be changed later",
      rule: balancerClass,
    }),
    loadBalancerSourceRanges: list("loadBalancerSourceRanges", {
      fallback: "",
      about: "Ranges of clients that the load balancer lets in; all when absent",
      rule: range,
    }),
  },
  ingress: {
    host: optionalText("host", { about: "Name of the gateway outside; with it an Ingress is made", rule: domain }),
    className: optionalText("className", { about: "Class of the Ingress", rule: objectName }),
    tlsSecret: optionalText("tlsSecret", { about: "Secret with its certificate", rule: objectName }),
    clusterIssuer: optionalText("clusterIssuer", {
      about: "Issuer of cert-manager that makes the certificate",
      rule: objectName,
    }),
    annotations: objectOf("annotations", "Annotations of the Ingress"),
  },
  httpRoute: {
    host: optionalText("host", { about: "Name of the gateway outside; with it an HTTPRoute is made", rule: domain }),
    gateway: optionalText("gateway", { about: "Gateway (gateway.networking.k8s.io) of the route", rule: objectName }),
    gatewayNamespace: optionalText("gatewayNamespace", {
      about: "Namespace of the Gateway; that of the platform when absent",
      rule: objectName,
    }),
    sectionName: optionalText("sectionName", {
      about: "Listener of the Gateway; all that fit when absent",
      rule: objectName,
    }),
  },
  queueDoctor: pair("Pods of the queue-doctor"),
  autoscaler: pair("Pods of the autoscaler"),
  operator: pair("Pods of the operator"),
  pods: {
    priorityClass: optionalText("priorityClass", {
      about: "Priority class of all pods of the platform",
      rule: objectName,
    }),
    nodeSelector: objectOf("nodeSelector", "Labels of the nodes on which they run"),
    tolerations: tolerations("tolerations", "Taints of nodes that do not keep them away"),
    annotations: objectOf("annotations", "Annotations of the pods"),
  },
  monitoring: {
    namespaceLabels: objectOf("namespaceLabels", "Labels of the namespace from which metrics are fetched"),
    podLabels: objectOf("podLabels", "Labels of the pods that fetch them"),
  },
  memory: amounts("memory of each pod", size),
  cpu: amounts("processors each pod asks for", cores),
};

/** The parts whose resources can be set. */
export const components = ["nats", "gateway", "queueWorker", "queueDoctor", "autoscaler", "operator"] as const;

/** A part of the platform that runs in pods of its own. */
export type Component = (typeof components)[number];

function amounts(what: string, rule: typeof size): Readonly<Record<Component, Setting<string | undefined>>> {
  const of = (name: Component) => optionalText(name, { about: `Other ${what} than is derived`, rule });
  return {
    nats: of("nats"),
    gateway: of("gateway"),
    queueWorker: of("queueWorker"),
    queueDoctor: of("queueDoctor"),
    autoscaler: of("autoscaler"),
    operator: of("operator"),
  };
}

/** A mapping of words to texts, in a file only. */
export function objectOf(name: string, about: string): Setting<Readonly<Record<string, string>>> {
  return {
    name,
    about,
    kind: "mapping",
    fallback: "",
    parse: () => ({ expected: "a mapping of texts" }),
    parseFile: (content) => {
      const entries = typeof content === "object" && content !== null ? Object.entries(content) : [];
      const fine = (content ?? undefined) === undefined || (typeof content === "object" && !Array.isArray(content));
      return fine && entries.every((entry): entry is [string, string] => typeof entry[1] === "string")
        ? { value: Object.fromEntries(entries) }
        : { problems: [`${name}: expected a mapping of texts`] };
    },
  };
}

/** What a pod tolerates, as Kubernetes writes it. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: "Exists" | "Equal";
  readonly value?: string;
  readonly effect?: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  readonly tolerationSeconds?: number;
}

const tolerationFields: Readonly<Record<keyof Toleration, (value: unknown) => boolean>> = {
  key: (value) => typeof value === "string",
  operator: (value) => value === "Exists" || value === "Equal",
  value: (value) => typeof value === "string",
  effect: (value) => value === "NoSchedule" || value === "PreferNoSchedule" || value === "NoExecute",
  tolerationSeconds: (value) => Number.isInteger(value),
};

function isToleration(item: unknown): item is Toleration {
  const checks = new Map(Object.entries(tolerationFields));
  return (
    typeof item === "object" &&
    item !== null &&
    !Array.isArray(item) &&
    Object.entries(item).every(([field, value]) => checks.get(field)?.(value) ?? false)
  );
}

/** Tolerations as a pod has them, in a file only. */
function tolerations(name: string, about: string): Setting<readonly Toleration[]> {
  const expected = "a list of tolerations, each of key, operator, value, effect and tolerationSeconds";
  return {
    name,
    about,
    kind: "list of tolerations",
    fallback: "",
    parse: () => ({ expected }),
    parseFile: (content) => {
      const items: unknown = content ?? [];
      return Array.isArray(items) && items.every(isToleration)
        ? { value: items }
        : { problems: [`${name}: expected ${expected}`] };
    },
  };
}

function platformUrlRule() {
  return {
    test: (url: string) => /^(?:nats|tls):\/\/[^\s/@]+$/.test(url),
    expected: 'addresses such as "nats://broker:4222" without user',
  };
}

/** All tables by group, for those who walk them. */
export const optionTables: Readonly<Record<string, Settings>> = groupedOptions;
