import type { Platform } from "../../infra/manifests/platform.ts";
import type { Cluster } from "./cluster.ts";
import { note, ok, problem, type Finding } from "./finding.ts";

interface IngressClasses {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  }[];
}

/** Whether somebody serves the Ingress, and its certificate comes from somewhere. */
export async function checkIngress(cluster: Cluster, { ingress, platformNamespace }: Platform): Promise<Finding[]> {
  const { host, className, clusterIssuer, tlsSecret } = ingress;
  if (host === undefined) return [note("no Ingress is wanted", "set weir:ingress.host for one")];
  const { items } = (await cluster.get<IngressClasses>("/apis/networking.k8s.io/v1/ingressclasses")) ?? { items: [] };
  const findings = [classOf(items, className)];
  if (clusterIssuer !== undefined) {
    const path = `/apis/cert-manager.io/v1/clusterissuers/${clusterIssuer}`;
    const todo = "install cert-manager and make the issuer, or set weir:ingress.tlsSecret";
    findings.push(
      (await cluster.get(path)) === undefined
        ? problem(`there is no ClusterIssuer "${clusterIssuer}"`, todo)
        : ok(`ClusterIssuer ${clusterIssuer} makes the certificate of ${host}`),
    );
  } else if (tlsSecret !== undefined) {
    const path = `/api/v1/namespaces/${platformNamespace}/secrets/${tlsSecret}`;
    findings.push(
      (await cluster.get(path)) === undefined
        ? problem(
            `there is no Secret "${tlsSecret}" in namespace "${platformNamespace}"`,
            `kubectl -n ${platformNamespace} create secret tls ${tlsSecret} --cert=… --key=…`,
          )
        : ok(`Secret ${tlsSecret} has the certificate of ${host}`),
    );
  }
  return findings;
}

function classOf(items: IngressClasses["items"], className: string | undefined): Finding {
  const names = items.map(({ metadata }) => metadata.name);
  const there = names.length === 0 ? "there is none: install an ingress controller" : `there are ${names.join(", ")}`;
  if (className !== undefined)
    return names.includes(className)
      ? ok(`ingress class ${className}`)
      : problem(`there is no ingress class "${className}"`, `set weir:ingress.className; ${there}`);
  const isDefault = "ingressclass.kubernetes.io/is-default-class";
  const found = items.find(({ metadata }) => metadata.annotations?.[isDefault] === "true");
  return found === undefined
    ? problem("no ingress class is the default one", `set weir:ingress.className; ${there}`)
    : ok(`ingress class ${found.metadata.name}, the default one`);
}
