import { choice, text, whole } from "./setting.ts";

/** Where Kubernetes is, for the processes that keep things there. */
export const clusterSettings = {
  provider: choice("provider", ["local", "kubernetes"], {
    fallback: "local",
    about: "Where functions, namespaces, secrets and logs are: with the broker and in directories, or in Kubernetes",
  }),
  kubernetesHost: text("kubernetes_host", {
    fallback: "kubernetes.default.svc",
    about: "Host of the API server under provider kubernetes; a pod's KUBERNETES_SERVICE_HOST",
  }),
  kubernetesPort: whole("kubernetes_port", {
    fallback: "443",
    min: 1,
    max: 65_535,
    about: "Port of the API server; a pod's KUBERNETES_SERVICE_PORT",
  }),
  serviceAccountDir: text("service_account_dir", {
    fallback: "/var/run/secrets/kubernetes.io/serviceaccount",
    about: "Directory with the token and the certificate authority for the API server",
  }),
};
