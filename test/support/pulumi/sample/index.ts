import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";
import * as tls from "@pulumi/tls";

const config = new pulumi.Config();
const colour = config.get("colour") ?? "red";
const cluster = new k8s.Provider("cluster", {
  kubeconfig: config.require("kubeconfig"),
  context: "weir",
  enableConfigMapMutable: config.getBoolean("mutable") ?? false,
});
const options = { provider: cluster };
const labels = { app: config.get("label") ?? "sample" };

const namespace = new k8s.core.v1.Namespace("place", { metadata: { name: config.require("namespace") } }, options);
const metadata = { namespace: namespace.metadata.name };
const password = new random.RandomPassword("password", { length: 40, special: false });
const key = new tls.PrivateKey("key", { algorithm: "ECDSA", ecdsaCurve: "P256" });
const certificate = new tls.SelfSignedCert("certificate", {
  privateKeyPem: key.privateKeyPem,
  allowedUses: ["digital_signature", "server_auth"],
  validityPeriodHours: 48,
  dnsNames: ["web.sample.svc"],
  subject: { commonName: "web" },
});
const secret = new k8s.core.v1.Secret(
  "login",
  { metadata, stringData: { password: password.result, certificate: certificate.certPem } },
  options,
);
const settings = new k8s.core.v1.ConfigMap("settings", { metadata, data: { colour } }, options);
const fixed = new k8s.core.v1.ConfigMap(
  "fixed",
  { metadata: { ...metadata, name: "fixed" }, data: { colour: config.get("fixed") ?? colour } },
  options,
);
const deployment = new k8s.apps.v1.Deployment(
  "web",
  {
    metadata: { ...metadata, name: "web" },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: "web",
              image: "example/web:1",
              resources: { requests: { cpu: config.get("cpu") ?? "0.1", memory: "64Mi" } },
              envFrom: [{ configMapRef: { name: settings.metadata.name } }],
              volumeMounts: [{ name: "login", mountPath: "/login" }],
            },
          ],
          volumes: [{ name: "login", secret: { secretName: secret.metadata.name } }],
        },
      },
    },
  },
  { ...options, ignoreChanges: ["spec.replicas"] },
);
if (config.getBoolean("hopeless") === true) {
  const annotations = { "pulumi.com/timeoutSeconds": "2" };
  const spec = { selector: { app: "nobody" }, ports: [{ port: 80 }] };
  void new k8s.core.v1.Service("hopeless", { metadata: { ...metadata, annotations, name: "hopeless" }, spec }, options);
}
const taken = config.get("taken");
if (taken !== undefined) {
  void new k8s.core.v1.ConfigMap("taken", { metadata: { ...metadata, name: taken } }, options);
}
const service = new k8s.core.v1.Service(
  "web",
  { metadata: { ...metadata, name: "web" }, spec: { selector: labels, ports: [{ port: 80 }] } },
  { ...options, dependsOn: [deployment] },
);

/** What the tests read. */
export const address = pulumi.interpolate`${service.metadata.name}.${service.metadata.namespace}`;
export const fixedName = fixed.metadata.name;
export const word = password.result;
export const authority = certificate.certPem;
/** Of an object that the program only reads. */
export const apiServer = k8s.discovery.v1.EndpointSlice.get("api-server", "default/kubernetes", options).ports.apply(
  (ports) => ports.map(({ name, port }) => `${name}:${port}`),
);
