import { duration, flag, optionalText, text } from "../runtime/settings/setting.ts";
import { objectOf } from "./manifests/mapping-options.ts";
import { pemOf } from "./manifests/options/option-texts.ts";

const hidden = { show: () => "[secret]" };

/**
 * Options of a stack besides those of the platform: the cluster, and credentials that are given instead of generated.
 */
export const stackOptions = {
  kubeconfig: {
    ...optionalText("kubeconfig", {
      about: "Absolute path of the kubeconfig, or its content; that of kubectl when absent",
    }),
    ...hidden,
  },
  context: optionalText("context", { about: "Context of the kubeconfig; the current one when absent" }),
  installCrds: flag("installCrds", {
    fallback: "true",
    about: "Whether the custom resource definitions are installed; of several platforms in a cluster, only one does",
  }),
  forceConflicts: flag("forceConflicts", {
    fallback: "false",
    about:
      "Whether fields of the platform's objects that others set are taken over, counts of replicas too; otherwise such counts stay, and any other field stops pulumi up before it changes anything",
  }),
  allowPlainHttp: flag("allowPlainHttp", {
    fallback: "false",
    about: "Whether the gateway may be reached from outside without TLS; passwords can then be read in transit",
  }),
  adminUser: text("adminUser", {
    fallback: "admin",
    about: "Name of the administrator",
    rule: { test: (name) => /^[\w.@-]{1,64}$/.test(name), expected: "1 to 64 letters, digits and . _ @ -" },
  }),
  adminPassword: {
    ...optionalText("adminPassword", {
      about: "Password of the administrator; generated when absent",
      rule: { test: (word) => /^[\x21-\x7e]{12,256}$/.test(word), expected: "12 to 256 visible characters of ASCII" },
    }),
    ...hidden,
  },
  rotation: optionalText("rotation", {
    about:
      "Any word; when it changes, all passwords and keys are generated anew, and pods that read them are restarted; what keys have signed stays valid for a day",
    rule: { test: (word) => /^[\w.-]{1,63}$/.test(word), expected: "1 to 63 letters, digits and . _ -" },
  }),
  historyDatabaseAuthority: optionalText("historyDatabaseAuthority", {
    about:
      "Certificate of the authority that signed that of historyDatabase, PEM; the authorities that Node.js knows when absent",
    rule: pemOf("CERTIFICATE"),
  }),
  natsPasswords: objectOf("natsPasswords", "Passwords of the users of a broker that runs elsewhere, by process"),
} as const;

const second = 1_000;
const longestWait = { min: second, max: 3_600 * second };

/** How long `pulumi up` waits for what it creates or changes before it fails. */
export const timeoutOptions = {
  deployments: duration("deployments", {
    fallback: "3m",
    ...longestWait,
    about: "Longest that pulumi up waits for one Deployment or its Service; raise it for many replicas",
  }),
  broker: duration("broker", { fallback: "10m", ...longestWait, about: "The same for the servers of the broker" }),
  loadBalancer: duration("loadBalancer", {
    fallback: "10m",
    ...longestWait,
    about: "The same for the address of a load balancer or an Ingress",
  }),
} as const;

/** The broker's certificate, when it is given. */
export const natsTlsOptions = {
  certificate: optionalText("certificate", { about: "Certificate of the servers, PEM", rule: pemOf("CERTIFICATE") }),
  key: { ...optionalText("key", { about: "Its key, PEM", rule: pemOf("PRIVATE KEY") }), ...hidden },
  authority: optionalText("authority", {
    about: "Certificate of the authority that signed it, PEM; the only one needed for a broker elsewhere",
    rule: pemOf("CERTIFICATE"),
  }),
} as const;

/** Groups of options that only a stack has, by key. */
export const stackGroups = { natsTls: natsTlsOptions, timeouts: timeoutOptions } as const;
