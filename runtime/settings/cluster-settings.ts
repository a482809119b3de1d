import { choice, text, whole } from "./setting.ts";

/** Where state is kept, and how the API server is reached under provider kubernetes. */
export const clusterSettings = {
  provider: choice("provider", ["local", "kubernetes"], {
    fallback: "local",
    about:
      "What keeps functions, namespaces, secrets and logs: local = the broker and directories, kubernetes = the cluster",
  }),
  kubernetesHost: text("kubernetes_host", {
    fallback: "kubernetes.default.svc",
    about: "Host of the API server under provider kubernetes; in a pod, the value of KUBERNETES_SERVICE_HOST",
  }),
  kubernetesPort: whole("kubernetes_port", {
    fallback: "443",
    min: 1,
    max: 65_535,
    about: "Port of the API server; in a pod, the value of KUBERNETES_SERVICE_PORT",
  }),
  serviceAccountDir: text("service_account_dir", {
    fallback: "/var/run/secrets/kubernetes.io/serviceaccount",
    about: "Directory with the token and the certificate authority for the API server",
  }),
};
