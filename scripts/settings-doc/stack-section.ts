import { stackKeys, type StackKey } from "../../infra/stack-keys.ts";
import { tuningKeys } from "../../infra/manifests/read-platform.ts";
import type { Setting } from "../../runtime/settings/setting.ts";
import { code, defaultOf, kindOf, table } from "./setting-cells.ts";

const introduction = `
## Stack

What a Pulumi stack says beside the settings of the processes above, below \`weir:\`; \`npm run render\` takes the same keys but those for Pulumi
alone. \`pulumi config set --path weir:gateway.replicas 2\` sets one of a group, \`--secret\` keeps a value encrypted. \`Pulumi.yaml\` describes
all keys.

`;

const rules = `
Together they keep these rules:

- \`adminPassword\`, the values of \`natsPasswords\`, \`natsTls.key\`, and \`kubeconfig\` when it is no path are encrypted in the stack:
  \`pulumi config set --secret\`.
- From outside the gateway is reached by TLS: \`ingress.host\` needs \`ingress.tlsSecret\` or \`ingress.clusterIssuer\`, and \`gateway.serviceType\`
  is \`ClusterIP\`. Where TLS ends before the gateway, \`publicUrl\` is \`https://…\`; then both are free, and \`httpRoute.host\` needs it. Or
  \`allowPlainHttp\` is true.
- \`natsTls\` has certificate, key and authority, or is not there and made; with \`nats.url\` it is the authority alone.
- \`natsPasswords\` has a password for each process that uses the broker of \`nats.url\`: \`gateway\`, \`autoscaler\`, \`queue-doctor\`,
  \`queue-worker\`, and \`queue-worker-<queue>\` for each further queue.
`;

/** The keys of a stack that are no settings of a process. */
export function stackSection(): string {
  const keys = stackKeys.filter(({ key }) => !tuningKeys.includes(key));
  return introduction + table(keys.flatMap(rowsOf), ["Stack", "Kind", "Default", "Meaning"]) + rules;
}

function rowsOf({ key, setting, group }: StackKey): string[][] {
  if (setting !== undefined) return [rowOf(key, setting)];
  return Object.values(group ?? {}).map((option) => rowOf(`${key}.${option.name}`, option));
}

function rowOf(path: string, setting: Setting<unknown>): string[] {
  return [code(`weir:${path}`), kindOf(setting), defaultOf(setting), setting.about];
}
